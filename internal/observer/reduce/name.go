package reduce

import "unique"

// Name is a string that many facts share. Its zero value is not valid.
type Name = unique.Handle[string]

func name(s string) Name { return unique.Make(s) }

var none = name("")
