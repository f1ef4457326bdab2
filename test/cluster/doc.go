// Package cluster gives tests a real Kubernetes cluster.
//
// A package's tests share one, which the first of them that asks for it starts:
//
//	var shared = cluster.Share("../../examples/acme/nodes.yaml")
//
//	func TestMain(m *testing.M) { os.Exit(shared.Main(m)) }
//
//	func TestPods(t *testing.T) {
//		c := shared.Get(t)
//		namespace := c.Namespace(t)
//
// It promises:
//   - The cluster is a devplane, started as a program: the one that BERTH_DEVPLANE names, else one that
//     is built from this checkout. With BERTH_TEST_KUBECONFIG the shared cluster is the one that this
//     kubeconfig names; its nodes are then what they are.
//   - A test that can't have its cluster fails. None is skipped.
//   - A devplane ends with the test binary, however that ends, and what it leaves behind on the machine
//     is a failure. One that was there already is left as it was, but for the tests' namespaces.
//   - Nothing sleeps: what is waited for is told by the program or watched in the cluster.
package cluster
