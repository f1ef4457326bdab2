package explain_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/berthdev/berth/internal/census"
	"github.com/berthdev/berth/internal/explain"
	"github.com/berthdev/berth/internal/reason"
	"github.com/berthdev/berth/internal/transcript"
)

// TestCases holds what is said of a workload to transcripts. A case has objects, which testdata/cluster.yaml
// completes, and the subject that is asked about.
func TestCases(t *testing.T) {
	transcript.Test(t, "testdata/*.txt", func(t *testing.T, text string) string {
		prose, sections := transcript.Sections(text)
		var subject explain.Ref
		moving := false
		c := census.New("default")
		out := prose
		for _, s := range sections {
			switch s.Name {
			case "objects":
				if found := c.YAML("objects", strings.NewReader(s.Body)); found.Len() > 0 {
					t.Errorf("%s%s", prose, found.Text(nil))
				}
			case "ask":
				var what string
				what, moving = strings.CutSuffix(strings.TrimSpace(s.Body), ", and moving")
				subject = parse(t, what)
			case "answer":
				continue
			default:
				t.Fatalf("%s: no section %s", prose, s.Name)
			}
			out += s.String()
		}
		rest, err := os.ReadFile("testdata/cluster.yaml")
		if err != nil {
			t.Fatal(err)
		}
		c.YAML("cluster.yaml", strings.NewReader(string(rest)))
		c.Listed("pods")
		c.Listed("poddisruptionbudgets")
		c.Listed("namespaces")
		c.Listed("persistentvolumeclaims")
		c.Listed("persistentvolumes")
		c.Listed("storageclasses")
		c.Listed("csinodes")
		c.Listed("csidrivers")
		c.Listed("volumeattachments")
		c.Listed("csistoragecapacities")
		return out + transcript.Section{Name: "answer", Body: answer(t, explain.New(*c.Facts()), subject, moving)}.String()
	})
}

func parse(t *testing.T, text string) explain.Ref {
	kind, name, _ := strings.Cut(text, "/")
	r := explain.Ref{Kind: kind, Namespace: "default", Name: name}
	if name, namespace, ok := strings.Cut(name, " in "); ok {
		r.Name, r.Namespace = name, namespace
	}
	if kind == "Node" {
		r.Namespace = ""
	}
	return r
}

// answer is the report in lines.
func answer(t *testing.T, c *explain.Cluster, subject explain.Ref, moving bool) string {
	var b strings.Builder
	if subject.Kind == "Node" {
		r, ok := c.Node(subject.Name)
		if !ok {
			return "there is no such node\n"
		}
		for i, k := range r.Constraints {
			fmt.Fprintf(&b, "%d %s\n", i, line(k))
		}
		for _, p := range r.Pods {
			fmt.Fprintf(&b, "%s of %s: stays %v, held by %v, elsewhere %d\n", p.Name, p.Workload, p.Stays, p.HeldBy, p.Elsewhere)
		}
		fmt.Fprintf(&b, "together: %v\n", r.Together.Fit)
		for _, e := range r.Engines {
			fmt.Fprintf(&b, "%s: %v\n", e.Engine, e.HeldBy)
		}
		return b.String()
	}
	r, ok := c.Workload(subject)
	if !ok {
		return "there is no such thing\n"
	}
	for i, k := range r.Constraints {
		fmt.Fprintf(&b, "%d %s\n", i, line(k))
	}
	var fits []string
	for _, n := range r.Nodes {
		if n.Fits {
			fits = append(fits, n.Name)
		}
	}
	fmt.Fprintf(&b, "fits %s\n", list(fits))
	for _, u := range r.Unlocks {
		smaller := ""
		if u.Smaller > 0 {
			smaller = fmt.Sprintf(", %d smaller", u.Smaller)
		}
		fmt.Fprintf(&b, "without %v: %s%s\n", u.Without, list(u.Nodes), smaller)
	}
	for _, k := range r.Moving {
		if !moving {
			break
		}
		fmt.Fprintf(&b, "moving %s\n", line(k))
	}
	for _, u := range r.NotKnown {
		if u.Why != "no API shows it" {
			fmt.Fprintf(&b, "not known: %s (%s)\n", u.What, u.Why)
		}
	}
	return b.String()
}

func line(k explain.Constraint) string {
	return fmt.Sprintf("%s (%s, %s, %s) %s", k.Code, k.Hardness, k.Scope, k.Actor, k.Message)
}

func list(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

var title = regexp.MustCompile(`(?m)^== ([a-z_]+)(, nearly)?: `)

// TestEachCode: each registered constraint has a case that produces it, and one that nearly does. The cases
// are called "CODE: ..." and "CODE, nearly: ...".
func TestEachCode(t *testing.T) {
	files, _ := filepath.Glob("testdata/*.txt")
	has, nearly := map[string]bool{}, map[string]bool{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range strings.Split("\n"+string(data), "\n== ")[1:] {
			m := title.FindStringSubmatch("== " + part)
			if m == nil {
				continue
			}
			_, sections := transcript.Sections(part)
			said := regexp.MustCompile(`(?m)^(\d+|moving) ` + m[1] + ` \(`).MatchString(sections[len(sections)-1].Body)
			switch {
			case m[2] == "" && !said:
				t.Errorf("%s: %q is not about it", file, m[0])
			case m[2] != "" && said:
				t.Errorf("%s: %q is about it", file, m[0])
			}
			if m[2] == "" {
				has[m[1]] = true
			} else {
				nearly[m[1]] = true
			}
		}
	}
	var missing []string
	for _, k := range reason.Constraints {
		if !has[string(k.Code)] {
			missing = append(missing, string(k.Code))
		}
		if !nearly[string(k.Code)] {
			missing = append(missing, string(k.Code)+", nearly")
		}
	}
	slices.Sort(missing)
	if len(missing) > 0 {
		t.Errorf("no case for %s", strings.Join(missing, "; "))
	}
}
