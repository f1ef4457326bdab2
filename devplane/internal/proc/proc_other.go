//go:build !linux

package proc

import "syscall"

func childAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

func onStarterThread(start func() error) error { return start() }

// BecomeSubreaper does nothing: only Linux has subreapers.
func BecomeSubreaper() error { return nil }

// Descendants returns nothing: the processes of devplane end by the signals they are sent.
func Descendants(int) []int { return nil }

// KillDescendants does nothing.
func KillDescendants() {}

// KillAll does nothing.
func KillAll(func() []int) {}

// WithEnv returns nothing.
func WithEnv(string) []int { return nil }

// Alive reports whether a process exists.
func Alive(pid int) bool { return pid > 0 && syscall.Kill(pid, 0) == nil }

// Memory returns 0: not known.
func Memory(int) int64 { return 0 }
