package local

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// listed gives the files of the git working tree that a folder lies in, relative to its root. There are none
// where it lies in none. That git can't say is an error: a step would look for its files in vain.
func listed(ctx context.Context, folder string) (root string, names []string, err error) {
	if !inRepository(folder) {
		return "", nil, nil
	}
	top, err := git(ctx, folder, "rev-parse", "--show-toplevel")
	if err != nil {
		return "", nil, err
	}
	root = strings.TrimSuffix(top, "\n")
	list, err := git(ctx, root, "ls-files", "-co", "--exclude-standard", "-z")
	if err != nil {
		return "", nil, err
	}
	for name := range strings.SplitSeq(list, "\x00") {
		if filepath.IsLocal(name) { // "" is not
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return root, slices.Compact(names), nil // a file in conflict is listed several times
}

// outside leaves out what lies in a folder: the executor's own, which may be in the working tree and not be
// ignored. Workspaces would be copied into workspaces.
func outside(folder, root string, names []string) []string {
	folder, err := filepath.EvalSymlinks(folder) // as git gives the root
	if err != nil {
		return names
	}
	own, err := filepath.Rel(root, folder)
	if err != nil {
		return names
	}
	return slices.DeleteFunc(names, func(name string) bool { return strings.HasPrefix(name, own+"/") })
}

// inRepository says whether the folder or one above it has a .git, which is a file in a linked working tree.
func inRepository(folder string) bool {
	for {
		if _, err := os.Lstat(filepath.Join(folder, ".git")); err == nil {
			return true
		}
		above := filepath.Dir(folder)
		if above == folder {
			return false
		}
		folder = above
	}
}

// git runs git in a folder, for the repository there, whichever one a hook that called berth is about.
func git(ctx context.Context, folder string, args ...string) (string, error) {
	c := exec.CommandContext(ctx, "git", args...)
	c.Dir = folder
	c.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "GIT_") })
	c.Env = append(c.Env, "LC_ALL=C", "GIT_OPTIONAL_LOCKS=0")
	var out, said bytes.Buffer
	c.Stdout, c.Stderr = &out, &said
	switch err := c.Run(); {
	case errors.Is(err, exec.ErrNotFound):
		return "", fmt.Errorf("%s is in a git repository, and git is not installed", folder)
	case err != nil:
		return "", fmt.Errorf("git %s: %w: %s", args[0], err, strings.TrimSpace(said.String()))
	}
	return out.String(), nil
}
