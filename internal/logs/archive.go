package logs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strconv"

	"gocloud.dev/blob"
	_ "gocloud.dev/blob/fileblob" // file://
	"gocloud.dev/gcerrors"

	"github.com/berthdev/berth/internal/executor"
	"github.com/berthdev/berth/internal/run"
)

// None is the URL of an archive that keeps nothing.
const None = "none"

// Archive is where the logs of ended attempts stay: RUN/STEP-ATTEMPT.log each. It may be used by several
// goroutines at once, and be read by other processes while it is written to.
type Archive struct {
	bucket *blob.Bucket // nil: keeps nothing
	spool  string       // folder
}

// FileURL is the URL of an archive in a folder.
func FileURL(folder string) string {
	return (&url.URL{Scheme: "file", Path: filepath.ToSlash(folder)}).String()
}

// Open opens an archive: a folder, which is made if need be, or None. What is read is spooled in another folder
// until it is complete.
func Open(ctx context.Context, location, spool string) (*Archive, error) {
	if location == None {
		return &Archive{spool: spool}, nil
	}
	u, err := url.Parse(location)
	if err != nil || u.Scheme != "file" || u.Host != "" || !path.IsAbs(u.Path) {
		return nil, fmt.Errorf("logs can't be kept at %q: write file:///FOLDER, or none", location)
	}
	// No files beside the logs, and none in another file system, from which they could not be moved at once.
	u.RawQuery = "create_dir=1&dir_file_mode=0700&metadata=skip&no_tmp_dir=1"
	bucket, err := blob.OpenBucket(ctx, u.String())
	if err != nil {
		return nil, fmt.Errorf("logs can't be kept at %s: %w", location, err)
	}
	return &Archive{bucket: bucket, spool: spool}, nil
}

// Close closes the archive.
func (a *Archive) Close() error {
	if a.bucket == nil {
		return nil
	}
	return a.bucket.Close()
}

func key(ref run.Ref) string {
	return path.Join(ref.Run, ref.Step+"-"+strconv.Itoa(ref.Attempt)+".log")
}

// Keep reads a log to its end and keeps it, in the place of one that was kept before. After an error what was
// kept before is still there, and nothing else.
func (a *Archive) Keep(ctx context.Context, ref run.Ref, r io.Reader) error {
	if a.bucket == nil {
		return nil
	}
	s := newSpool(a.spool)
	defer s.release()
	if _, err := s.ReadFrom(r); err != nil {
		return err
	}
	return a.store(ctx, ref, s)
}

// store keeps what a spool has.
func (a *Archive) store(ctx context.Context, ref run.Ref, s *spool) error {
	if a.bucket == nil {
		return nil
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	w, err := a.bucket.NewWriter(ctx, key(ref), &blob.WriterOptions{ContentType: "text/plain; charset=utf-8", BeforeWrite: private})
	if err != nil {
		return err
	}
	if err := s.writeTo(w); err != nil {
		cancel() // closed after that, it takes back what was written
		return errors.Join(err, w.Close())
	}
	return w.Close()
}

// private keeps a file from others.
func private(as func(any) bool) error {
	var f *os.File
	if as(&f) {
		return f.Chmod(0o600)
	}
	return nil
}

// Read gives a log that was kept. The error is executor.ErrNoLog if there is none.
func (a *Archive) Read(ctx context.Context, ref run.Ref) (io.ReadCloser, error) {
	if a.bucket == nil {
		return nil, executor.ErrNoLog
	}
	r, err := a.bucket.NewReader(ctx, key(ref), nil)
	switch {
	case gcerrors.Code(err) == gcerrors.NotFound:
		return nil, executor.ErrNoLog
	case err != nil:
		return nil, err
	}
	return r, nil
}

// Has says whether a log was kept.
func (a *Archive) Has(ctx context.Context, ref run.Ref) (bool, error) {
	if a.bucket == nil {
		return false, nil
	}
	return a.bucket.Exists(ctx, key(ref))
}
