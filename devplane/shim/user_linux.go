package main

import (
	"fmt"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/berthdev/berth/devplane/internal/agent/shimspec"
)

// dropCapabilities reduces the bounding set to the spec's. That is enough: executing a program
// as root yields the bounding set and as another user yields none, once the inheritable set is
// empty.
func dropCapabilities(spec *shimspec.Spec) error {
	for c := 0; c <= unix.CAP_LAST_CAP; c++ {
		if slices.Contains(spec.Capabilities, c) {
			continue
		}
		// EINVAL: a capability that this kernel does not know yet.
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, uintptr(c), 0, 0, 0); err != nil && err != unix.EINVAL {
			return fmt.Errorf("dropping capability %d: %w", c, err)
		}
	}
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return fmt.Errorf("clearing ambient capabilities: %w", err)
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if err := unix.Capget(&header, &data[0]); err != nil {
		return fmt.Errorf("reading capabilities: %w", err)
	}
	data[0].Inheritable, data[1].Inheritable = 0, 0
	if err := unix.Capset(&header, &data[0]); err != nil {
		return fmt.Errorf("clearing inheritable capabilities: %w", err)
	}
	return nil
}

// becomeUser changes the user and what goes with it.
func becomeUser(spec *shimspec.Spec) error {
	groups := make([]int, len(spec.Groups))
	for i, g := range spec.Groups {
		groups[i] = int(g)
	}
	if err := unix.Setgroups(groups); err != nil {
		return fmt.Errorf("setting groups: %w", err)
	}
	if err := unix.Setresgid(int(spec.GID), int(spec.GID), int(spec.GID)); err != nil {
		return fmt.Errorf("setting the group: %w", err)
	}
	if err := unix.Setresuid(int(spec.UID), int(spec.UID), int(spec.UID)); err != nil {
		return fmt.Errorf("setting the user: %w", err)
	}
	// The kernel forgets the parent-death signal when the user changes.
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0); err != nil {
		return fmt.Errorf("setting the parent-death signal: %w", err)
	}
	if spec.NoNewPrivs {
		if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
			return fmt.Errorf("setting no_new_privs: %w", err)
		}
	}
	return nil
}
