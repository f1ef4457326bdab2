package executortest

import (
	"strings"

	"github.com/berthdev/berth/internal/executor"
	"github.com/berthdev/berth/internal/run"
)

// The steps of a run share its workspace, and those of another run have another one.
func workspace(f *fixture) {
	const header = "workspace: {size: 1Mi}\n"
	all := f.attempts(header,
		task{`run: "cd $BERTH_WORKSPACE; pwd; mkdir sub; echo shared > sub/file"`, Behaviour{Log: "/workspace\n"}},
		task{"working_dir: sub\nrun: 'cat file'", Behaviour{Log: "shared\n"}},
		task{"workspace: false\nrun: 'echo \"has:$BERTH_WORKSPACE:$(ls | wc -l)\" | tr -d \" \"'", Behaviour{Log: "has::0\n"}})
	var logs []string
	for _, a := range all {
		if f.h.Apart && a.Step == "s1" {
			logs = append(logs, "")
			continue
		}
		logs = append(logs, f.log(f.ends(a, run.Success)))
	}
	if !strings.HasPrefix(logs[0], "/") || !f.h.Apart && logs[1] != "shared\n" || !strings.HasPrefix(logs[2], "has::") {
		f.t.Errorf("%q", logs)
	}
	other := f.attempts(header, task{`run: "test ! -e $BERTH_WORKSPACE/sub"`, Behaviour{}})[0]
	f.ends(other, run.Success)
}

// What a run had is removed when its objects are gone, and once is enough.
func finish(f *fixture) {
	a := f.attempts("workspace: {size: 1Mi}\n", task{`run: "mkdir -p $BERTH_WORKSPACE/a; touch $BERTH_WORKSPACE/a/b; chmod 0 $BERTH_WORKSPACE/a"`, Behaviour{}})[0]
	o := f.ends(a, run.Success)
	f.goes(a.Ref, executor.Stop{ID: o.ID})
	for range 2 {
		if err := f.FinishRun(f.t.Context(), a.Run); err != nil {
			f.t.Error(err)
		}
	}
	if err := f.FinishRun(f.t.Context(), newRun()); err != nil {
		f.t.Errorf("of a run that never was: %v", err)
	}
}
