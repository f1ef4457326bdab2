package agent

import (
	"fmt"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/berthdev/berth/devplane/internal/nodefile"
)

// Config is all that an agent needs.
type Config struct {
	// Kubeconfig is the path of the client credentials, of one user for all nodes.
	Kubeconfig string `json:"kubeconfig"`
	// Dir holds the pods' volumes and logs. It is the agent's alone.
	Dir string `json:"dir"`
	// Shim is the path of the compiled shim.
	Shim string `json:"shim"`
	// ClientCAFile says who may call the kubelet endpoint: clients with a certificate of this CA
	// whose common name is that of the API server.
	ClientCAFile string `json:"client_ca_file"`
	// CertFile and KeyFile are the endpoint's own; Address must be among the certificate's names.
	CertFile string `json:"cert_file"`
	KeyFile  string `json:"key_file"`
	// Address is that of all nodes, their pods, and the endpoint.
	Address string          `json:"address"`
	Nodes   []nodefile.Node `json:"nodes"`
	// Control is the path of the unix socket on which nodes are killed and started.
	Control string `json:"control"`
	// LeaseDuration is how long a node's lease is good for (whole seconds, at least one), and
	// HeartbeatEvery how often it is renewed.
	LeaseDuration  time.Duration `json:"lease_duration"`
	HeartbeatEvery time.Duration `json:"heartbeat_every"`
}

// client makes the one client of all nodes.
func (c *Config) client() (*rest.Config, kubernetes.Interface, error) {
	config, err := clientcmd.BuildConfigFromFlags("", c.Kubeconfig)
	if err != nil {
		return nil, nil, fmt.Errorf("agent: reading the kubeconfig: %w", err)
	}
	// One client serves what are hundreds of kubelets elsewhere, each with limits of its own. With
	// the default of 5 requests per second a benchmark would measure this number and nothing else.
	config.QPS, config.Burst = 2000, 4000
	config.ContentType = "application/vnd.kubernetes.protobuf"
	config.AcceptContentTypes = config.ContentType + ",application/json"
	config.UserAgent = "devplane-nodes"
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, nil, fmt.Errorf("agent: making the client: %w", err)
	}
	return config, client, nil
}
