package cli

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"
	apiruntime "k8s.io/apimachinery/pkg/runtime"

	"github.com/berthdev/berth/internal/census"
	"github.com/berthdev/berth/internal/finding"
)

type runtimeObject = apiruntime.Object

// readFiles reads all files that are named, and those in folders that are named.
func (f *whyFlags) readFiles(cmd *cobra.Command, c *census.Census) error {
	names, err := expandFolders(f.files)
	if err != nil {
		return &codeError{exitInvalid, err}
	}
	var findings []finding.Finding
	sources := map[string]string{}
	for _, name := range names {
		found, text, err := readObjects(cmd, c, name)
		if err != nil {
			return &codeError{exitInvalid, fmt.Errorf("%s: %w", name, err)}
		}
		findings = append(findings, found.All()...)
		sources[name] = text
	}
	list := finding.Of(findings...)
	printFindings(cmd.ErrOrStderr(), list, sources)
	if list.HasErrors() {
		return said(exitInvalid)
	}
	return nil
}

// expandFolders puts the files of folders in their place, those that look like objects alone.
func expandFolders(names []string) ([]string, error) {
	var all []string
	for _, name := range names {
		info, err := os.Stat(name)
		if name == "-" || err == nil && !info.IsDir() {
			all = append(all, name)
			continue
		}
		if err != nil {
			return nil, err
		}
		before := len(all)
		err = filepath.WalkDir(name, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() && slices.Contains([]string{".json", ".yaml", ".yml"}, filepath.Ext(path)) {
				all = append(all, path)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
		if len(all) == before {
			return nil, fmt.Errorf("%s has no file that ends with .json, .yaml or .yml", name)
		}
	}
	return all, nil
}

// readObjects reads one file, JSON or YAML, which its first byte tells. The text is that of YAML, which
// findings point into.
func readObjects(cmd *cobra.Command, c *census.Census, name string) (finding.List, string, error) {
	in := cmd.InOrStdin()
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return finding.List{}, "", err
		}
		defer file.Close()
		in = file
	}
	r := bufio.NewReaderSize(in, 1<<20)
	start, err := r.Peek(512)
	if err != nil && !errors.Is(err, io.EOF) {
		return finding.List{}, "", err
	}
	if bytes.HasPrefix(bytes.TrimSpace(start), []byte("{")) {
		return finding.List{}, "", readJSON(c, r)
	}
	text, err := io.ReadAll(io.LimitReader(r, mostNodesBytes+1))
	if err == nil && len(text) > mostNodesBytes {
		err = fmt.Errorf("more than %d MiB of YAML: print it with -o json, which has no bound", mostNodesBytes>>20)
	}
	if err != nil {
		return finding.List{}, "", err
	}
	return c.YAML(name, bytes.NewReader(text)), string(text), nil
}
