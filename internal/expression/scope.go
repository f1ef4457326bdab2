package expression

import "time"

// Type is the type of a value, as messages name it.
type Type string

const (
	String    Type = "string"
	Int       Type = "int"
	Double    Type = "double"
	Bool      Type = "bool"
	List      Type = "list"
	Map       Type = "map"
	Timestamp Type = "timestamp"
	Dyn       Type = "dyn" // known only when it is evaluated
)

// Scope is what the expressions of a text may use. Where Steps is nil, nothing of a step may be used
// there; where Matrix is, neither parameters nor axes. Where they are empty, there is only none.
type Scope struct {
	Where    string          // how messages name the place: "placement fields"
	Params   []string        // names of the declared parameters, which are strings
	Matrix   map[string]Type // axes
	Run      []string        // facts: some of id, pipeline, environment, started_at
	Steps    map[string]Step // those whose status and outputs are known: what the step needs
	AllSteps []string        // names of all steps of the pipeline, to tell "not needed" from "no such step"
	Status   bool            // success(), failure() and always() may be called
}

// Step is what an expression may read of a step.
type Step struct {
	Outputs []string
	Matrix  bool // it has a status only
}

// Values is what expressions are evaluated with. A parameter or output that is declared but absent
// reads as "", and has() of it is false; an axis that is absent is an error, unless has() asked.
type Values struct {
	Params map[string]string
	Matrix map[string]any // string, int64, float64, bool, []any, map[string]any
	Run    Run
	Steps  map[string]StepValue

	Allowance *Allowance // what many evaluations share; nil: each text is bounded alone

	Success bool // all that the step needs succeeded
	Failure bool // some of what it needs failed
}

// Allowance bounds the work of many evaluations together, such as those of all steps of a run.
type Allowance struct {
	spent uint64
}

// spend says whether there is so much left. The zero Allowance has MostOfAll, and nil has no end.
func (a *Allowance) spend(units uint64) bool {
	if a == nil {
		return true
	}
	a.spent += units
	return a.spent <= MostOfAll
}

// Run is the facts of a run.
type Run struct {
	ID, Pipeline, Environment string
	StartedAt                 time.Time
}

// StepValue is what a step came to.
type StepValue struct {
	Status  string
	Outputs map[string]string
}

// runFacts are all the facts of a run, in the order in which messages list them.
var runFacts = []string{"id", "pipeline", "environment", "started_at"}
