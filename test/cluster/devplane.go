package cluster

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
)

// Environment variables that say what to test with.
const (
	DevplaneKey   = "BERTH_DEVPLANE"        // the devplane program
	KubeconfigKey = "BERTH_TEST_KUBECONFIG" // a cluster that is there already
)

// devplane finds the program, building it if need be, which takes seconds if it was built before.
var devplane = sync.OnceValues(func() (string, error) {
	if path := os.Getenv(DevplaneKey); path != "" {
		return path, nil
	}
	module, err := module()
	if err != nil {
		return "", err
	}
	cmd := exec.Command("go", "run", "./build")
	cmd.Dir, cmd.Stderr = module, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("build devplane: %w", err)
	}
	return filepath.Join(strings.TrimSpace(string(out)), "devplane"), nil
})

// module is the folder of devplane's module, in the checkout that the test runs in.
func module() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		found := filepath.Join(dir, "devplane")
		if _, err := os.Stat(filepath.Join(found, "go.mod")); err == nil {
			return found, nil
		}
		if dir == filepath.Dir(dir) {
			return "", errors.New("no devplane module in any folder above the test's; say where the program is with " + DevplaneKey)
		}
		dir = filepath.Dir(dir)
	}
}

// CanReal says whether nodes of the kind real run here. On such a machine a devplane does not start
// without those that its node file has; elsewhere process nodes take their place.
func CanReal() bool { return runtime.GOOS == "linux" && os.Geteuid() == 0 }
