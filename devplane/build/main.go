// Command build compiles devplane, with Kubernetes in it, and keeps what it made.
//
//	go -C devplane run ./build
//
// It prints the folder with the programs devplane, shim and pause, and nothing else, to stdout.
// It promises that a second build of the same sources compiles nothing, that a folder which it
// prints is complete, and that of several builds at once only one does the work.
//
// The folder is ${BERTH_CACHE:-${XDG_CACHE_HOME:-~/.cache}/berth}/devplane/KEY, where KEY is a
// hash of all that goes into the programs. The three last used are kept. Compiled packages are
// in Go's own build cache, as with every go command, so that go test finds them there.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	dir, err := build(ctx, ".", os.Getenv, os.Stderr)
	switch {
	case err == nil:
		fmt.Println(dir)
	case ctx.Err() != nil:
		fmt.Fprintln(os.Stderr, "devplane: build interrupted; the next one goes on from what Go has compiled")
		os.Exit(130)
	default:
		fmt.Fprintln(os.Stderr, "devplane:", err)
		os.Exit(1)
	}
}

// build returns the folder with the programs of the module in source, making it if need be.
func build(ctx context.Context, source string, getenv func(string) string, stderr io.Writer) (string, error) {
	gomod, err := os.ReadFile(filepath.Join(source, "go.mod"))
	if err != nil {
		return "", fmt.Errorf("no devplane module here; run: go -C devplane run ./build (%w)", err)
	}
	module, err := parseGoMod(string(gomod))
	if err != nil {
		return "", err
	}
	if _, err := exec.LookPath("go"); err != nil {
		return "", errors.New("no Go toolchain: install Go 1.26 or newer and put it on PATH")
	}
	tool, err := goEnv(ctx, source)
	if err != nil {
		return "", err
	}
	key, err := key(os.DirFS(source), append(tool, module.buildArgs()...))
	if err != nil {
		return "", err
	}
	cache, err := openCache(getenv)
	if err != nil {
		return "", err
	}
	dir := cache.entry(key)
	if complete(dir) {
		touch(dir)
		return dir, nil
	}
	unlock, err := cache.lock(ctx, func() {
		fmt.Fprintln(stderr, "devplane: another build is going on; waiting for it to end")
	})
	if err != nil {
		return "", err
	}
	defer unlock()
	if complete(dir) { // by the build that held the lock
		touch(dir)
		return dir, nil
	}
	err = cache.fill(key, func(temp string) error { return compile(ctx, source, temp, module, stderr) })
	if err != nil {
		return "", err
	}
	cache.prune()
	return dir, nil
}
