package cli

import (
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/internal/census"
	"github.com/berthdev/berth/internal/explain"
	"github.com/berthdev/berth/internal/kubeclient"
)

// read gets the facts, from files or from a cluster, completes the question, and writes the dump.
func (f *whyFlags) read(cmd *cobra.Command, q *question) (*explain.Cluster, error) {
	c := census.New(f.namespaceOfFiles())
	if len(f.files) > 0 {
		defer debug.SetGCPercent(debug.SetGCPercent(400)) // what is read is mostly kept: collecting finds little
		if err := f.readFiles(cmd, c); err != nil {
			return nil, err
		}
		q.subject.Namespace = f.target.Namespace
	} else if err := f.readCluster(cmd, c, q); err != nil {
		return nil, err
	}
	for _, notice := range c.Notices() {
		fmt.Fprintln(cmd.ErrOrStderr(), "berth: "+notice)
	}
	if f.dump != "" {
		if err := writeDump(f.dump, c); err != nil {
			return nil, err
		}
	}
	if q.kind == "" && !f.pending && !f.summary {
		return nil, nil // the dump was all
	}
	answers := explain.New(*c.Facts())
	return answers, f.settle(answers, q)
}

// settle finds the namespace that the question left open.
func (f *whyFlags) settle(c *explain.Cluster, q *question) error {
	if q.subject.Name == "" {
		return nil
	}
	found, several := c.Find(q.subject)
	if len(several) > 1 {
		return &codeError{exitInvalid, fmt.Errorf("there is a %s in the namespaces %s: choose one with -n", strings.ToLower(q.subject.Kind)+"/"+q.subject.Name, someOf(several, 8))}
	}
	q.subject = found
	return nil
}

// namespaceOfFiles is where objects are that do not say so.
func (f *whyFlags) namespaceOfFiles() string {
	if f.target.Namespace != "" {
		return f.target.Namespace
	}
	return "default"
}

func writeDump(name string, c *census.Census) error {
	file, err := os.OpenFile(name, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return &codeError{exitInvalid, err}
	}
	err = c.Dump(file)
	return errors.Join(err, file.Close())
}

// scopes say where each resource is read.
type scope int

const (
	everywhere scope = iota // in all namespaces, or of none
	ofOwners                // in the subject's namespace, unless it is about several
)

// whatToRead is in the order in which it is asked for.
var whatToRead = []struct {
	resource string
	scope    scope
	optional bool // there may be none such in a cluster at all
}{
	{"pods", everywhere, false}, {"nodes", everywhere, false}, {"namespaces", everywhere, false},
	{"poddisruptionbudgets", ofOwners, false},
	{"replicasets", ofOwners, false}, {"deployments", ofOwners, false}, {"statefulsets", ofOwners, false}, {"daemonsets", ofOwners, false},
	{"jobs", ofOwners, false}, {"cronjobs", ofOwners, false}, {"replicationcontrollers", ofOwners, false},
	{"persistentvolumeclaims", everywhere, false}, {"persistentvolumes", everywhere, false}, {"storageclasses", everywhere, false},
	{"csinodes", everywhere, false}, {"csidrivers", everywhere, false}, {"volumeattachments", everywhere, false}, {"csistoragecapacities", everywhere, false},
	{"runtimeclasses", everywhere, false},
	{"nodepools", everywhere, true}, {"nodeclaims", everywhere, true}, {"autoscaler status", everywhere, true},
}

// readCluster asks for everything that placement depends on. What may not be read is noted; only if the
// subject's own pods may not be, there is no answer.
func (f *whyFlags) readCluster(cmd *cobra.Command, c *census.Census, q *question) error {
	client, err := kubeclient.New(kubeclient.Options{Kubeconfig: f.target.Kubeconfig, Context: f.target.Context, Namespace: f.target.Namespace, Version: buildVersion()})
	if err != nil {
		return &codeError{exitNoService, err}
	}
	reader, err := client.Reader()
	if err != nil {
		return &codeError{exitNoService, err}
	}
	if q.subject.Kind != "Node" {
		q.subject.Namespace = client.Namespace()
	}
	wide := f.all || f.summary || q.kind == "nodes" || q.subject.Kind == "Node" || q.kind == "" && !f.pending
	r := &clusterReader{ctx: cmd.Context(), reader: reader, census: c, namespace: client.Namespace()}
	c.Cluster()
	answers := make([]chan listedObjects, len(whatToRead))
	slots := make(chan struct{}, 4)
	for i, w := range whatToRead {
		answers[i] = make(chan listedObjects, 1)
		namespace := ""
		if w.scope == ofOwners && !wide {
			namespace = r.namespace
		}
		go func() {
			slots <- struct{}{}
			answers[i] <- r.list(w.resource, namespace)
			<-slots
		}()
	}
	var failed []error
	for i, w := range whatToRead {
		failed = append(failed, r.take(w.resource, w.optional, <-answers[i]))
	}
	if err := errors.Join(failed...); err != nil {
		i := slices.IndexFunc(failed, func(err error) bool { return err != nil })
		return &codeError{exitNoService, failed[i]}
	}
	return nil
}
