package profile

import (
	"net/url"
	"path"
	"slices"
	"time"

	"github.com/berthdev/berth/internal/finding"
	"github.com/berthdev/berth/internal/ident"
	"github.com/berthdev/berth/internal/source"
)

// ActiveLimits bounds how much is active at once, of all runs together. Zero is no bound.
type ActiveLimits struct {
	Runs  int
	Steps int
}

// Kubernetes is how steps are carried out as pods.
type Kubernetes struct {
	Configured      bool   // executor.kubernetes is written, with or without keys
	Namespace       string // of the pods; empty: that of the kubeconfig's context
	Keep            Keep
	NodeLostTimeout time.Duration // how long a node may be silent; above 0
	ForceDeleteLost bool          // pods of lost attempts are deleted without proof that they are gone
}

// Keep is how long a pod stays after its attempt has ended.
type Keep struct{ Succeeded, Failed time.Duration }

// Logs is where the logs of attempts go.
type Logs struct {
	Archive string // a URL, or none; empty: a folder beside the state
	Follow  bool   // each attempt from its start, and not only while someone reads it
}

// NoArchive is the archive that keeps nothing.
const NoArchive = "none"

// longest is far above what is meant by any duration.
const longest = source.Duration(365 * 24 * time.Hour)

// running reads what governs how runs are carried out.
func (l *loader) running(doc *Document) {
	limits := l.root.Field("limits")
	l.atLeastOne(limits.Field("active_runs"), "limits.active_runs", doc.Active.Runs)
	l.atLeastOne(limits.Field("active_steps"), "limits.active_steps", doc.Active.Steps)
	l.file.ActiveLimits = ActiveLimits(doc.Active)
	l.kubernetes(&doc.Executor.Kubernetes)
	l.archive(doc.Logs.Archive)
	l.file.Logs = Logs{Archive: doc.Logs.Archive, Follow: doc.Logs.Follow == followAlways}
}

func (l *loader) atLeastOne(n *source.Node, at string, v int) {
	if n != nil && n.Kind == source.Int && !n.Ambiguous() && v < 1 {
		l.add(n.Fault(finding.NumberOutOfRange, at, "write 1 or more, or leave it out to have no bound", "%s is %s: nothing could ever start", at, n.Text))
	}
}

func (l *loader) kubernetes(k *kubernetesSection) {
	const at = "executor.kubernetes"
	written := l.root.Field("executor").Field("kubernetes")
	if n := written.Field("namespace"); n != nil && n.Kind == source.String {
		if err := ident.Label(n.Text, mostName); err != nil {
			l.add(n.Fault(finding.NameInvalid, at+".namespace", "write the name of a namespace, such as ci", "the name %q %v", n.Text, err))
		}
	}
	for _, d := range []struct {
		n  *source.Node
		at string
		v  source.Duration
	}{
		{written.Field("keep").Field("succeeded"), at + ".keep.succeeded", k.Keep.Succeeded},
		{written.Field("keep").Field("failed"), at + ".keep.failed", k.Keep.Failed},
		{written.Field("node_lost_timeout"), at + ".node_lost_timeout", k.NodeLostTimeout},
	} {
		if d.n != nil && d.v > longest {
			l.add(d.n.Fault(finding.NumberOutOfRange, d.at, "write "+longest.String()+" or less", "%s is longer than a year", d.at))
		}
	}
	if n := written.Field("node_lost_timeout"); n != nil && n.Kind == source.String && k.NodeLostTimeout == 0 {
		l.add(n.Fault(finding.NumberOutOfRange, at+".node_lost_timeout", "write 10m, or leave it out", "%s.node_lost_timeout is 0: every step would be lost at once", at))
	}
	if k.PodSecurity != "" {
		l.file.PodSecurity = k.PodSecurity
	}
	l.file.Kubernetes = Kubernetes{Configured: written != nil, Namespace: k.Namespace,
		Keep:            Keep{Succeeded: time.Duration(k.Keep.Succeeded), Failed: time.Duration(k.Keep.Failed)},
		NodeLostTimeout: time.Duration(k.NodeLostTimeout), ForceDeleteLost: k.ForceDeleteLost}
}

// buckets are schemes of object stores that logs could be kept in, and that this Berth does not have.
var buckets = []string{"s3", "gs", "azblob"}

// archive checks that logs can be kept there. That the folder can be written to is for the start to find out.
func (l *loader) archive(text string) {
	const at, fix = "logs.archive", "write file:///FOLDER, or none"
	n := l.root.Field("logs").Field("archive")
	if n == nil || n.Kind != source.String || text == NoArchive {
		return
	}
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Scheme == "":
		l.add(n.Fault(finding.ValueInvalid, at, archiveFix(text, fix), "%s is %q, and must be a URL or none", at, text))
	case slices.Contains(buckets, u.Scheme):
		l.add(n.Fault(finding.ValueUnknown, at, fix, "%s is %q, and this Berth keeps logs in folders only", at, text))
	case u.Scheme != "file":
		l.add(n.Fault(finding.ValueUnknown, at, fix, "%s has the scheme %q, and file is the only one", at, u.Scheme))
	case u.Host != "" || u.User != nil || !path.IsAbs(u.Path) || path.Clean(u.Path) == "/":
		l.add(n.Fault(finding.ValueInvalid, at, "write three slashes and the whole path: file:///FOLDER", "%s is %q, which names no folder", at, text))
	case u.RawQuery != "" || u.Fragment != "":
		l.add(n.Fault(finding.ValueInvalid, at, "end it with the folder", "%s is %q, and takes a folder only", at, text))
	}
}

func archiveFix(text, otherwise string) string {
	if path.IsAbs(text) && path.Clean(text) != "/" {
		return "write file://" + path.Clean(text)
	}
	return finding.DidYouMean(text, []string{NoArchive}, otherwise)
}
