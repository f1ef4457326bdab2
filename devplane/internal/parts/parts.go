// Package parts holds Kubernetes' own programs and etcd, each as a function that runs it. They
// share one binary because they share almost all of their code: one link instead of five, a
// fifth of the disk. A process is only ever one of them.
//
// Importing this package means linking Kubernetes whole; only main does.
package parts

import (
	"context"
	"os"
	_ "time/tzdata" // time zones of CronJobs

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo" // what the programs' own mains import
	_ "k8s.io/component-base/metrics/prometheus/version"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	manager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
	kubelet "k8s.io/kubernetes/cmd/kubelet/app"
)

// Run is a program: it takes its arguments without argv[0] and does not return until it ends.
type Run = func(args []string) (exitCode int)

// All are the programs by name.
func All() map[string]Run {
	return map[string]Run{
		"etcd":                    etcd,
		"kube-apiserver":          program(apiserver.NewAPIServerCommand),
		"kube-scheduler":          program(func() *cobra.Command { return scheduler.NewSchedulerCommand() }),
		"kube-controller-manager": program(manager.NewControllerManagerCommand),
		"kubelet":                 program(func() *cobra.Command { return kubelet.NewKubeletCommand(context.Background()) }),
	}
}

func program(newCommand func() *cobra.Command) Run {
	return func(args []string) int {
		cmd := newCommand()
		cmd.SetArgs(args)
		return cli.Run(cmd)
	}
}

func etcd(args []string) int {
	etcdmain.Main(append([]string{os.Args[0]}, args...))
	return 0
}
