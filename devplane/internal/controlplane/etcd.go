package controlplane

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
)

// Compact makes etcd forget every revision before the present one, which it returns.
func (p *Plane) Compact(ctx context.Context) (int64, error) {
	pair, err := tls.LoadX509KeyPair(p.etcdClient.Cert, p.etcdClient.Key)
	if err != nil {
		return 0, err
	}
	ca, err := os.ReadFile(p.etcdCA.File())
	if err != nil {
		return 0, err
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(ca) {
		return 0, fmt.Errorf("%s holds no certificate", p.etcdCA.File())
	}
	client, err := clientv3.New(clientv3.Config{
		Context: ctx, Endpoints: []string{p.EtcdURL()}, Logger: zap.NewNop(),
		TLS: &tls.Config{Certificates: []tls.Certificate{pair}, RootCAs: roots, MinVersion: tls.VersionTLS12},
	})
	if err != nil {
		return 0, err
	}
	defer client.Close()
	now, err := client.Get(ctx, "/")
	if err != nil {
		return 0, err
	}
	_, err = client.Compact(ctx, now.Header.Revision, clientv3.WithCompactPhysical())
	return now.Header.Revision, err
}
