package cli

import (
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/internal/finding"
	"github.com/berthdev/berth/internal/pipeline"
	"github.com/berthdev/berth/internal/placement/profile"
	"github.com/berthdev/berth/internal/source"
)

// inputs reads the files of a command line, and keeps their texts, which findings point into.
type inputs struct {
	cmd     *cobra.Command
	sources map[string]string
}

func newInputs(cmd *cobra.Command) *inputs { return &inputs{cmd, map[string]string{}} }

// read reads a file, "-" being standard input. One that can't be read is an invalid input.
func (in *inputs) read(name string) ([]byte, error) {
	var text []byte
	var err error
	if name == "-" {
		text, err = io.ReadAll(io.LimitReader(in.cmd.InOrStdin(), source.MostBytes+1))
	} else {
		text, err = readFile(name)
	}
	if err != nil {
		return nil, &codeError{exitInvalid, err}
	}
	in.sources[name] = string(text)
	return text, nil
}

// readFile reads no more than what is too much already.
func readFile(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, source.MostBytes+1))
}

const operatorVariable = "BERTH_OPERATOR"

// addOperator gives cmd the flag --operator.
func addOperator(cmd *cobra.Command) *string {
	return cmd.Flags().String("operator", "", "operator file (default $"+operatorVariable+")")
}

// operatorName is the file that is meant; empty if there is none.
func operatorName(flag string) string {
	if flag != "" {
		return flag
	}
	return os.Getenv(operatorVariable)
}

// operator reads the operator file. Without one it is empty, which is said on stderr with what follows from
// it, if anything does. File is nil if the file has errors.
func (in *inputs) operator(flag, without string) (*profile.File, finding.List, error) {
	name := operatorName(flag)
	if name == "" {
		if without != "" {
			fmt.Fprintf(in.cmd.ErrOrStderr(), "berth: no operator file (--operator FILE or %s): %s\n", operatorVariable, without)
		}
		return profile.Empty(), finding.List{}, nil
	}
	text, err := in.read(name)
	if err != nil {
		return nil, finding.List{}, err
	}
	file, findings := profile.Load(name, text)
	return file, findings, nil
}

// both reads an operator file and a pipeline. A file that has errors is nil.
func (in *inputs) both(operatorFlag, without, name string) (*profile.File, *pipeline.File, finding.List, error) {
	operator, findings, err := in.operator(operatorFlag, without)
	if err != nil {
		return nil, nil, findings, err
	}
	file, found, err := in.pipeline(name, operator)
	findings.Join(found)
	return operator, file, findings, err
}

// pipeline reads a pipeline file. File is nil if the file has errors.
func (in *inputs) pipeline(name string, operator *profile.File) (*pipeline.File, finding.List, error) {
	text, err := in.read(name)
	if err != nil {
		return nil, finding.List{}, err
	}
	privileged := operator != nil && operator.PodSecurity == profile.Privileged
	file, findings := pipeline.Parse(name, text, pipeline.Options{Privileged: privileged})
	return file, findings, nil
}
