package local

import (
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/berthdev/berth/internal/plan"
)

// ofCaller is what processes have of the environment of whoever called berth.
var ofCaller = []string{"PATH", "HOME", "LANG"}

// environment is that of a process: of two variables that have a name the last counts.
func (r *runner) environment(own map[string]plan.Text) []string {
	var env []string
	for _, name := range ofCaller {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(own)) {
		env = append(env, name+"="+r.text(own[name]))
	}
	return env
}

// berth is what Berth's own layer gives the step of a pod.
func (r *runner) berth() []string {
	env := []string{
		"BERTH_ATTEMPT=" + strconv.Itoa(r.job.Attempt),
		"BERTH_FENCE=" + strconv.FormatInt(r.job.Fence, 10),
		"BERTH_OUTPUT=" + filepath.Join(r.folder, outputFile),
		"BERTH_PIPELINE=" + r.job.Pipeline,
		"BERTH_RUN=" + r.job.Run,
		"BERTH_STEP=" + r.job.Step,
	}
	if r.job.Spec.Work.Workspace {
		env = append(env, "BERTH_WORKSPACE="+r.space)
	}
	return env
}

func (r *runner) text(t plan.Text) string {
	if t.Late {
		return r.job.Texts[t.Text]
	}
	return t.Text
}

func (r *runner) argv(lists ...[]plan.Text) []string {
	var all []string
	for _, list := range lists {
		for _, t := range list {
			all = append(all, r.text(t))
		}
	}
	return all
}

// lookPath finds a command as its process would: in the PATH that it gets, from the folder that it runs in.
func lookPath(name string, env []string, dir string) (string, error) {
	if strings.Contains(name, "/") {
		return name, nil
	}
	var path string
	for _, v := range env {
		if p, ok := strings.CutPrefix(v, "PATH="); ok {
			path = p
		}
	}
	err := exec.ErrNotFound
	for _, folder := range filepath.SplitList(path) {
		if !filepath.IsAbs(folder) {
			folder = filepath.Join(dir, folder)
		}
		file := filepath.Join(folder, name)
		info, statErr := os.Stat(file)
		switch {
		case statErr != nil || info.IsDir():
		case info.Mode()&0o111 == 0:
			err = fs.ErrPermission
		default:
			return file, nil
		}
	}
	return name, &exec.Error{Name: name, Err: err}
}
