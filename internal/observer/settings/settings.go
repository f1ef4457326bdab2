// Package settings is the observer's configuration file: strict, with every mistake at its place.
package settings

import (
	"encoding/json"
	"reflect"
	"regexp"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/validate/content"

	"github.com/berthdev/berth/internal/finding"
	"github.com/berthdev/berth/internal/observer/reduce"
	"github.com/berthdev/berth/internal/source"
)

// File is the configuration. The zero File, but for its Version, is what the observer does without one.
type File struct {
	Version    int        `yaml:"version,required" doc:"version of this file's format: 1"`
	Namespaces Namespaces `yaml:"namespaces" doc:"which namespaces may be told of; read anew when the file changes"`
	NodeLabels []string   `yaml:"node_labels" doc:"labels of nodes that are told beside those that placements name; read anew when the file changes"`
	Watch      Watch      `yaml:"watch" doc:"what is watched"`
	Bounds     Bounds     `yaml:"bounds" doc:"what is too large to be told"`
	Interval   Interval   `yaml:"interval" doc:"how often payloads are written"`
	Spool      Spool      `yaml:"spool" doc:"the folder that payloads are written to"`
	Push       Push       `yaml:"push" doc:"where payloads are posted to, from the spool"`
	Metrics    Metrics    `yaml:"metrics" doc:"Prometheus metrics and health"`
}

// Namespaces are patterns of names, in which * stands for any characters. Deny wins.
type Namespaces struct {
	Allow []string `yaml:"allow" doc:"patterns of namespaces; none: all"`
	Deny  []string `yaml:"deny" doc:"patterns of namespaces; they win"`
}

// Watch says what is watched.
type Watch struct {
	Namespaces []string `yaml:"namespaces" doc:"names of namespaces, with rights in each of them; none: the whole cluster"`
}

// Bounds are those that can be set.
type Bounds struct {
	StringBytes int `yaml:"string_bytes" doc:"bytes of a string for which Kubernetes allows no more (128): 63 to 1024"`
}

// Interval says how often structural payloads are written. Coverage is written every Min.
type Interval struct {
	Min source.Duration `yaml:"min" doc:"between two payloads of a kind, if something changes (1m)"`
	Max source.Duration `yaml:"max" doc:"between two payloads of a kind, if nothing does (15m)"`
}

// Spool is a folder of payloads.
type Spool struct {
	Dir   string          `yaml:"dir" doc:"folder; it is made if need be"`
	Age   source.Duration `yaml:"age" doc:"after which a payload is removed (24h)"`
	Bytes int             `yaml:"bytes" doc:"of all payloads together, the oldest go first (268435456)"`
	Count int             `yaml:"count" doc:"of payloads, the oldest go first (16)"`
}

// Push is a receiver of payloads.
type Push struct {
	URL       string `yaml:"url" doc:"to which each new payload is posted, gzipped"`
	TokenFile string `yaml:"token_file" doc:"file with a bearer token; read for each request"`
}

// Metrics is the observer's HTTP server.
type Metrics struct {
	Listen    string `yaml:"listen" doc:"address of /metrics, /healthz and /readyz, such as :9090; none: no server"`
	Workloads int    `yaml:"workloads" doc:"how many workloads have metrics of their own (2000)"`
}

// Defaults of what a file leaves open.
const (
	DefaultMin       = time.Minute
	DefaultMax       = 15 * time.Minute
	DefaultAge       = 24 * time.Hour
	DefaultBytes     = 256 << 20
	DefaultCount     = 16
	DefaultWorkloads = 2000
)

// Default is the configuration without a file.
func Default() *File {
	return &File{
		Version: 1, Bounds: Bounds{reduce.DefaultStringBytes}, Interval: Interval{source.Duration(DefaultMin), source.Duration(DefaultMax)},
		Spool: Spool{Age: source.Duration(DefaultAge), Bytes: DefaultBytes, Count: DefaultCount}, Metrics: Metrics{Workloads: DefaultWorkloads},
	}
}

// Load reads a configuration. The File is nil if one of the findings is an error.
func Load(file string, text []byte) (*File, finding.List) {
	root, findings := source.Parse(file, text)
	if root == nil {
		return nil, findings
	}
	f := Default()
	findings.Join(source.Decode(root, f))
	c := checker{root: root}
	c.check(f)
	findings.Add(c.findings...)
	if findings.HasErrors() {
		return nil, findings
	}
	return f, findings
}

// Filter says which namespaces may be told of.
func (f *File) Filter() reduce.Filter {
	return reduce.Filter{Allow: f.Namespaces.Allow, Deny: f.Namespaces.Deny}
}

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

// JSONSchema is the JSON Schema of the file, for editors.
func JSONSchema() ([]byte, error) {
	data, err := json.MarshalIndent(source.Schema(reflect.TypeFor[File](), "berth-observer configuration"), "", "  ")
	return append(data, '\n'), err
}
