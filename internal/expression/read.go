package expression

// Read is something that an expression reads.
type Read struct {
	Root   string // params, matrix, run, steps or "", which is a status function
	Name   string // of the parameter, axis, fact or step; success, failure or always
	Output string // of the step, "" for its status
}

// String is how a source names it.
func (r Read) String() string {
	switch {
	case r.Root == "":
		return r.Name + "()"
	case r.Root != "steps":
		return r.Root + member(r.Name)
	case r.Output == "":
		return r.Root + member(r.Name) + ".status"
	default:
		return r.Root + member(r.Name) + ".outputs" + member(r.Output)
	}
}

// member is a name after what it is a part of.
func member(name string) string {
	for i, c := range name {
		if !isWord(c) || i == 0 && c >= '0' && c <= '9' {
			return `["` + name + `"]`
		}
	}
	return "." + name
}

// late says whether it is known only when the step starts.
func (r Read) late() bool {
	return r.Root == "" || r.Root == "steps" || r.Root == "run" && (r.Name == "id" || r.Name == "started_at")
}

// roots are what names begin with, in the order in which messages list them.
var roots = []string{"params", "matrix", "run", "steps"}

// variable is the variable that holds what is read, and its key there. The variable of an axis has the
// axis's type after it.
func variable(read Read) (name, key string) {
	switch {
	case read.Root == "params":
		return paramsVar, read.Name
	case read.Root == "matrix":
		return matrixVar, read.Name
	case read.Root == "run" && read.Name == "started_at":
		return timeVar, read.Name
	case read.Root == "run":
		return runVar, read.Name
	case read.Output == "":
		return statusVar, read.Name
	default:
		return outputsVar, read.Name + "." + read.Output
	}
}
