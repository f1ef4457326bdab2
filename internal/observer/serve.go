package observer

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Serve answers /metrics, /healthz and /readyz until the context ends.
func (o *Observer) Serve(ctx context.Context, l net.Listener) error {
	server := &http.Server{Handler: o.handler(), ReadHeaderTimeout: 10 * time.Second, ReadTimeout: time.Minute}
	stop := context.AfterFunc(ctx, func() {
		late, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		_ = server.Shutdown(late)
	})
	defer stop()
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

func (o *Observer) handler() http.Handler {
	registry := prometheus.NewRegistry()
	registry.MustRegister(o.metrics, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{MaxRequestsInFlight: 2}))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { answer(w, o.healthy()) })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) { answer(w, o.ready()) })
	return mux
}

func answer(w http.ResponseWriter, err error) {
	if err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	fmt.Fprintln(w, "ok")
}

// healthy is an error if coverage is not written any more.
func (o *Observer) healthy() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	last := o.beaten
	if last.IsZero() {
		last = o.since
	}
	if late := o.options.Now().Sub(last); late > 3*time.Duration(o.options.Settings.Interval.Min) {
		return fmt.Errorf("no coverage for %s", late.Round(time.Second))
	}
	return nil
}

// ready is an error until the cluster has been seen as a whole.
func (o *Observer) ready() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.settled {
		return errors.New("the cluster has not been seen as a whole yet")
	}
	return nil
}
