package cli

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Benchmarks of berth why on a file: 5,000 nodes in three zones and five pools, 50,000 pods of 1,000 workloads,
// 20 of them DaemonSets' (of which each node has three), a tenth spread over zones, a tenth with one pod per
// node, a tenth for one pool, a tenth with a disk of a zone, and a budget for each fifth workload.
const (
	benchNodes     = 5000
	benchPods      = 50_000
	benchWorkloads = 1000
)

func benchFile(b *testing.B) string {
	b.Helper()
	name := filepath.Join(b.TempDir(), "cluster.json")
	file, err := os.Create(name)
	if err != nil {
		b.Fatal(err)
	}
	w := bufio.NewWriter(file)
	w.WriteString(`{"apiVersion":"v1","kind":"List","items":[` + "\n" + `{"apiVersion":"berth.dev/v1","kind":"Census","read":["pods","nodes","namespaces","poddisruptionbudgets","persistentvolumeclaims","persistentvolumes","storageclasses","csinodes","csidrivers","volumeattachments","csistoragecapacities"],"unread":[]}`)
	item := func(format string, args ...any) { fmt.Fprintf(w, ",\n"+format, args...) }
	for i := range benchNodes {
		taints := ""
		if i%5 == 4 {
			taints = `,"spec":{"taints":[{"key":"pool","value":"gpu","effect":"NoSchedule"}]}`
		}
		item(`{"apiVersion":"v1","kind":"Node","metadata":{"name":"node-%d","uid":"n%d","labels":{"kubernetes.io/hostname":"node-%d","topology.kubernetes.io/zone":"z%d","kubernetes.io/arch":"amd64","kubernetes.io/os":"linux","node.kubernetes.io/instance-type":"m5.4xlarge","karpenter.sh/nodepool":"p%d"}}%s,"status":{"allocatable":{"cpu":"15890m","memory":"60Gi","pods":"110"}}}`, i, i, i, i%3, i%5, taints)
	}
	for i := range benchWorkloads {
		item(`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"w-%d","namespace":"ns-%d","uid":"d%d"},"spec":{"replicas":50,"template":{"metadata":{"labels":{"app":"w-%d"}},"spec":{"containers":[{"name":"c"}]}}}}`, i, i%50, i, i)
		if i%5 == 0 {
			item(`{"apiVersion":"policy/v1","kind":"PodDisruptionBudget","metadata":{"name":"w-%d","namespace":"ns-%d","generation":1},"spec":{"maxUnavailable":%d,"selector":{"matchLabels":{"app":"w-%d"}}},"status":{"observedGeneration":1,"expectedPods":50,"currentHealthy":50,"desiredHealthy":49,"disruptionsAllowed":1}}`, i, i%50, i%2, i)
		}
	}
	for i := range benchPods {
		n := i * 7 % benchNodes
		if i < 3*benchNodes {
			item(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"ds-%d","namespace":"kube-system","uid":"p%d","labels":{"app":"ds-%d"},"ownerReferences":[{"apiVersion":"apps/v1","kind":"DaemonSet","name":"ds-%d","uid":"ds%d","controller":true}]},"spec":{"nodeName":"node-%d","tolerations":[{"operator":"Exists"}],"containers":[{"name":"c","resources":{"requests":{"cpu":"100m","memory":"100Mi"}}}]},"status":{"phase":"Running"}}`, i, i, i%3, i%3, i%3, i%benchNodes)
			continue
		}
		k := i % benchWorkloads
		rules := ""
		switch k % 10 {
		case 1:
			rules = fmt.Sprintf(`"topologySpreadConstraints":[{"topologyKey":"topology.kubernetes.io/zone","maxSkew":1,"whenUnsatisfiable":"DoNotSchedule","labelSelector":{"matchLabels":{"app":"w-%d"}}}],`, k)
		case 2:
			rules = fmt.Sprintf(`"affinity":{"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"kubernetes.io/hostname","labelSelector":{"matchLabels":{"app":"w-%d"}}}]}},`, k)
		case 3:
			rules = fmt.Sprintf(`"nodeSelector":{"karpenter.sh/nodepool":"p%d"},`, n%5)
		case 4:
			rules = `"volumes":[{"name":"tmp","emptyDir":{}}],`
		}
		tolerations := `"tolerations":[{"key":"node.kubernetes.io/not-ready","operator":"Exists","effect":"NoExecute","tolerationSeconds":300},{"key":"node.kubernetes.io/unreachable","operator":"Exists","effect":"NoExecute","tolerationSeconds":300}],`
		node := fmt.Sprintf(`"nodeName":"node-%d",`, n)
		phase := "Running"
		if i%5000 == 0 {
			node, phase, rules = "", "Pending", `"nodeSelector":{"disk":"nvme"},`
		}
		item(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"w-%d-%d","namespace":"ns-%d","uid":"p%d","labels":{"app":"w-%d","pod-template-hash":"h"},"ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"w-%d-h","uid":"r%d","controller":true}]},"spec":{%s%s%s"schedulerName":"default-scheduler","terminationGracePeriodSeconds":30,"containers":[{"name":"c","ports":[{"containerPort":8080}],"resources":{"requests":{"cpu":"%dm","memory":"1Gi"}}},{"name":"proxy","resources":{"requests":{"cpu":"50m","memory":"64Mi"}}}]},"status":{"phase":"%s","conditions":[{"type":"Ready","status":"True"},{"type":"PodScheduled","status":"True"}]}}`, k, i, k%50, i, k, k, k, node, rules, tolerations, 250+k%4*250, phase)
	}
	w.WriteString("\n]}\n")
	if err := w.Flush(); err != nil {
		b.Fatal(err)
	}
	if info, err := file.Stat(); err == nil {
		b.Logf("%d MB", info.Size()>>20)
	}
	if err := file.Close(); err != nil {
		b.Fatal(err)
	}
	return name
}

func BenchmarkWhy(b *testing.B) {
	file := benchFile(b)
	program := filepath.Join(b.TempDir(), "berth")
	if out, err := exec.Command("go", "build", "-o", program, "../../cmd/berth").CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	for _, args := range []string{"deploy/w-1 -n ns-1", "deploy/w-2 -n ns-2", "node/node-9", "--pending -A", "nodes -o csv"} {
		b.Run(strings.ReplaceAll(args, " ", "_"), func(b *testing.B) {
			for b.Loop() {
				cmd := exec.Command(program, append([]string{"why", "-f", file}, strings.Fields(args)...)...)
				begun := time.Now()
				if out, err := cmd.Output(); err != nil || len(out) == 0 {
					b.Fatalf("%v", err)
				}
				b.ReportMetric(time.Since(begun).Seconds(), "s")
				b.ReportMetric(float64(cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss)/1024, "MiB")
			}
		})
	}
}
