package fit

import (
	"strconv"
	"strings"
)

// field is the path of a key below a field: nodeSelector."kubernetes.io/os". Keys that are not plain are
// quoted, as package placement has them.
func field(path, key string) string {
	if key == "" || strings.ContainsAny(key, `. []"\`) {
		key = strconv.Quote(key)
	}
	return path + "." + key
}
