package plan

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/berthdev/berth/internal/pipeline"
	"github.com/berthdev/berth/internal/placement"
)

// TestHash holds the hash to what it promises: the same for the same plan, also after it was stored, and
// another one for another plan.
func TestHash(t *testing.T) {
	p := planned(t, everyKeyOperator, everyKey, pipeline.Input{})
	hash := p.Hash()
	if again := planned(t, everyKeyOperator, everyKey, pipeline.Input{}).Hash(); again != hash {
		t.Errorf("made twice: %s and %s", hash, again)
	}
	stored, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	var back Plan
	if err := json.Unmarshal(stored, &back); err != nil {
		t.Fatal(err)
	}
	if back.Hash() != hash {
		t.Error("another hash after it was stored")
	}
	for i := range p.Steps { // a pod that was stored has to be as good as one that was not
		if !reflect.DeepEqual(p.Steps[i].Pod.Fragment, back.Steps[i].Pod.Fragment) {
			t.Errorf("step %s: the pod is another after it was stored", p.Steps[i].Name)
		}
	}
	back.Steps[0].Pod.Origins = nil
	if back.Hash() != hash {
		t.Error("origins count: they only explain")
	}
	back.OperatorRevision = "other"
	if back.Hash() == hash {
		t.Error("the operator file's revision does not count")
	}
}

// TestHashIsStable: what is stored was hashed by an earlier build, or on another machine.
func TestHashIsStable(t *testing.T) {
	p := Plan{Version: 1, Pipeline: "p", Params: map[string]string{"b": "<&>", "a": "ü"}, Steps: []Step{{ID: "s", Timeout: Duration(time.Hour),
		Pod: Pod{Fragment: Object{"terminationGracePeriodSeconds": int64(1) << 60, "hostname": "h"}, Late: []Late{{Path: placement.MustPath(`labels."a.b/c"`), Item: -1, Text: "t"}}}}}}
	const want = `{"params":{"a":"ü","b":"<&>"},"pipeline":"p","steps":[{"id":"s","image_timeout":"0s","name":"","pod":{"fragment":{"hostname":"h","terminationGracePeriodSeconds":1152921504606846976},` +
		`"late":[{"item":-1,"path":"labels.\"a.b/c\"","text":"t"}]},"schedule_timeout":"0s","step":"","timeout":"1h0m0s","work":{"command":null}}],"version":1}`
	if got := string(canonical(p)); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if sum := sha256.Sum256([]byte(want)); p.Hash() != hex.EncodeToString(sum[:]) {
		t.Error("the hash is another one than that of the canonical form")
	}
}

// TestCanonical holds the canonical form to encoding/json: the same values, with all keys in order.
func TestCanonical(t *testing.T) {
	p := planned(t, everyKeyOperator, everyKey, pipeline.Input{})
	var want any
	d := json.NewDecoder(bytes.NewReader(encode(p)))
	d.UseNumber()
	if err := d.Decode(&want); err != nil {
		t.Fatal(err)
	}
	if got := canonical(*p); !bytes.Equal(got, encode(want)) {
		t.Errorf("got\n%s\nwant\n%s", got, encode(want))
	}
}

// TestMakeShares makes two plans of one file and changes one of them all the way down.
func TestMakeShares(t *testing.T) {
	file, _ := pipeline.Parse("p.yaml", []byte(everyKey), pipeline.Options{})
	op := mustLoad(t, everyKeyOperator)
	a := Make(file, op, pipeline.Input{}, embedded).Plan
	hash := Make(file, op, pipeline.Input{}, embedded).Plan.Hash()
	spoil(reflect.ValueOf(a).Elem())
	if got := Make(file, op, pipeline.Input{}, embedded).Plan.Hash(); got != hash {
		t.Error("to change a plan changes what it was made of")
	}
}

// spoil overwrites every map and slice that can be reached.
func spoil(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			spoil(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() || v.Field(i).Kind() != reflect.Struct {
				spoil(v.Field(i))
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			spoil(v.Index(i))
			if v.Index(i).CanSet() {
				v.Index(i).SetZero()
			}
		}
	case reflect.Map:
		for _, k := range v.MapKeys() {
			spoil(v.MapIndex(k))
			v.SetMapIndex(k, reflect.Value{})
		}
	}
}
