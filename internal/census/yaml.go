package census

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/berthdev/berth/internal/finding"
)

// YAML reads documents: manifests, and what kubectl prints with -o yaml. What is wrong with one does not keep
// the others from being read. A key that the API server would ignore is a warning.
func (c *Census) YAML(file string, r io.Reader) finding.List {
	loader, err := yaml.NewLoader(r, yaml.WithAllDocuments())
	if err != nil {
		panic(err) // the options are constant
	}
	y := &documents{Census: c, file: file}
	for {
		var doc yaml.Node
		err := loader.Load(&doc)
		if errors.Is(err, io.EOF) {
			return finding.Of(y.findings...)
		}
		if err != nil {
			y.broken(err)
			return finding.Of(y.findings...)
		}
		if len(doc.Content) == 1 {
			y.object(doc.Content[0])
		}
	}
}

type documents struct {
	*Census
	file     string
	findings []finding.Finding
}

func (y *documents) fault(code finding.Code, at *yaml.Node, format string, args ...any) {
	y.findings = append(y.findings, finding.Finding{Code: code, Severity: finding.Error, File: y.file, Line: at.Line, Column: at.Column,
		Message: fmt.Sprintf(format, args...), Fix: "write an object of Kubernetes, as kubectl apply takes it"})
}

func (y *documents) broken(err error) {
	f := finding.Finding{Code: finding.YAMLInvalid, Severity: finding.Error, File: y.file, Message: "not YAML: " + oneLine(err)}
	var load *yaml.LoadError
	if errors.As(err, &load) {
		f.Line, f.Column, f.Message = load.Mark.Line, load.Mark.Column, "not YAML: "+load.Message
	}
	y.findings = append(y.findings, f)
}

// object reads an object, or those of a list.
func (y *documents) object(n *yaml.Node) {
	if n.Kind == yaml.ScalarNode && n.Tag == "!!null" {
		return // an empty document
	}
	if n.Kind != yaml.MappingNode {
		y.fault(finding.WrongType, n, "an object of Kubernetes is a map, and this is none")
		return
	}
	if items := child(n, "items"); items != nil && items.Kind == yaml.SequenceNode && strings.HasSuffix(scalar(n, "kind"), "List") {
		for _, item := range items.Content {
			y.object(item)
		}
		return
	}
	apiVersion, name := scalar(n, "apiVersion"), scalar(n, "kind")
	if apiVersion == "" || name == "" {
		y.fault(finding.KeyMissing, n, "an object of Kubernetes has apiVersion and kind, and this has not")
		return
	}
	if kindOf(apiVersion, name) == nil {
		y.Ignored(name)
		return
	}
	var tree map[string]any
	if err := n.Decode(&tree); err != nil {
		y.fault(finding.YAMLInvalid, n, "%s can't be read: %s", name, oneLine(err))
		return
	}
	tree, _ = plain(tree).(map[string]any)
	object, ignored, err := decodeTree(tree)
	if err != nil {
		y.fault(finding.WrongType, n, "%s is none to Kubernetes: %s", name, oneLine(err))
		return
	}
	for _, path := range ignored {
		y.ignoredKey(n, path)
	}
	y.Add(object)
}

// ignoredKey says of a key that the API server would ignore it, or kubectl refuse it. Keys of other
// letters' case are the ones that are hardest to see.
func (y *documents) ignoredKey(n *yaml.Node, path string) {
	key := at(n, path)
	f := finding.Finding{Code: finding.UnknownKey, Severity: finding.Warning, File: y.file, Path: path,
		Message: fmt.Sprintf("the API server ignores the key %s: there is no such field, and so it is left out here too", path), Fix: "leave it out, or write the field that is meant"}
	if key != nil {
		f.Line, f.Column = key.Line, key.Column
		if field := fieldLike(path, key.Value); field != "" {
			f.Fix = "did you mean " + field + "?"
		}
	}
	y.findings = append(y.findings, f)
}
