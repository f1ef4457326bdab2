package census

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/json"
)

// Decode decodes an item. The object is nil if its kind says nothing about placement.
func Decode(item Item) (any, error) {
	k := kindOf(item.APIVersion, item.Kind)
	if k == nil {
		return nil, nil
	}
	object := k.empty()
	if err := json.Unmarshal(item.Text, object); err != nil {
		return nil, fmt.Errorf("line %d: %s", item.Line, oneLine(err))
	}
	return object, nil
}

// decodeTree decodes what YAML was read into, and gives the paths of the keys that an API server would ignore.
func decodeTree(tree map[string]any) (object any, ignored []string, err error) {
	apiVersion, _ := tree["apiVersion"].(string)
	name, _ := tree["kind"].(string)
	k := kindOf(apiVersion, name)
	if k == nil {
		return nil, nil, nil
	}
	object = k.empty()
	err = runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(tree, object, true)
	if strict, ok := runtime.AsStrictDecodingError(err); ok {
		for _, e := range strict.Errors() {
			if path, ok := strings.CutPrefix(e.Error(), "unknown field "); ok {
				ignored = append(ignored, strings.Trim(path, `"`))
			}
		}
		err = nil
	}
	return object, ignored, err
}

func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }
