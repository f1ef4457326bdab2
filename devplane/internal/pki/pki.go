// Package pki makes the certificates of one devplane: an authority, and what it signs. Keys are
// ECDSA P-256, and everything lasts ten years, which no devplane does.
//
// There are two authorities: one for Kubernetes and one for etcd, so that a client of the API
// server is nobody to etcd.
package pki

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// Authority signs certificates. It is safe for concurrent use.
type Authority struct {
	dir  string
	name string
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// Pair names the PEM files of a certificate and its key.
type Pair struct{ Cert, Key string }

// Subject is who a certificate is for.
type Subject struct {
	Name   string   // common name: Kubernetes' user
	Groups []string // organisations: Kubernetes' groups
	Hosts  []string // names and addresses of a server; a client has none
}

// New makes an authority and writes dir/NAME.crt. Its key stays in memory.
func New(dir, name string) (*Authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	t := template(pkix.Name{CommonName: "devplane-" + name})
	t.IsCA, t.BasicConstraintsValid = true, true
	t.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature
	der, err := x509.CreateCertificate(rand.Reader, t, t, key.Public(), key)
	if err != nil {
		return nil, err
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, err
	}
	a := &Authority{dir: dir, name: name, cert: cert, key: key}
	return a, writePEM(a.File(), "CERTIFICATE", der)
}

// File is the authority's certificate.
func (a *Authority) File() string { return filepath.Join(a.dir, a.name+".crt") }

// Issue writes dir/FILE.crt and dir/FILE.key for s.
func (a *Authority) Issue(file string, s Subject) (Pair, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return Pair{}, err
	}
	t := template(pkix.Name{CommonName: s.Name, Organization: s.Groups})
	t.KeyUsage = x509.KeyUsageDigitalSignature
	t.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	if len(s.Hosts) > 0 {
		t.ExtKeyUsage = append(t.ExtKeyUsage, x509.ExtKeyUsageServerAuth)
	}
	for _, h := range s.Hosts {
		if ip := net.ParseIP(h); ip != nil {
			t.IPAddresses = append(t.IPAddresses, ip)
		} else {
			t.DNSNames = append(t.DNSNames, h)
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, t, a.cert, key.Public(), a.key)
	if err != nil {
		return Pair{}, err
	}
	p := Pair{Cert: filepath.Join(a.dir, file+".crt"), Key: filepath.Join(a.dir, file+".key")}
	if err := writePEM(p.Cert, "CERTIFICATE", der); err != nil {
		return Pair{}, err
	}
	return p, writeKey(p.Key, key)
}

// SigningKey writes a key pair that signs ServiceAccount tokens: the private key to dir/FILE.key,
// the public one to dir/FILE.pub.
func SigningKey(dir, file string) (private, public string, err error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return "", "", err
	}
	private, public = filepath.Join(dir, file+".key"), filepath.Join(dir, file+".pub")
	if err := writeKey(private, key); err != nil {
		return "", "", err
	}
	der, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		return "", "", err
	}
	return private, public, writePEM(public, "PUBLIC KEY", der)
}

func template(name pkix.Name) *x509.Certificate {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		panic(err) // crypto/rand does not fail
	}
	return &x509.Certificate{
		SerialNumber: serial, Subject: name,
		// Begin in the past: parts compare with their own reading of the clock.
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().AddDate(10, 0, 0),
	}
}

func writeKey(path string, key *ecdsa.PrivateKey) error {
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return err
	}
	return writePEM(path, "EC PRIVATE KEY", der)
}

func writePEM(path, kind string, der []byte) error {
	return os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600)
}
