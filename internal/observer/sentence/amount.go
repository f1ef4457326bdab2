package sentence

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	observer "github.com/berthdev/berth/api/observer/v1"
)

// amounts says quantities as people write them: 1.5 cpu, 2 GiB memory, 1 nvidia.com/gpu.
func amounts(q observer.Quantities) string {
	var all []string
	for _, key := range slices.Sorted(maps.Keys(q)) {
		switch name, unit := key, q[key]; {
		case strings.HasSuffix(name, "_milli"):
			all = append(all, strconv.FormatFloat(float64(unit)/1000, 'f', -1, 64)+" "+strings.TrimSuffix(name, "_milli"))
		case strings.HasSuffix(name, "_bytes"):
			all = append(all, size(unit)+" "+strings.TrimSuffix(name, "_bytes"))
		default:
			all = append(all, fmt.Sprintf("%d %s", unit, name))
		}
	}
	return list(all, "and")
}

// size is a number of bytes in the largest unit of which there is one.
func size(n int64) string {
	units := []string{"bytes", "KiB", "MiB", "GiB", "TiB", "PiB"}
	v, i := float64(n), 0
	for v >= 1024 && i < len(units)-1 {
		v /= 1024
		i++
	}
	return strings.TrimSuffix(strings.TrimSuffix(strconv.FormatFloat(v, 'f', 2, 64), "0"), ".0") + " " + units[i]
}

// asks says what a container or a pod asks for.
func asks(r *observer.Resources) string {
	if r == nil {
		return "asks for no resources"
	}
	var all []string
	if len(r.Requests) > 0 {
		all = append(all, "asks for "+amounts(r.Requests))
	}
	if len(r.Limits) > 0 {
		all = append(all, "may use at most "+amounts(r.Limits))
	}
	return strings.Join(all, "; ")
}

// counted says how many of each: "2 on large-a".
func counted(all map[string]int, format string) string {
	var parts []string
	for _, key := range slices.Sorted(maps.Keys(all)) {
		parts = append(parts, fmt.Sprintf(format, all[key], key))
	}
	return list(parts, "and")
}
