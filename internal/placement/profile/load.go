package profile

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/berthdev/berth/internal/expression"
	"github.com/berthdev/berth/internal/finding"
	"github.com/berthdev/berth/internal/ident"
	"github.com/berthdev/berth/internal/placement"
	"github.com/berthdev/berth/internal/source"
)

// Load reads an operator file. The File is nil if one of the findings is an error.
func Load(file string, text []byte) (*File, finding.List) {
	root, findings := source.Parse(file, text)
	if root == nil {
		return nil, findings
	}
	doc := unwritten()
	if root.Field("steps") != nil && root.Field("baseline") == nil {
		findings.Add(root.Fault(finding.OtherFile, "", "give the operator file with --operator, and this one as FILE", "this is a pipeline, and an operator file is wanted"))
		return nil, findings
	}
	findings.Join(source.Decode(root, &doc))
	l := loader{root: root, file: Empty()}
	l.file.Name, l.file.Revision = file, revision(text)
	l.document(&doc)
	findings.Add(l.findings...)
	if findings.HasErrors() {
		return nil, findings
	}
	return l.file, findings
}

func revision(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// loader makes a File of a Document. The two have the same order, so that an index is good for both, and
// for the nodes of the text.
type loader struct {
	root     *source.Node
	file     *File
	compiler expression.Compiler
	unsound  bool          // the baseline's k8s has errors, and is not all there
	locked   []writtenPath // of file.Baseline.Locked, in its order
	paths    int           // that were read
	guesses  int           // what was meant by unknown names, so far
	findings []finding.Finding
}

func (l *loader) add(findings ...finding.Finding) { l.findings = append(l.findings, findings...) }

// document checks all that decoding can't. What could not be decoded is zero here, and was reported.
func (l *loader) document(doc *Document) {
	if n := l.root.Field("version"); n != nil && n.Kind == source.Int && doc.Version != 1 {
		l.add(n.Fault(finding.ValueUnknown, "version", "write version: 1", "version is %s, and this Berth reads version 1 only", n.Text))
	}
	if doc.Conflicts != "" {
		l.file.Conflicts = placement.Conflicts(doc.Conflicts)
	}
	l.baseline(&doc.Baseline)
	l.profiles(doc.Profiles)
	l.file.Limits = doc.Limits
	l.literal(doc.Limits, "resource_limits")
	l.environments(doc.Environments)
	l.pools(doc.Pools)
	l.running(doc)
	l.compose()
}

func (l *loader) pools(entries []poolEntry) {
	nodes := l.root.Field("pools")
	if l.tooMany(nodes, "pools", len(entries), MostPools) {
		return
	}
	l.names(nodes, "pools")
	for i, e := range entries {
		l.file.Pools = append(l.file.Pools, Pool(e))
		if n := nodes.Item(i).Field("slots"); n != nil && n.Kind == source.Int && e.Slots < 1 && !n.Ambiguous() {
			path := source.At("pools", i, nodes.Item(i)) + ".slots"
			l.add(n.Fault(finding.NumberOutOfRange, path, "write 1 or more, or leave the pool out",
				"%s is %s: no step that names the pool could ever start", path, n.Text))
		}
	}
}

// names checks the names of a list of things that have one.
func (l *loader) names(list *source.Node, path string) {
	if list == nil {
		return
	}
	first := map[string]*source.Node{}
	for i, item := range list.Items {
		n := item.Field("name")
		if n == nil || n.Kind != source.String {
			continue
		}
		at := source.At(path, i, item) + ".name"
		if err := ident.Label(n.Text, mostName); err != nil {
			l.add(n.Fault(finding.NameInvalid, at, "write a DNS label, such as arm64 or on-demand", "the name %q %v", n.Text, err))
			continue
		}
		if other := first[n.Text]; other != nil {
			l.add(n.Fault(finding.NameTwice, at, "give one of the two another name", "the name %q is taken: line %d has it too", n.Text, other.Line))
			continue
		}
		first[n.Text] = n
	}
}
