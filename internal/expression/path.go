package expression

import (
	"slices"

	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/types"
)

// link is one .name or ["name"] of a path, or one [dynamic].
type link struct {
	expr    ast.Expr
	name    string
	dynamic ast.Expr
	given   bool // has() asks for it
}

// unlink takes a path apart, from its beginning.
func unlink(e ast.Expr) (links []link, root ast.Expr) {
	for {
		switch {
		case e.Kind() == ast.SelectKind:
			s := e.AsSelect()
			links = append(links, link{expr: e, name: s.FieldName(), given: s.IsTestOnly()})
			e = s.Operand()
			continue
		case e.Kind() == ast.CallKind && e.AsCall().FunctionName() == operators.Index && len(e.AsCall().Args()) == 2:
			args := e.AsCall().Args()
			l := link{expr: e}
			if name, ok := args[1].AsLiteral().(types.String); ok && args[1].Kind() == ast.LiteralKind {
				l.name = string(name)
			} else {
				l.dynamic = args[1]
			}
			links = append(links, l)
			e = args[0]
			continue
		}
		slices.Reverse(links)
		return links, e
	}
}
