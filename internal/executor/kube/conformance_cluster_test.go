package kube

import (
	"fmt"
	"testing"

	"github.com/berthdev/berth/internal/executor"
	"github.com/berthdev/berth/internal/executor/executortest"
)

func TestContract(t *testing.T) {
	for _, kind := range []string{"process", "real"} {
		t.Run(kind, func(t *testing.T) {
			executortest.Run(t, executortest.Harness{
				Fresh: func(t *testing.T) executortest.Open {
					c := shared.Get(t)
					o := Options{Clients: clients(t, c.Config), Namespace: c.Namespace(t), Instance: fmt.Sprintf("01TEST%020d", number.Add(1))}
					return func() executor.Executor { return New(o) }
				},
				Image: "devplane/busybox:1",
				Operator: `
version: 1
baseline:
  resources: {cpu: 10m, memory: 16Mi}
  k8s: {nodeSelector: {devplane.berth.dev/kind: ` + kind + `}, tolerations: [{operator: Exists}], terminationGracePeriodSeconds: 2}
`,
				Survives: true,
				Apart:    true,
			})
		})
	}
}
