package expression

import (
	"slices"

	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/types"

	"github.com/berthdev/berth/internal/finding"
)

// reader finds what an expression reads, and puts a variable of the environment in each place.
type reader struct {
	axes  map[string]Type
	reads []Read
	loops int       // macros so far
	depth int       // macros that this part is in
	wrong []Problem // that make the expression unfit for checking
}

var factory = ast.NewExprFactory()

// expr replaces what is read in an expression and in all of its parts.
func (r *reader) expr(e ast.Expr) {
	switch e.Kind() {
	case ast.IdentKind:
		if root := e.AsIdent(); slices.Contains(roots, root) {
			r.whole(root)
		}
	case ast.SelectKind:
		r.path(e)
	case ast.CallKind:
		r.call(e)
	case ast.ListKind:
		for _, item := range e.AsList().Elements() {
			r.expr(item)
		}
	case ast.MapKind:
		for _, entry := range e.AsMap().Entries() {
			r.expr(entry.AsMapEntry().Key())
			r.expr(entry.AsMapEntry().Value())
		}
	case ast.StructKind:
		for _, field := range e.AsStruct().Fields() {
			r.expr(field.AsStructField().Value())
		}
	case ast.ComprehensionKind:
		r.loop(e.AsComprehension())
	}
}

// loop reads what a macro such as exists expands to.
func (r *reader) loop(loop ast.ComprehensionExpr) {
	r.loops++
	r.depth++
	defer func() { r.depth-- }()
	if r.depth == MostLoops+1 {
		r.wrong = append(r.wrong, problem(finding.TooLarge, "compute it in a script",
			"more than %d macros such as map and exists, in or after each other", MostLoops))
	}
	for _, name := range []string{loop.IterVar(), loop.IterVar2()} {
		if slices.Contains(roots, name) {
			r.fault("call the variable something else", "%s can't be the name of a variable: it would hide what is known here", name)
		}
	}
	for _, part := range []ast.Expr{loop.IterRange(), loop.AccuInit(), loop.LoopCondition(), loop.LoopStep(), loop.Result()} {
		r.expr(part)
	}
}

func (r *reader) call(e ast.Expr) {
	call := e.AsCall()
	if call.FunctionName() == operators.Index {
		r.path(e)
		return
	}
	if call.IsMemberFunction() {
		r.expr(call.Target())
	}
	for _, arg := range call.Args() {
		r.expr(arg)
	}
	name := call.FunctionName()
	if call.IsMemberFunction() || name != "success" && name != "failure" && name != "always" {
		return
	}
	if len(call.Args()) > 0 {
		r.fault("write "+name+"()", "%s() takes no argument: it is about all that the step needs", name)
		return
	}
	r.reads = append(r.reads, Read{Name: name})
	switch name {
	case "success":
		e.SetKindCase(factory.NewIdent(e.ID(), successVar))
	case "failure":
		e.SetKindCase(factory.NewIdent(e.ID(), failureVar))
	default:
		e.SetKindCase(factory.NewLiteral(e.ID(), types.True))
	}
}

// path reads a.b.c and a["b"].c. What is after the name of the thing that is read stays as it is.
func (r *reader) path(e ast.Expr) {
	links, root := unlink(e)
	if root.Kind() != ast.IdentKind || !slices.Contains(roots, root.AsIdent()) {
		r.expr(root)
		for _, l := range links {
			r.index(l)
		}
		return
	}
	read := Read{Root: root.AsIdent()}
	used := r.resolve(&read, links)
	for _, l := range links[min(max(used, 0), len(links)):] {
		r.index(l)
	}
	if used <= 0 {
		return
	}
	r.reads = append(r.reads, read)
	holder, key := variable(read)
	if holder == matrixVar {
		holder += string(r.axis(read.Name))
	}
	if at := links[used-1]; at.given {
		at.expr.SetKindCase(factory.NewPresenceTest(at.expr.ID(), factory.NewIdent(root.ID(), givenVar), read.String()))
	} else {
		at.expr.SetKindCase(factory.NewSelect(at.expr.ID(), factory.NewIdent(root.ID(), holder), key))
	}
}

// index reads what is in the brackets of a link that names nothing.
func (r *reader) index(l link) {
	if l.dynamic != nil {
		r.expr(l.dynamic)
	}
}

// resolve fills a Read from the links after its root, and says how many it took; 0 if something is wrong.
func (r *reader) resolve(read *Read, links []link) int {
	if len(links) == 0 || links[0].dynamic != nil {
		r.whole(read.Root)
		return 0
	}
	read.Name = links[0].name
	if read.Root != "steps" {
		return 1
	}
	step := read.Root + member(read.Name)
	const fix = "write %s.status, or %s.outputs.NAME"
	switch {
	case len(links) == 1 || links[1].dynamic != nil:
		r.fault(sprintf(fix, step, step), "%s is a step, which has no value of its own", step)
	case links[1].name == "status":
		return 2
	case links[1].name != "outputs":
		r.fault(sprintf(fix, step, step), "%s has no %s: a step has a status and outputs", step, links[1].name)
	case len(links) == 2 || links[2].dynamic != nil:
		r.fault("name the output: "+step+".outputs.NAME", "%s.outputs has no value as a whole: outputs are named one by one", step)
	default:
		read.Output = links[2].name
		return 3
	}
	return 0
}

// whole reports that a root is used without the name of one of its things.
func (r *reader) whole(root string) {
	thing := map[string]string{"params": "parameter", "matrix": "axis", "run": "fact", "steps": "step"}[root]
	r.fault(sprintf("name the %s: %s.NAME, or %s[\"NAME\"]", thing, root, root),
		"%s has no value as a whole: what an expression reads is named, not computed", root)
}

// axis is the type of an axis, Dyn for one that is not known, which is reported elsewhere.
func (r *reader) axis(name string) Type {
	if t := r.axes[name]; axisTypes[t] != nil {
		return t
	}
	return Dyn
}
