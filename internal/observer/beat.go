package observer

import (
	"crypto/sha256"
	"hash"
	"io"
	"time"

	v1 "github.com/berthdev/berth/api/observer/v1"
	"github.com/berthdev/berth/internal/observer/reduce"
)

// beat writes what is due.
func (o *Observer) beat() {
	now := o.options.Now()
	o.reload()
	o.mu.Lock()
	settled := o.settled
	o.mu.Unlock()
	if settled {
		o.structural(now)
	}
	c := o.coverage(now)
	o.metrics.showCoverage(c)
	o.write(v1.KindCoverage, now, true, func(w io.Writer) error { return v1.WriteCoverage(w, c) })
	o.mu.Lock()
	o.beaten = now
	o.mu.Unlock()
}

// reload takes over what of changed settings can be.
func (o *Observer) reload() {
	if o.options.Reload == nil {
		return
	}
	s, err := o.options.Reload()
	switch {
	case err != nil:
		o.failed(v1.ErrorConfig)
		o.options.Log.Error("the configuration has changed and is invalid; the former one stays", "why", err)
	case s != nil:
		former := o.settings
		taken := *former
		taken.Namespaces, taken.NodeLabels = s.Namespaces, s.NodeLabels
		o.settings, o.changed = &taken, true
		o.options.Log.Info("the configuration has changed: filters and node labels are read anew, all else takes a restart")
	}
}

// structural writes the payloads about the cluster that have changed, or are old.
func (o *Observer) structural(now time.Time) {
	old := now.Sub(o.looked) >= time.Duration(o.settings.Interval.Max)
	if o.collector.Version() == o.version && !o.changed && !old && len(o.last) > 0 {
		return
	}
	v := o.look()
	e := v1.NewEnvelope(v1.KindWorkloads, o.collector.ClusterID(), now)
	o.write(v1.KindWorkloads, now, old, func(w io.Writer) error { return v1.WriteWorkloads(w, e, v.EachRecord()) })
	e.Kind = v1.KindNodes
	o.write(v1.KindNodes, now, old, func(w io.Writer) error { return v1.WriteNodes(w, e, v.EachNode()) })
	if old && !o.changed {
		o.looked = now
	}
}

// look takes a view of the facts.
func (o *Observer) look() *reduce.View {
	v, version := o.collector.View(o.reduceOptions())
	o.version, o.changed, o.counts = version, false, v.Counts
	if o.options.Settings.Metrics.Listen != "" {
		o.metrics.show(v.Workloads())
	}
	return v
}

// write writes a payload if it has changed, or is to be written in any case.
func (o *Observer) write(kind string, now time.Time, always bool, encode func(io.Writer) error) {
	last, there := o.last[kind]
	var made written
	body := func(w io.Writer) (keep bool, err error) {
		p := &printer{to: w, hash: sha256.New()}
		err = encode(p)
		made = written{at: now, bytes: p.bytes, print: [32]byte(p.hash.Sum(nil))}
		return always || !there || made.print != last.print, err
	}
	kept, err := false, error(nil)
	if o.spool == nil {
		kept, err = body(io.Discard)
	} else {
		_, kept, err = o.spool.Write(kind, body)
	}
	if err != nil {
		o.failed(v1.ErrorSpool)
		o.options.Log.Error("a payload could not be written", "kind", kind, "why", err)
		clear(o.last) // whatever became of the folder, the next beat writes all of them again
		o.changed = true
	}
	if !kept {
		return
	}
	o.last[kind] = made
	o.metrics.wrote(kind, now)
	if o.pusher != nil {
		o.pusher.Notify(kind)
	}
}

// print writes the structural payloads to out.
func (o *Observer) print(out io.Writer, v *reduce.View) error {
	now, id := o.options.Now(), o.collector.ClusterID()
	p := &printer{to: out, hash: sha256.New()}
	if err := v1.WriteWorkloads(p, v1.NewEnvelope(v1.KindWorkloads, id, now), v.EachRecord()); err != nil {
		return err
	}
	o.last[v1.KindWorkloads] = written{bytes: p.bytes}
	p = &printer{to: out, hash: sha256.New()}
	if err := v1.WriteNodes(p, v1.NewEnvelope(v1.KindNodes, id, now), v.EachNode()); err != nil {
		return err
	}
	o.last[v1.KindNodes] = written{bytes: p.bytes}
	return nil
}

// printer counts what is written, and takes the fingerprint of all but the envelope. An envelope says when, and
// is written first and at once.
type printer struct {
	to    io.Writer
	hash  hash.Hash
	bytes int
}

func (p *printer) Write(data []byte) (int, error) {
	if p.bytes > 0 {
		p.hash.Write(data)
	}
	n, err := p.to.Write(data)
	p.bytes += n
	return n, err
}
