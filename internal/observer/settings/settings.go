// Package settings is the observer's configuration file: strict, with every mistake at its place.
package settings

import (
	"encoding/json"
	"reflect"
	"time"

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

// JSONSchema is the JSON Schema of the file, for editors.
func JSONSchema() ([]byte, error) {
	data, err := json.MarshalIndent(source.Schema(reflect.TypeFor[File](), "berth-observer configuration"), "", "  ")
	return append(data, '\n'), err
}
