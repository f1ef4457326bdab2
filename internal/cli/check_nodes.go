package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v4"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berthdev/berth/internal/finding"
)

// mostNodesBytes bounds a file of nodes: kubectl prints about 10 KB for each.
const mostNodesBytes = 256 << 20

// inventory is the nodes that profiles are held against.
type inventory struct {
	there []corev1.Node
	empty []corev1.Node // of each pool that is scaled to zero, a node as it would be, with the pool's name
}

// readNodes reads a file of nodes in either of its forms.
func (c *checker) readNodes(in *inputs, name string) (finding.List, error) {
	c.progress.say("reading %s", name)
	text, err := readLarge(in.cmd.InOrStdin(), name)
	if err != nil {
		return finding.List{}, &codeError{exitInvalid, err}
	}
	var findings finding.List
	if printedByKubectl(text) {
		c.nodes.there, findings = printedNodes(name, text)
	} else {
		in.sources[name] = string(text)
		c.nodes, findings = pools(name, text)
	}
	return findings, nil
}

func readLarge(stdin io.Reader, name string) ([]byte, error) {
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		stdin = f
	}
	text, err := io.ReadAll(io.LimitReader(stdin, mostNodesBytes+1))
	if err == nil && len(text) > mostNodesBytes {
		err = fmt.Errorf("%s has more than %d MiB, which are the most", name, mostNodesBytes>>20)
	}
	return text, err
}

var (
	yamlObject = regexp.MustCompile(`(?m)^apiVersion:`)
	jsonObject = regexp.MustCompile(`"apiVersion"\s*:`)
)

// printedByKubectl tells the two forms apart: what kubectl prints has an apiVersion.
func printedByKubectl(text []byte) bool {
	if isJSON(text) {
		return jsonObject.Match(text)
	}
	return yamlObject.Match(text)
}

func isJSON(text []byte) bool { return bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")) }

// printedNode is what is read of a node, or of a list of nodes, as kubectl prints it. The rest of it says nothing
// about placement. Strings take any scalar: kubectl writes for readers of YAML 1.1, which see numbers in
// other places, and in a node everything here is a string.
type printedNode struct {
	APIVersion string        `json:"apiVersion" yaml:"apiVersion"`
	Kind       string        `json:"kind" yaml:"kind"`
	Items      []printedNode `json:"items" yaml:"items"`
	Metadata   struct {
		Name   string            `json:"name" yaml:"name"`
		Labels map[string]string `json:"labels" yaml:"labels"`
	} `json:"metadata" yaml:"metadata"`
	Spec struct {
		Unschedulable bool `json:"unschedulable" yaml:"unschedulable"`
		Taints        []struct {
			Key    string `json:"key" yaml:"key"`
			Value  string `json:"value" yaml:"value"`
			Effect string `json:"effect" yaml:"effect"`
		} `json:"taints" yaml:"taints"`
	} `json:"spec" yaml:"spec"`
	Status struct {
		Capacity    map[string]string `json:"capacity" yaml:"capacity"`
		Allocatable map[string]string `json:"allocatable" yaml:"allocatable"`
		Conditions  []struct {
			Type    string `json:"type" yaml:"type"`
			Status  string `json:"status" yaml:"status"`
			Reason  string `json:"reason" yaml:"reason"`
			Message string `json:"message" yaml:"message"`
		} `json:"conditions" yaml:"conditions"`
	} `json:"status" yaml:"status"`
}

const asKubectl = `write the file with "kubectl get nodes -o yaml"`

// printedNodes reads what kubectl prints.
func printedNodes(file string, text []byte) ([]corev1.Node, finding.List) {
	fault := func(code finding.Code, path, format string, args ...any) finding.Finding {
		return finding.Finding{Code: code, Severity: finding.Error, File: file, Path: path, Message: fmt.Sprintf(format, args...), Fix: asKubectl}
	}
	var l printedNode
	if err := unmarshal(text, &l); err != nil {
		return nil, finding.Of(fault(finding.YAMLInvalid, "", "the file can't be read: %s", oneLine(err)))
	}
	items := l.Items
	switch {
	case l.APIVersion != "v1":
		return nil, finding.Of(fault(finding.ValueUnknown, "apiVersion", "apiVersion is %q, and nodes have v1", l.APIVersion))
	case l.Kind == "Node":
		items = []printedNode{l}
	case l.Kind != "List" && l.Kind != "NodeList":
		return nil, finding.Of(fault(finding.ValueUnknown, "kind", "kind is %q, and must be List, NodeList or Node", l.Kind))
	}
	var nodes []corev1.Node
	var findings []finding.Finding
	seen := map[string]bool{}
	for i, item := range items {
		path := fmt.Sprintf("items[%d]", i)
		name := item.Metadata.Name
		switch {
		case item.Kind != "Node" && !(item.Kind == "" && l.Kind == "NodeList"):
			findings = append(findings, fault(finding.ValueUnknown, path+".kind", "%s is of kind %q, and only nodes are read", path, item.Kind))
			continue
		case name == "":
			findings = append(findings, fault(finding.KeyMissing, path+".metadata.name", "%s has no name", path))
			continue
		case seen[name]:
			findings = append(findings, fault(finding.NameTwice, path+".metadata.name", "the node %s is there twice", name))
			continue
		}
		seen[name] = true
		n, err := item.node()
		if err != nil {
			findings = append(findings, fault(finding.QuantityInvalid, path+".status", "node %s: %v", name, err))
			continue
		}
		nodes = append(nodes, n)
	}
	return nodes, finding.Of(findings...)
}

func unmarshal(text []byte, l *printedNode) error {
	if !isJSON(text) {
		return yaml.Unmarshal(text, l)
	}
	err := json.Unmarshal(text, l)
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		return fmt.Errorf("line %d: %w", 1+bytes.Count(text[:syntax.Offset], []byte("\n")), err)
	}
	return err
}

func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }

// node is the node as Kubernetes has it.
func (l *printedNode) node() (corev1.Node, error) {
	n := corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: l.Metadata.Name, Labels: l.Metadata.Labels}}
	n.Spec.Unschedulable = l.Spec.Unschedulable
	for _, t := range l.Spec.Taints {
		n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: t.Key, Value: t.Value, Effect: corev1.TaintEffect(t.Effect)})
	}
	for _, c := range l.Status.Conditions {
		n.Status.Conditions = append(n.Status.Conditions, corev1.NodeCondition{Type: corev1.NodeConditionType(c.Type),
			Status: corev1.ConditionStatus(c.Status), Reason: c.Reason, Message: c.Message})
	}
	allocatable := l.Status.Allocatable
	if allocatable == nil {
		allocatable = l.Status.Capacity // as the API server has it
	}
	n.Status.Allocatable = corev1.ResourceList{}
	for name, text := range allocatable {
		q, err := quantity(text)
		if err != nil {
			return n, fmt.Errorf("%s is no quantity: %q", name, text)
		}
		n.Status.Allocatable[corev1.ResourceName(name)] = q
	}
	return n, nil
}

// manyDigits is what ParseQuantity would write out.
var manyDigits = regexp.MustCompile(`[eE][-+]?0*[1-9][0-9]{2,}$`)

func quantity(text string) (resource.Quantity, error) {
	if len(text) > 64 || manyDigits.MatchString(text) {
		return resource.Quantity{}, resource.ErrFormatWrong
	}
	return resource.ParseQuantity(text)
}
