// Package process runs the containers of pods as processes of this machine.
//
// It promises to honour a pod or to refuse it: what it can't do is named in the pod's message, all
// fields at once (reason NotSupported), and nothing is ignored in silence but for the list below.
// Start order, restarts, probes, hooks, termination, exit codes, messages and logs are those of
// the kubelet, and texts are its own where a person or a program may look for them.
//
// On Linux as root a container has its own mount, PID and UTS namespaces, made by the shim. Its
// root is the machine's with all changes private and in memory; /dev, /proc, /sys (read-only) and
// /tmp are its own, volumes are mounted at their paths. It is PID 1, so SIGTERM does nothing
// unless it is handled, and nothing that it starts outlives it.
//
// Elsewhere a container is a process group. There is one way to a volume: an environment variable
// whose value is the volume's mount path, or a path below it, has the path on the machine instead.
// A mount that no variable names is refused, but for the token of the ServiceAccount, which is
// left out.
//
// # Images
//
// An image is a name and nothing else: the command runs on the machine's own files, and there has
// to be a command. Names on the registry devplane.invalid act a part:
//
//	devplane.invalid/oom         is OOM-killed as soon as it runs
//	devplane.invalid/hang        stays in ContainerCreating
//	devplane.invalid/unpullable  can't be pulled (as all other names there)
//
// # Accepted differences from the kubelet
//
//   - the files of the machine are the files of the image: a container can read what its user may
//     read on the machine, also what belongs to this devplane
//   - resource limits and emptyDir.sizeLimit are accounted, not enforced; nothing is evicted
//   - the network namespace and IPC namespace are the machine's, the pod's IP is the node's; host
//     ports are not mapped; /etc/hosts and /etc/resolv.conf are the machine's
//   - seccomp, AppArmor and masked paths of /proc are not applied
//   - emptyDir of medium Memory is a folder
//   - volumes are written once: changed Secrets, ConfigMaps, labels and renewed tokens don't arrive
//   - containers are started at the same time where the kubelet starts them one by one
//   - logs are not rotated
//   - changes of a running pod's image or resources are not acted on
//   - of Services only that of the API server is in the environment, and there with its own address
//   - imagePullPolicy and imagePullSecrets have nothing to act on
//
// # A container's states
//
//	waiting --start--> starting --launched--> running --ended--> exited
//	   ^                  |                                        |
//	   +--can't start-----+                  back-off over, policy |
//	                      ^----------------------------------------+
package process
