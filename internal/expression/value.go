package expression

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
)

var errTooLarge = fmt.Errorf("its value is larger than %d MiB", MostResult>>20)

// budget counts down the bytes that a result may have. A list may hold another many times over, at
// no cost in CEL, so that what it says is counted while it is written out.
type budget int

func (b *budget) take(bytes int) error {
	if *b -= budget(bytes); *b < 0 {
		return errTooLarge
	}
	return nil
}

// native gives a value of CEL as a Go value: string, int64, float64, bool, []any or map[string]any.
func native(v ref.Val, left *budget) (any, error) {
	if err := left.take(8); err != nil {
		return nil, err
	}
	switch v := v.(type) {
	case types.Int:
		return int64(v), nil
	case types.Uint:
		if v > math.MaxInt64 {
			return nil, fmt.Errorf("%d is too large for an integer", uint64(v))
		}
		return int64(v), nil
	case types.Double:
		return float64(v), nil
	case types.Bool:
		return bool(v), nil
	case types.String, types.Timestamp:
		return text(v, left)
	case traits.Mapper:
		return nativeMap(v, left)
	case traits.Lister:
		return nativeList(v, left)
	default:
		return nil, unfit(v.Type())
	}
}

func nativeList(v traits.Lister, left *budget) (any, error) {
	out := []any{}
	for it := v.Iterator(); it.HasNext() == types.True; {
		item, err := native(it.Next(), left)
		if err != nil {
			return nil, err
		}
		out = append(out, item)
	}
	return out, nil
}

func nativeMap(v traits.Mapper, left *budget) (any, error) {
	out := map[string]any{}
	for it := v.Iterator(); it.HasNext() == types.True; {
		key := it.Next()
		name, ok := key.(types.String)
		if !ok {
			return nil, fmt.Errorf("the keys of a map have to be strings, and one is %s", article(key.Type().TypeName()))
		}
		if err := left.take(len(name)); err != nil {
			return nil, err
		}
		item, err := native(v.Get(key), left)
		if err != nil {
			return nil, err
		}
		out[string(name)] = item
	}
	return out, nil
}

// text is a value as it is printed into a string.
func text(v ref.Val, left *budget) (string, error) {
	out := ""
	switch v := v.(type) {
	case types.String:
		out = string(v)
	case types.Int:
		out = strconv.FormatInt(int64(v), 10)
	case types.Uint:
		out = strconv.FormatUint(uint64(v), 10)
	case types.Bool:
		out = strconv.FormatBool(bool(v))
	case types.Double:
		out = shortest(float64(v))
	case types.Timestamp:
		out = v.UTC().Format(time.RFC3339Nano)
	default:
		return "", unfit(v.Type())
	}
	return out, left.take(len(out))
}

// shortest writes a number with the fewest digits that mean it, as JSON does: 1000000, not 1e+06.
func shortest(f float64) string {
	if size := math.Abs(f); size != 0 && (size < 1e-6 || size >= 1e21) {
		return strconv.FormatFloat(f, 'e', -1, 64)
	}
	return strconv.FormatFloat(f, 'f', -1, 64)
}

// unfit says why a type has no place in a file.
func unfit(t ref.Type) error {
	return errors.New(article(t.TypeName()) + " can't be printed into a string")
}

// remedies say what to write instead of a type that can't be printed, or yielded at all.
var remedies = map[types.Kind]string{
	types.ListKind:     `join it, as in LIST.join(",")`,
	types.MapKind:      "name one of its keys",
	types.BytesKind:    "make it a string: string(...)",
	types.DurationKind: "make it a string: string(...)",
	types.NullTypeKind: "write '' for nothing",
	types.TypeKind:     "yield a value, not its type",
}

// fits says whether values of a type can be yielded, by an expression that is all of its text or by
// one of several.
func fits(t *types.Type, whole bool) bool {
	switch t.Kind() {
	case types.StringKind, types.IntKind, types.UintKind, types.BoolKind, types.DoubleKind, types.TimestampKind,
		types.DynKind, types.AnyKind, types.TypeParamKind:
		return true
	case types.ListKind, types.MapKind:
		return whole
	}
	return false
}

func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
