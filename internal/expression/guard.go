package expression

import (
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/cost"
	"cel.dev/cel-go/common/decls"
	"cel.dev/cel-go/common/functions"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
)

// CEL counts what evaluating takes after each call, which is soon enough where a call takes no more than
// a few times what its arguments hold. Two functions multiply, and could fill all memory in one call:
// replace() and join(). They are asked beforehand.

// sizes is how the size of a value is measured: all that is in it, and a list in a list each time it is
// there. A value with more than that many parts is too large.
func sizes() []types.SizeCalculatorOption {
	return []types.SizeCalculatorOption{types.SizeCalculatorMaxDepth(MostNesting), types.SizeCalculatorMaxTraversal(mostParts)}
}

// bounded are the bounds of evaluating.
func bounded() []cel.ProgramOption {
	return []cel.ProgramOption{
		cel.EvalOptions(cel.OptOptimize), // also finds constants that can't be
		cel.CostLimit(MostCost),
		cel.MemoryTracking(types.MemoryTrackerSizeCalculator(types.NewSizeCalculator(sizes()...))),
		cel.MemoryLimit(MostResult / bytesPerUnit),
	}
}

func costBySize() cel.EnvOption {
	return cel.CostSizingStrategy(cost.AggregateSizingStrategy(sizes()...))
}

// guarded declares the functions that multiply once more, with a bound.
func guarded(env *cel.Env) ([]cel.EnvOption, error) {
	var out []cel.EnvOption
	for name, size := range map[string]func([]ref.Val) int{"replace": replaced, "join": joined} {
		function := env.Functions()[name]
		bindings, err := function.Bindings()
		if err != nil {
			return nil, err
		}
		for _, overload := range function.OverloadDecls() {
			for _, binding := range bindings {
				if binding.Operator == overload.ID() {
					out = append(out, cel.Function(name, guard(overload, binding, size)))
				}
			}
		}
	}
	return out, nil
}

// guard is an overload that is called only if what it will yield is not too large.
func guard(overload *decls.OverloadDecl, binding *functions.Overload, size func([]ref.Val) int) decls.FunctionOpt {
	call := func(args ...ref.Val) ref.Val {
		switch {
		case size(args) > MostResult:
			return types.WrapErr(errTooLarge)
		case binding.Unary != nil && len(args) == 1:
			return binding.Unary(args[0])
		case binding.Binary != nil && len(args) == 2:
			return binding.Binary(args[0], args[1])
		default:
			return binding.Function(args...)
		}
	}
	option := decls.FunctionBinding(call)
	switch len(overload.ArgTypes()) {
	case 1:
		option = decls.UnaryBinding(func(v ref.Val) ref.Val { return call(v) })
	case 2:
		option = decls.BinaryBinding(func(v, w ref.Val) ref.Val { return call(v, w) })
	}
	return decls.MemberOverload(overload.ID(), overload.ArgTypes(), overload.ResultType(), option)
}

// replaced is how long TEXT.replace(OLD, NEW) becomes at most.
func replaced(args []ref.Val) int {
	text, _ := args[0].(types.String)
	old, _ := args[1].(types.String)
	by, _ := args[2].(types.String)
	return len(text) + strings.Count(string(text), string(old))*len(by)
}

// joined is how long LIST.join(SEPARATOR) becomes.
func joined(args []ref.Val) int {
	list, ok := args[0].(traits.Lister)
	if !ok {
		return 0
	}
	size := 0
	for it := list.Iterator(); it.HasNext() == types.True; {
		item, _ := it.Next().(types.String)
		size += len(item)
	}
	if len(args) > 1 {
		separator, _ := args[1].(types.String)
		count, _ := list.Size().(types.Int)
		size += int(count) * len(separator)
	}
	return size
}
