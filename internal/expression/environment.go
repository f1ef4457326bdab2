package expression

import (
	"fmt"
	"slices"
	"sync"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/checker"
	"cel.dev/cel-go/common/containers"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/ext"
	"cel.dev/cel-go/parser"
)

// Variables that names in the source are replaced with. No name in a source can begin with @.
const (
	paramsVar  = "@params"
	statusVar  = "@status"  // of steps
	outputsVar = "@outputs" // by "STEP.OUTPUT": neither has a dot
	runVar     = "@run"
	timeVar    = "@time"   // facts of the run that are times
	matrixVar  = "@matrix" // with the type of the axis after it
	givenVar   = "@given"  // what has() finds, by ref.String
	successVar = "@success"
	failureVar = "@failure"
)

// axisTypes are the types that an axis may have; any other is Dyn.
var axisTypes = map[Type]*cel.Type{
	String: cel.StringType, Int: cel.IntType, Double: cel.DoubleType, Bool: cel.BoolType,
	List: cel.ListType(cel.DynType), Map: cel.MapType(cel.StringType, cel.DynType), Dyn: cel.DynType,
}

// environment is CEL as Berth has it. The stages are called one by one because names are replaced
// between parsing and checking; the parser is the one that fails early on bad input.
type environment struct {
	env       *cel.Env
	parser    *parser.Parser
	checker   *checker.Env
	functions []string // for near misses
}

// theEnvironment is made once, and only read from then on.
var theEnvironment = sync.OnceValue(func() *environment {
	e, err := newEnvironment()
	if err != nil {
		panic(fmt.Sprintf("expression: the environment of CEL does not fit together: %v", err))
	}
	return e
})

func newEnvironment() (*environment, error) {
	texts := cel.MapType(cel.StringType, cel.StringType)
	options := []cel.EnvOption{
		ext.Strings(ext.StringsMaxPrecision(100)),
		cel.RegexProgramSizeLimit(1000),
		costBySize(),
		cel.Variable(successVar, cel.BoolType),
		cel.Variable(failureVar, cel.BoolType),
		cel.Variable(paramsVar, texts),
		cel.Variable(statusVar, texts),
		cel.Variable(outputsVar, texts),
		cel.Variable(runVar, texts),
		cel.Variable(timeVar, cel.MapType(cel.StringType, cel.TimestampType)),
		cel.Variable(givenVar, cel.MapType(cel.StringType, cel.BoolType)),
	}
	for name, t := range axisTypes {
		options = append(options, cel.Variable(matrixVar+string(name), cel.MapType(cel.StringType, t)))
	}
	env, err := cel.NewEnv(options...)
	if err != nil {
		return nil, err
	}
	guards, err := guarded(env)
	if err != nil {
		return nil, err
	}
	if env, err = env.Extend(guards...); err != nil {
		return nil, err
	}
	e := &environment{env: env}
	e.parser, err = parser.NewParser(
		parser.EnablePrattParser(true),
		parser.Macros(parser.AllMacros...),
		parser.MaxRecursionDepth(MostNesting),
		parser.MaxExpressionNodeCount(mostNodes),
		parser.ExpressionSizeCodePointLimit(MostLength),
		parser.ErrorRecoveryLimit(1), // one syntax error of an expression is reported: others follow from it
	)
	if err != nil {
		return nil, err
	}
	return e, e.addChecker()
}

func (e *environment) addChecker() (err error) {
	e.checker, err = checker.NewEnv(containers.DefaultContainer, e.env.CELTypeProvider())
	if err != nil {
		return err
	}
	if err := e.checker.AddIdents(e.env.Variables()...); err != nil {
		return err
	}
	for name, function := range e.env.Functions() {
		if err := e.checker.AddFunctions(function); err != nil {
			return err
		}
		e.functions = append(e.functions, name)
	}
	e.functions = slices.DeleteFunc(e.functions, func(name string) bool { return !isWord(rune(name[0])) || name[0] == '_' })
	e.functions = append(e.functions, "has", "all", "exists", "exists_one", "map", "filter", "success", "failure", "always")
	slices.Sort(e.functions)
	return nil
}

// typeOf names a type of CEL's.
func typeOf(t *types.Type) Type {
	switch t.Kind() {
	case types.StringKind:
		return String
	case types.IntKind, types.UintKind:
		return Int
	case types.DoubleKind:
		return Double
	case types.BoolKind:
		return Bool
	case types.ListKind:
		return List
	case types.MapKind:
		return Map
	case types.TimestampKind:
		return Timestamp
	case types.DynKind, types.AnyKind, types.TypeParamKind:
		return Dyn
	default:
		return Type(t.DeclaredTypeName()) // bytes, null_type, google.protobuf.Duration: never yielded
	}
}
