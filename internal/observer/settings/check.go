package settings

import (
	"regexp"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/validate/content"

	"github.com/berthdev/berth/internal/finding"
	"github.com/berthdev/berth/internal/source"
)

type checker struct {
	root     *source.Node
	findings []finding.Finding
}

var (
	pattern = regexp.MustCompile(`^[a-z0-9*-]+$`)
	dnsName = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]*[a-z0-9])?$`)
)

// check looks at what decoding can't. What could not be decoded has its default here, and was reported.
func (c *checker) check(f *File) {
	if n := c.at("version"); n != nil && n.Kind == source.Int && f.Version != 1 {
		c.fault(n, finding.ValueUnknown, "version", "write version: 1", "version is %s, and this observer reads version 1 only", n.Text)
	}
	c.each("namespaces.allow", f.Namespaces.Allow, "a namespace's name, in which * stands for any characters", pattern.MatchString, "namespaces", "allow")
	c.each("namespaces.deny", f.Namespaces.Deny, "a namespace's name, in which * stands for any characters", pattern.MatchString, "namespaces", "deny")
	c.each("watch.namespaces", f.Watch.Namespaces, "a namespace's name", dnsName.MatchString, "watch", "namespaces")
	c.each("node_labels", f.NodeLabels, "a label's key", func(s string) bool { return len(content.IsLabelKey(s)) == 0 }, "node_labels")
	for i, n := range f.Watch.Namespaces {
		if slices.Contains(f.Watch.Namespaces[:i], n) {
			c.fault(c.at("watch", "namespaces").Items[i], finding.NameTwice, "watch.namespaces", "remove it", "%s is there twice", n)
		}
	}
	c.within("bounds.string_bytes", f.Bounds.StringBytes, 63, 1024, "bounds", "string_bytes")
	c.within("spool.bytes", f.Spool.Bytes, 1<<20, 1<<40, "spool", "bytes")
	c.within("spool.count", f.Spool.Count, 3, 1000, "spool", "count")
	c.within("metrics.workloads", f.Metrics.Workloads, 0, 100_000, "metrics", "workloads")
	if time.Duration(f.Interval.Min) < time.Second {
		c.fault(c.at("interval", "min"), finding.ValueInvalid, "interval.min", "write 1s or more", "interval.min is less than a second")
	}
	if f.Interval.Max < f.Interval.Min {
		c.fault(c.either(c.at("interval", "max"), c.at("interval", "min")), finding.ValueInvalid, "interval.max", "", "interval.max is less than interval.min (%s)", f.Interval.Min)
	}
	if f.Push.TokenFile != "" && f.Push.URL == "" {
		c.fault(c.at("push", "token_file"), finding.NoEffect, "push.token_file", "name the receiver with push.url", "push.token_file has no effect: nothing is pushed")
	}
	if f.Push.URL != "" && f.Spool.Dir == "" {
		c.fault(c.at("push", "url"), finding.KeyMissing, "spool.dir", "name a folder with spool.dir", "push posts what is in the spool, and there is none")
	}
}

func (c *checker) at(keys ...string) *source.Node {
	n := c.root
	for _, k := range keys {
		if n == nil {
			return nil
		}
		n = n.Field(k)
	}
	return n
}

func (c *checker) either(a, b *source.Node) *source.Node {
	if a != nil {
		return a
	}
	return b
}

func (c *checker) fault(n *source.Node, code finding.Code, path, fix, format string, args ...any) {
	c.findings = append(c.findings, n.Found(code, finding.Error, path, fix, format, args...))
}

func (c *checker) each(path string, all []string, wanted string, ok func(string) bool, keys ...string) {
	n := c.at(keys...)
	for i, s := range all {
		if s == "" || !ok(s) {
			c.fault(n.Items[i], finding.ValueInvalid, source.At(path, i, n.Items[i]), "", "%q is not %s", s, wanted)
		}
	}
}

func (c *checker) within(path string, v, least, most int, keys ...string) {
	if v < least || v > most {
		c.fault(c.at(keys...), finding.NumberOutOfRange, path, "", "%s is %d, and must be from %d to %d", path, v, least, most)
	}
}
