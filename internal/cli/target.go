package cli

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/internal/executor"
	"github.com/berthdev/berth/internal/executor/kube"
	"github.com/berthdev/berth/internal/executor/local"
	"github.com/berthdev/berth/internal/kubeclient"
	"github.com/berthdev/berth/internal/placement/profile"
)

const (
	executorLocal      = "local"
	executorKubernetes = "kubernetes"
)

// target is what carries a run out, as the command line says it, and as it is recorded with the run.
type target struct {
	Executor   string `json:"executor"`
	Kubeconfig string `json:"kubeconfig,omitempty"` // absolute
	Context    string `json:"context,omitempty"`
	Namespace  string `json:"namespace,omitempty"`
	Operator   string `json:"operator,omitempty"` // file; absolute
	Folder     string `json:"folder,omitempty"`   // that the local executor copies the workspace from
}

func (t *target) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&t.Executor, "executor", "", "what carries the steps out: local or kubernetes")
	cmd.Flags().StringVar(&t.Kubeconfig, "kubeconfig", "", "kubeconfig file (default as kubectl has it)")
	cmd.Flags().StringVar(&t.Context, "context", "", "context of the kubeconfig (default its current one)")
	cmd.Flags().StringVarP(&t.Namespace, "namespace", "n", "", "namespace of the pods (default the operator file's, then the context's)")
}

// choose settles what the command line leaves open.
func (t *target) choose(cmd *cobra.Command, operator *profile.File) error {
	flags := t.Kubeconfig != "" || t.Context != "" || t.Namespace != ""
	switch t.Executor {
	case "":
		if t.Executor = executorLocal; flags || operator.Kubernetes.Configured {
			t.Executor = executorKubernetes
		}
	case executorLocal:
		if flags {
			return usageErrorf(cmd, "--executor local talks to no cluster: leave out --kubeconfig, --context and --namespace")
		}
	case executorKubernetes:
	default:
		return usageErrorf(cmd, "--executor %q: write local or kubernetes", t.Executor)
	}
	if t.Namespace == "" && t.Executor == executorKubernetes {
		t.Namespace = operator.Kubernetes.Namespace
	}
	for _, file := range []*string{&t.Kubeconfig, &t.Operator} {
		if *file == "" {
			continue
		}
		abs, err := filepath.Abs(*file)
		if err != nil {
			return err
		}
		*file = abs
	}
	if t.Operator == "" && operatorName("") != "" {
		t.Operator, _ = filepath.Abs(operatorName(""))
	}
	if t.Executor == executorLocal {
		t.Folder, _ = os.Getwd()
	}
	return nil
}

// open makes the executor, and says what it is called in the state.
func (t *target) open(folder, instance string, log *slog.Logger) (executor.Executor, string, error) {
	if t.Executor == executorLocal {
		return local.New(local.Options{Dir: filepath.Join(folder, "local"), Source: t.Folder, Log: log}), executorLocal, nil
	}
	client, err := kubeclient.New(kubeclient.Options{Kubeconfig: t.Kubeconfig, Context: t.Context, Namespace: t.Namespace, Version: buildVersion()})
	if err != nil {
		return nil, "", &codeError{exitNoService, err}
	}
	clients, err := client.Guest()
	if err != nil {
		return nil, "", &codeError{exitNoService, err}
	}
	name := fmt.Sprintf("%s %s %s", executorKubernetes, client.Host(), client.Namespace())
	return kube.New(kube.Options{Clients: clients, Namespace: client.Namespace(), Instance: instance, Log: log}), name, nil
}
