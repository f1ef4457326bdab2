package local

import (
	"os"
	"strconv"
	"strings"
)

// Fields of /proc/PID/stat as proc_pid_stat(5) counts them from 1.
const (
	statState = 3
	statGroup = 5
	statStart = 22
)

// born tells a process from another one that gets its number later; "" if there is none. It is the time of its
// start since the machine's, and which start of the machine that was.
func born(pid int) string {
	fields := stat(strconv.Itoa(pid))
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if fields == nil || err != nil {
		return ""
	}
	return strings.TrimSpace(string(boot)) + " " + fields[statStart]
}

// anyAlive says whether a process of the group is more than a zombie.
func anyAlive(group int) bool {
	all, err := os.ReadDir("/proc")
	if err != nil {
		return true
	}
	for _, entry := range all {
		fields := stat(entry.Name())
		if fields != nil && fields[statGroup] == strconv.Itoa(group) && fields[statState] != "Z" && fields[statState] != "X" {
			return true
		}
	}
	return false
}

// stat gives the fields of a process; nil if there is none.
func stat(pid string) []string {
	if pid == "" || pid[0] < '1' || pid[0] > '9' {
		return nil
	}
	data, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return nil
	}
	text := string(data)
	// The name, which is in parentheses, may have anything in it.
	fields := append(make([]string, statState), strings.Fields(text[strings.LastIndexByte(text, ')')+1:])...)
	if len(fields) <= statStart {
		return nil
	}
	return fields
}
