package realnode

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"github.com/berthdev/berth/devplane/internal/proc"
)

// The images that real nodes have.
const (
	// PauseImage holds a pod's namespaces open.
	PauseImage = "docker.io/devplane/pause:1"
	// BusyboxImage has a shell and the usual commands. Pods call it devplane/busybox:1.
	BusyboxImage = "docker.io/devplane/busybox:1"
)

// image is a single-layer image.
type image struct {
	name       string
	entrypoint []string
	files      []file
}

type file struct {
	path string // without a leading slash
	mode int64
	data []byte
	link string // a symbolic link to this, if not empty
}

func (n *Node) writeImages() error {
	pause, err := os.ReadFile(n.pause)
	if err != nil {
		return err
	}
	busybox, err := busyboxImage()
	if err != nil {
		return err
	}
	images := []image{{name: PauseImage, entrypoint: []string{"/pause"}, files: []file{{path: "pause", mode: 0o755, data: pause}}}, busybox}
	for i, img := range images {
		data, err := img.archive()
		if err != nil {
			return err
		}
		if err := os.WriteFile(n.dir(fmt.Sprintf("image-%d.tar", i)), data, 0o600); err != nil {
			return err
		}
	}
	return nil
}

func busyboxImage() (image, error) {
	path, err := exec.LookPath("busybox")
	if err != nil {
		return image{}, err
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return image{}, err
	}
	applets, err := proc.Output(context.Background(), path, "--list")
	if err != nil {
		return image{}, err
	}
	img := image{name: BusyboxImage, files: []file{
		{path: "bin/busybox", mode: 0o755, data: data},
		{path: "etc/passwd", mode: 0o644, data: []byte("root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/sh\n")},
		{path: "etc/group", mode: 0o644, data: []byte("root:x:0:\nnogroup:x:65534:\n")},
		{path: "tmp/", mode: 0o1777}, {path: "root/", mode: 0o700}, {path: "usr/bin/", mode: 0o755},
	}}
	for _, a := range strings.Fields(string(applets)) {
		if a != "busybox" {
			img.files = append(img.files, file{path: "bin/" + a, link: "busybox"})
		}
	}
	return img, nil
}

// archive packs the image in the format of `docker save`, which containerd imports.
func (img image) archive() ([]byte, error) {
	layer, err := pack(img.files)
	if err != nil {
		return nil, err
	}
	diff := sum(layer)
	config, err := json.Marshal(map[string]any{
		"architecture": runtime.GOARCH, "os": "linux",
		"config": map[string]any{"Entrypoint": img.entrypoint, "Env": []string{"PATH=/bin:/usr/bin"}},
		"rootfs": map[string]any{"type": "layers", "diff_ids": []string{"sha256:" + diff}},
	})
	if err != nil {
		return nil, err
	}
	manifest, err := json.Marshal([]map[string]any{{
		"Config": sum(config) + ".json", "RepoTags": []string{img.name}, "Layers": []string{diff + "/layer.tar"},
	}})
	if err != nil {
		return nil, err
	}
	return pack([]file{
		{path: sum(config) + ".json", mode: 0o644, data: config},
		{path: diff + "/layer.tar", mode: 0o644, data: layer},
		{path: "manifest.json", mode: 0o644, data: manifest},
	})
}

func sum(b []byte) string {
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:])
}

func pack(files []file) ([]byte, error) {
	var b bytes.Buffer
	t := tar.NewWriter(&b)
	for _, f := range files {
		h := &tar.Header{Name: f.path, Mode: f.mode, Size: int64(len(f.data)), Typeflag: tar.TypeReg}
		switch {
		case f.link != "":
			h.Typeflag, h.Linkname, h.Mode = tar.TypeSymlink, f.link, 0o777
		case strings.HasSuffix(f.path, "/"):
			h.Typeflag = tar.TypeDir
		}
		if err := t.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := t.Write(f.data); err != nil {
			return nil, err
		}
	}
	err := t.Close()
	return b.Bytes(), err
}

// WaitContainerd returns when containerd answers.
func (n *Node) WaitContainerd(ctx context.Context) error {
	t := time.NewTicker(10 * time.Millisecond)
	defer t.Stop()
	for {
		c, err := net.Dial("unix", n.socket())
		if err == nil {
			return c.Close()
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for containerd of %s: %w", n.Name, context.Cause(ctx))
		case <-t.C:
		}
	}
}

// ImportImages makes the images known to containerd.
func (n *Node) ImportImages(ctx context.Context) error {
	for i := range 2 {
		_, err := proc.Output(ctx, "ctr", "--address", n.socket(), "--namespace", "k8s.io", "images", "import", n.dir(fmt.Sprintf("image-%d.tar", i)))
		if err != nil {
			return err
		}
	}
	return nil
}
