package manifest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/berthdev/berth/internal/finding"
)

// Objects is what files hold.
type Objects struct {
	Pods     []*corev1.Pod
	Nodes    []*corev1.Node
	Metadata []*metav1.PartialObjectMetadata // with its kind
	Skipped  map[string]int                  // objects of other kinds
	Findings finding.List
}

// metadataKinds are those of which the metadata is read, with their API groups.
var metadataKinds = map[string]string{"Namespace": "", "ReplicaSet": "apps", "Deployment": "apps", "StatefulSet": "apps",
	"DaemonSet": "apps", "Job": "batch", "CronJob": "batch"}

// Read adds the objects of a file. What can't be read is a finding.
func (o *Objects) Read(file string, r io.Reader) error {
	documents := yaml.NewYAMLReader(bufio.NewReaderSize(r, 1<<16))
	for line := 1; ; {
		text, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		d := document{o, file, text, line}
		line += bytes.Count(text, []byte("\n")) + 1 // and the separator
		data, err := toJSON(text)
		if err != nil {
			d.fault(finding.YAMLInvalid, "the document is neither YAML nor JSON")
			continue
		}
		d.value(data, "")
	}
}

// toJSON takes what begins with a brace and is no JSON for YAML, in which braces are maps.
func toJSON(text []byte) ([]byte, error) {
	if json.Valid(text) {
		return text, nil
	}
	return yaml.ToJSON(append([]byte("#\n"), text...))
}

// document is one of a file's.
type document struct {
	*Objects
	file string
	text []byte
	line int // of its first line
}

// header is what tells what an object is.
type header struct {
	APIVersion string            `json:"apiVersion"`
	Kind       string            `json:"kind"`
	Items      []json.RawMessage `json:"items"`
	Metadata   struct {
		Name string `json:"name"`
	} `json:"metadata"`
}

// value reads an object or a list of them. kind is what the list says of its items, if they say nothing.
func (d document) value(data []byte, kind string) {
	var h header
	if err := json.Unmarshal(data, &h); err != nil {
		d.fault(finding.WrongType, "the document is no Kubernetes object")
		return
	}
	if bytes.Equal(bytes.TrimSpace(data), []byte("null")) {
		return // nothing, or comments, between two separators
	}
	if h.Kind == "" {
		h.Kind = kind
	}
	if of, isList := strings.CutSuffix(h.Kind, "List"); isList {
		for _, item := range h.Items {
			d.value(item, of)
		}
		return
	}
	group, _, _ := strings.Cut(h.APIVersion, "/")
	if !strings.Contains(h.APIVersion, "/") {
		group = ""
	}
	wanted, isOwner := metadataKinds[h.Kind]
	switch {
	case h.Kind == "":
		d.fault(finding.KeyMissing, "the document has no kind")
	case h.Kind == "Pod" && group == "":
		pod := &corev1.Pod{}
		if d.decode(data, h, pod) {
			if pod.Namespace == "" {
				pod.Namespace = metav1.NamespaceDefault
			}
			d.Pods = append(d.Pods, pod)
		}
	case h.Kind == "Node" && group == "":
		node := &corev1.Node{}
		if d.decode(data, h, node) {
			d.Nodes = append(d.Nodes, node)
		}
	case isOwner && (group == wanted || h.APIVersion == ""):
		m := &metav1.PartialObjectMetadata{}
		if err := json.Unmarshal(data, m); err != nil {
			d.fault(finding.WrongType, "the metadata of %s can't be read", h)
			return
		}
		m.Kind = h.Kind
		if m.Namespace == "" && h.Kind != "Namespace" {
			m.Namespace = metav1.NamespaceDefault
		}
		d.Metadata = append(d.Metadata, m)
	default:
		if d.Skipped == nil {
			d.Skipped = map[string]int{}
		}
		d.Skipped[h.Kind]++
	}
}

func (h header) String() string { return fmt.Sprintf("%s %s", h.Kind, h.Metadata.Name) }
