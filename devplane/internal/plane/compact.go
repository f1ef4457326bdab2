package plane

import (
	"context"
	"fmt"
	"time"

	"github.com/berthdev/berth/devplane/internal/controlplane"
)

// compact drops etcd's history up to now and restarts the API server, whose watch cache holds a
// history of its own and would go on serving from it. After that a watch or a list that names an
// older resource version is answered with 410 Gone.
func (p *Plane) compact(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	revision, err := p.cp.Compact(ctx)
	if err != nil {
		return fmt.Errorf("compact etcd: %w", err)
	}
	apiserver := p.part(controlplane.APIServer)
	apiserver.Kill()
	if err := apiserver.Start(); err != nil {
		return err
	}
	p.say(fmt.Sprintf("fault: compact (etcd revision %d)", revision))
	return p.cp.WaitAPIServer(ctx)
}
