//go:build !linux

package realnode

import (
	"errors"

	"github.com/berthdev/berth/devplane/internal/instance"
	corev1 "k8s.io/api/core/v1"
)

var errLinux = errors.New("real nodes need Linux")

// Machine is unknown outside Linux.
func Machine() corev1.ResourceList { return nil }

func addBridge(string, string) error { return errLinux }

func (n *Node) cgroup() string { return "" }

func makeCgroups(string) error { return errLinux }

// Kill does nothing outside Linux, where no real node runs.
func (n *Node) Kill() {}

// Sweep does nothing outside Linux.
func Sweep(*instance.Instance) error { return nil }
