package cluster

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// identify reads the id that is in the environment of each of the devplane's processes, and in the
// names of its folders, mounts, cgroups and network devices.
func (c *Cluster) identify() error {
	data, err := os.ReadFile(filepath.Join(c.dir, "devplane.json"))
	if err != nil {
		return err
	}
	var instance struct{ ID string }
	if err := json.Unmarshal(data, &instance); err != nil {
		return err
	}
	if c.id = instance.ID; c.id == "" {
		return errors.New("devplane.json has no id: what is left of a devplane could not be told")
	}
	return nil
}

// leftovers is an error that names all that is still on the machine of a devplane that has ended.
func (c *Cluster) leftovers() error {
	if c.id == "" {
		return nil // it did not come up far enough to be told from others
	}
	left := append(processes(c.id), mounts(c.id, c.dir+"/")...)
	devices, _ := net.Interfaces()
	for _, d := range devices {
		if strings.Contains(d.Name, c.id) {
			left = append(left, "network device "+d.Name)
		}
	}
	if len(left) == 0 {
		return nil
	}
	return fmt.Errorf("devplane left behind:\n  %s", strings.Join(left, "\n  "))
}

// processes are those that have the word in their environment or command line. There are none where
// there is no /proc.
func processes(word string) []string {
	var found []string
	dirs, _ := os.ReadDir("/proc")
	for _, d := range dirs {
		if pid, err := strconv.Atoi(d.Name()); err != nil || pid == os.Getpid() {
			continue
		}
		environ, _ := os.ReadFile(filepath.Join("/proc", d.Name(), "environ"))
		command, _ := os.ReadFile(filepath.Join("/proc", d.Name(), "cmdline"))
		if strings.Contains(string(environ)+string(command), word) {
			found = append(found, "process "+d.Name()+": "+strings.ReplaceAll(string(command), "\x00", " "))
		}
	}
	return found
}

func mounts(words ...string) []string {
	var found []string
	data, _ := os.ReadFile("/proc/self/mountinfo")
	for line := range strings.Lines(string(data)) {
		for _, word := range words {
			if strings.Contains(line, word) {
				found = append(found, "mount "+strings.TrimSpace(line))
				break
			}
		}
	}
	return found
}
