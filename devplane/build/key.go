package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

// key hashes what goes into the programs: recipe, go.mod, go.sum, and the sources of the module
// with the files that they embed. Tests and the commands that are not built do not count.
func key(tree fs.FS, recipe []string) (string, error) {
	names, err := sources(tree)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	for _, r := range recipe {
		fmt.Fprintf(h, "%q\n", r)
	}
	for _, name := range names {
		data, err := fs.ReadFile(tree, name)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(h, "%q %x\n", name, sha256.Sum256(data))
	}
	return hex.EncodeToString(h.Sum(nil))[:20], nil
}

// notLinked are folders that no program imports: commands that are run from source, and test suites.
var notLinked = []string{"build", "conformance", "demo"}

func sources(tree fs.FS) ([]string, error) {
	names := []string{"go.mod", "go.sum"}
	err := fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		switch base := path.Base(name); {
		case err != nil:
			return err
		case d.IsDir():
			_, nested := fs.Stat(tree, path.Join(name, "go.mod"))
			if name != "." && (nested == nil || base == "testdata" || base[0] == '.' || base[0] == '_' ||
				slices.Contains(notLinked, name)) {
				return fs.SkipDir
			}
		case path.Ext(name) == ".go" && !strings.HasSuffix(name, "_test.go"):
			embedded, err := embeddedIn(tree, name)
			if err != nil {
				return err
			}
			names = append(append(names, name), embedded...)
		}
		return nil
	})
	slices.Sort(names)
	return slices.Compact(names), err
}

var embedLine = regexp.MustCompile(`(?m)^//go:embed[ \t]+(.+)$`)

// embeddedIn lists the files that a source file embeds. https://pkg.go.dev/embed
func embeddedIn(tree fs.FS, source string) ([]string, error) {
	text, err := fs.ReadFile(tree, source)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, line := range embedLine.FindAllStringSubmatch(string(text), -1) {
		for _, pattern := range strings.Fields(line[1]) {
			pattern = strings.TrimPrefix(strings.Trim(pattern, "\"`"), "all:")
			found, err := fs.Glob(tree, path.Join(path.Dir(source), pattern))
			if err != nil {
				return nil, fmt.Errorf("%s: go:embed %s: %w", source, pattern, err)
			}
			for _, f := range found {
				err := fs.WalkDir(tree, f, func(name string, d fs.DirEntry, err error) error {
					if err == nil && !d.IsDir() {
						names = append(names, name)
					}
					return err
				})
				if err != nil {
					return nil, err
				}
			}
		}
	}
	return names, nil
}
