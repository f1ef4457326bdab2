package observer

import (
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/berthdev/berth/api/observer/v1"
	"github.com/berthdev/berth/internal/observer/manifest"
	"github.com/berthdev/berth/internal/observer/observertest"
	"github.com/berthdev/berth/internal/observer/reduce"
	"github.com/berthdev/berth/internal/observer/settings"
	"github.com/berthdev/berth/internal/transcript"
)

// scraped is what /metrics says, without what is about the process.
func scraped(t *testing.T, m *metrics) string {
	t.Helper()
	o := &Observer{metrics: m, options: Options{Now: time.Now, Settings: settings.Default()}}
	r := httptest.NewRecorder()
	o.handler().ServeHTTP(r, httptest.NewRequest("GET", "/metrics", nil))
	body, err := io.ReadAll(r.Result().Body)
	if err != nil || r.Code != 200 {
		t.Fatal(r.Code, err)
	}
	var lines []string
	for line := range strings.Lines(string(body)) {
		if strings.Contains(line, "berth_") {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "")
}

func view(pods []*corev1.Pod) *reduce.View {
	return reduce.Look(clusterOf(&manifest.Objects{Pods: pods}, reduce.Bounds{}), reduce.Options{})
}

// The metrics of the cluster that the golden payloads are of.
func TestMetrics(t *testing.T) {
	f, err := os.Open("reduce/testdata/cluster.yaml")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var o manifest.Objects
	if err := o.Read("cluster.yaml", f); err != nil {
		t.Fatal(err)
	}
	v := reduce.Look(clusterOf(&o, reduce.Bounds{}), reduce.Options{})
	c := &v1.Coverage{Version: "v1.0.0", Sources: []v1.Source{{Resource: "pods", Synced: true, Interruptions: 2}, {Resource: "nodes", Failing: v1.FailingForbidden}},
		Bytes: map[string]int{v1.KindNodes: 7}, Errors: map[string]int{v1.ErrorPush: 3}}
	v.Fill(c)
	m := &metrics{most: 100}
	m.show(v.Workloads())
	m.showCoverage(c)
	m.wrote(v1.KindNodes, time.Unix(1_700_000_000, 0))
	transcript.File(t, "testdata/metrics.txt", scraped(t, m))
}

// Series have the words of a pod that name its workload, and no others.
func TestMetricsSayNothingElse(t *testing.T) {
	p := &corev1.Pod{}
	marks := observertest.Fill(p)
	delete(p.Annotations, reduce.AnnotationObserve)
	m := &metrics{most: 100}
	m.show(view([]*corev1.Pod{p}).Workloads())
	want := []string{"metadata.namespace", "metadata.ownerReferences[].kind", "metadata.ownerReferences[].name"}
	if found := marks.Found([]byte(scraped(t, m))); !slices.Equal(found, want) {
		t.Errorf("metrics say %v", found)
	}
}

// There are series of so many workloads, and the others are counted.
func TestMetricsAreBounded(t *testing.T) {
	var pods []*corev1.Pod
	for i := range 30 {
		p := &corev1.Pod{}
		p.Name = fmt.Sprintf("p%02d", i)
		p.Spec.Containers = []corev1.Container{{Name: "c"}}
		p.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{TopologyKey: fmt.Sprint(i), WhenUnsatisfiable: "DoNotSchedule"}, {TopologyKey: "x", WhenUnsatisfiable: "DoNotSchedule"}}
		pods = append(pods, p)
	}
	m := &metrics{most: 10}
	m.show(view(pods).Workloads())
	text := scraped(t, m)
	if n := strings.Count(text, "\nberth_workload_placement_info{"); n != 10 {
		t.Errorf("%d workloads", n)
	}
	if !strings.Contains(text, "berth_observer_workloads_without_metrics 20") || strings.Count(text, `topology_key="other"`) != 10 || strings.Contains(text, `topology_key="x"`) {
		t.Errorf("%s", text)
	}
}
