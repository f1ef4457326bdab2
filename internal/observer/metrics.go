package observer

import (
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	v1 "github.com/berthdev/berth/api/observer/v1"
	"github.com/berthdev/berth/internal/observer/reduce"
)

// metrics shows the latest view. Names and labels follow kube-state-metrics. Every label set is bounded: there
// are series of so many workloads and no more, and topology keys are those of topologyKeys.
type metrics struct {
	most int // workloads

	mu        sync.Mutex
	coverage  *v1.Coverage
	workloads []reduce.Workload
	left      int                  // workloads that have no series
	written   map[string]time.Time // by kind
}

var (
	workloadLabels = []string{"namespace", "workload_kind", "workload_name"}

	placementInfo = prometheus.NewDesc("berth_workload_placement_info", "A variant of a workload's placement; the value is 1.", append(workloadLabels, "variant"), nil)
	placementPods = prometheus.NewDesc("berth_workload_placement_pods", "Pods with that variant of placement.", append(workloadLabels, "variant"), nil)
	constraint    = prometheus.NewDesc("berth_workload_constraint", "A constraint of a workload's placement; the value is the number of pods under it.", append(workloadLabels, "kind", "topology_key", "hard"), nil)

	info       = prometheus.NewDesc("berth_observer_build_info", "The observer's version; the value is 1.", []string{"version"}, nil)
	pods       = prometheus.NewDesc("berth_observer_pods", "Pods that are seen, excluded ones included.", nil, nil)
	excluded   = prometheus.NewDesc("berth_observer_pods_excluded", "Pods that are in no record, by why.", []string{"reason"}, nil)
	records    = prometheus.NewDesc("berth_observer_records", "Records of workload_metadata.", nil, nil)
	variants   = prometheus.NewDesc("berth_observer_variants", "Distinct placements.", nil, nil)
	nodeCount  = prometheus.NewDesc("berth_observer_nodes", "Nodes of node_metadata.", nil, nil)
	unresolved = prometheus.NewDesc("berth_observer_owners_unresolved", "Pods whose owner could not be read.", nil, nil)
	dropped    = prometheus.NewDesc("berth_observer_dropped", "What is left out because it is past a bound.", []string{"what"}, nil)
	synced     = prometheus.NewDesc("berth_observer_source_synced", "Whether all of a resource was seen.", []string{"resource"}, nil)
	failing    = prometheus.NewDesc("berth_observer_source_failing", "Whether a resource can't be seen now.", []string{"resource"}, nil)
	interrupts = prometheus.NewDesc("berth_observer_source_interruptions_total", "How often a resource could not be seen.", []string{"resource"}, nil)
	size       = prometheus.NewDesc("berth_observer_payload_bytes", "Size of the latest payload.", []string{"kind"}, nil)
	stamp      = prometheus.NewDesc("berth_observer_payload_timestamp_seconds", "When the latest payload was captured.", []string{"kind"}, nil)
	failures   = prometheus.NewDesc("berth_observer_errors_total", "What failed, by what.", []string{"what"}, nil)
	leftOut    = prometheus.NewDesc("berth_observer_workloads_without_metrics", "Workloads beyond the bound, which have no series.", nil, nil)
)

// topologyKeys are the only values of the label topology_key, beside "other", and "" for constraints that have
// none: a key is a word of whoever wrote the pod.
var topologyKeys = map[string]bool{"": true, "kubernetes.io/hostname": true, "topology.kubernetes.io/zone": true, "topology.kubernetes.io/region": true,
	"failure-domain.beta.kubernetes.io/zone": true, "failure-domain.beta.kubernetes.io/region": true}

// show makes a view what is shown.
func (m *metrics) show(workloads []reduce.Workload) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.left = max(0, len(workloads)-m.most)
	m.workloads = workloads[:len(workloads)-m.left]
}

func (m *metrics) showCoverage(c *v1.Coverage) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.coverage = c
}

func (m *metrics) wrote(kind string, at time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.written == nil {
		m.written = map[string]time.Time{}
	}
	m.written[kind] = at
}

// Describe describes nothing: there are series only of what is there.
func (m *metrics) Describe(chan<- *prometheus.Desc) {}

// Collect gives the series.
func (m *metrics) Collect(to chan<- prometheus.Metric) {
	m.mu.Lock()
	defer m.mu.Unlock()
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	counter := func(d *prometheus.Desc, v int, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(v), labels...)
	}
	m.collectWorkloads(gauge)
	gauge(leftOut, float64(m.left))
	for kind, at := range m.written {
		gauge(stamp, float64(at.Unix()), kind)
	}
	c := m.coverage
	if c == nil {
		return
	}
	gauge(info, 1, c.Version)
	gauge(pods, float64(c.PodsSeen))
	gauge(records, float64(c.Records))
	gauge(variants, float64(c.Variants))
	gauge(nodeCount, float64(c.Nodes))
	gauge(unresolved, float64(c.OwnersUnresolved))
	gauge(dropped, float64(c.PlacementValuesDropped), "placement_values")
	gauge(dropped, float64(c.PlacementTermsDropped), "placement_terms")
	gauge(dropped, float64(c.NodesValuesDropped), "nodes_values")
	for reason, n := range c.PodsExcluded {
		gauge(excluded, float64(n), reason)
	}
	for kind, n := range c.Bytes {
		gauge(size, float64(n), kind)
	}
	for what, n := range c.Errors {
		counter(failures, n, what)
	}
	for _, s := range c.Sources {
		gauge(synced, number(s.Synced), s.Resource)
		gauge(failing, number(s.Failing != ""), s.Resource)
		counter(interrupts, s.Interruptions, s.Resource)
	}
}

// series is one of berth_workload_constraint.
type series struct {
	namespace, kind, name string
	reduce.Constraint
}

func (m *metrics) collectWorkloads(gauge func(*prometheus.Desc, float64, ...string)) {
	under := map[series]int{}
	for i := range m.workloads {
		w := &m.workloads[i]
		gauge(placementInfo, 1, w.Namespace, w.Kind, w.Name, w.Variant)
		gauge(placementPods, float64(w.Pods), w.Namespace, w.Kind, w.Name, w.Variant)
		seen := map[reduce.Constraint]bool{} // keys that become "other" may be several
		for _, c := range w.Constraints {
			if !topologyKeys[c.TopologyKey] {
				c.TopologyKey = "other"
			}
			if !seen[c] {
				seen[c] = true
				under[series{w.Namespace, w.Kind, w.Name, c}] += w.Pods
			}
		}
	}
	for s, n := range under {
		gauge(constraint, float64(n), s.namespace, s.kind, s.name, s.Kind, s.TopologyKey, strconv.FormatBool(s.Hard))
	}
}

func number(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
