package fit

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/berthdev/berth/internal/transcript"
)

// Each case shows a cluster, a pod, what there is to say of each node, and what the scheduler says; the real
// one is held to that by TestSchedulerSaysSo.
func TestCases(t *testing.T) {
	transcript.Test(t, "testdata/cases/*.txt", func(t *testing.T, text string) string {
		prose, sections := transcript.Sections(text)
		s := sceneOf(t, sections)
		title, _, _ := strings.Cut(prose, "\n")
		t.Run(title, func(t *testing.T) { quiet(t, s) })
		verdicts := NewSnapshot(s.Objects).Explain(s.pod)
		out := prose
		for _, s := range sections {
			if s.Name != "verdicts" && s.Name != "scheduler" {
				out += s.String()
			}
		}
		out += transcript.Section{Name: "verdicts", Body: show(verdicts)}.String()
		return out + transcript.Section{Name: "scheduler", Body: says(verdicts) + "\n"}.String()
	})
}

// quiet holds the case to what is promised of every one: nothing that was given is written to, and the same
// question gets the same answer.
func quiet(t *testing.T, s scene) {
	before, pod := snapshotText(t, s.Objects), s.pod.DeepCopy()
	snapshot := NewSnapshot(s.Objects)
	first := show(snapshot.Explain(s.pod))
	if again := show(snapshot.Explain(s.pod)); again != first {
		t.Errorf("asked again:\n%s\nbefore:\n%s", again, first)
	}
	if snapshotText(t, s.Objects) != before || !equality.Semantic.DeepEqual(s.pod, pod) {
		t.Error("an argument was written to")
	}
}

func snapshotText(t *testing.T, o Objects) string {
	data, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// Every kind of reason has a case that shows it, whose title begins with it, and a near miss, whose title
// begins with "not".
func TestEveryKindHasACase(t *testing.T) {
	shown, missed := map[Kind]bool{}, map[Kind]bool{}
	transcript.Test(t, "testdata/cases/*.txt", func(t *testing.T, text string) string {
		prose, sections := transcript.Sections(text)
		s := sceneOf(t, sections)
		title, about, ok := strings.Cut(prose, ":")
		kind, not := strings.CutPrefix(title, "not ")
		if !ok || !slices.Contains(kinds, Kind(kind)) {
			return text
		}
		shows := false
		for _, v := range NewSnapshot(s.Objects).Explain(s.pod) {
			shows = shows || slices.ContainsFunc(v.Reasons, func(r Reason) bool { return r.Kind == Kind(kind) })
		}
		if shows == not {
			t.Errorf("%s:%s shows %s: %v", title, about, kind, shows)
		}
		shown[Kind(kind)] = shown[Kind(kind)] || shows
		missed[Kind(kind)] = missed[Kind(kind)] || !shows
		return text
	})
	for _, k := range kinds {
		if !shown[k] || !missed[k] {
			t.Errorf("%s: has a case: %v, and a near miss: %v", k, shown[k], missed[k])
		}
	}
}

var kinds = []Kind{Gate, NodeName, Cordoned, Taint, NodeSelector, NodeAffinity, Contradiction, HostPort, PodCount, Resources, VolumeInUse, ClaimInUse,
	DriverMissing, AttachLimit, VolumeUnbound, VolumeLocal, VolumeZone, Spread, TopologyMissing, PodAffinity, AntiSelf, AntiOther, AntiInverse, NodeFeature}
