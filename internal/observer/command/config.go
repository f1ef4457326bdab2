package command

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/internal/observer/settings"
)

// settings are those of the file, with those of the flags over them, and what reads the file again.
func (f *runFlags) settings(cmd *cobra.Command) (*settings.File, func() (*settings.File, error), error) {
	s, text := settings.Default(), []byte(nil)
	if f.config != "" {
		var err error
		if text, err = os.ReadFile(f.config); err != nil {
			return nil, nil, invalid(err)
		}
		if s, err = load(f.config, text); err != nil {
			return nil, nil, invalid(err)
		}
	}
	for flag, into := range map[string]*string{"spool": &s.Spool.Dir, "push": &s.Push.URL, "push-token-file": &s.Push.TokenFile, "listen": &s.Metrics.Listen} {
		if cmd.Flags().Changed(flag) {
			*into = cmd.Flags().Lookup(flag).Value.String()
		}
	}
	if cmd.Flags().Changed("namespace") {
		slices.Sort(f.namespaces)
		s.Watch.Namespaces = slices.Compact(f.namespaces)
	}
	if s.Push.TokenFile != "" && s.Push.URL == "" {
		return nil, nil, invalid(errors.New("--push-token-file has no effect without --push URL"))
	}
	if s.Push.URL != "" && s.Spool.Dir == "" {
		return nil, nil, invalid(errors.New("--push posts what is in the spool: give --spool DIR as well"))
	}
	if f.config == "" {
		return s, nil, nil
	}
	return s, reloader(f.config, text), nil
}

// reloader reads the file again, and says what it holds if it holds something else than the last time.
func reloader(file string, last []byte) func() (*settings.File, error) {
	return func() (*settings.File, error) {
		text, err := os.ReadFile(file)
		if err != nil || bytes.Equal(text, last) {
			return nil, err
		}
		last = text
		return load(file, text)
	}
}

func load(file string, text []byte) (*settings.File, error) {
	s, findings := settings.Load(file, text)
	if s == nil {
		return nil, fmt.Errorf("%s is invalid\n%s", file, findings.Text(map[string]string{file: string(text)}))
	}
	return s, nil
}
