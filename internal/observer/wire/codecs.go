package wire

import (
	"bytes"
	"encoding/binary"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
)

// Codecs decode the core group's objects, pods and nodes trimmed.
func Codecs() runtime.NegotiatedSerializer {
	scheme := runtime.NewScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		panic(err) // the types are constant
	}
	return codecs{serializer.NewCodecFactory(scheme).WithoutConversion()}
}

type codecs struct{ runtime.NegotiatedSerializer }

func (c codecs) SupportedMediaTypes() []runtime.SerializerInfo {
	all := append([]runtime.SerializerInfo(nil), c.NegotiatedSerializer.SupportedMediaTypes()...)
	for i := range all {
		if all[i].MediaType == runtime.ContentTypeProtobuf {
			all[i].Serializer = trimmer{all[i].Serializer}
		}
	}
	return all
}

// trimmer is a serializer that trims what it decodes.
type trimmer struct{ runtime.Serializer }

// An object is sent in an envelope (runtime.Unknown) of its type, as field 1, and its message, as field 2.
var (
	magic     = []byte("k8s\x00")
	envelopes = map[string]message{
		"Pod":      {1: nil, 2: podFields},
		"PodList":  {1: nil, 2: {1: nil, 2: podFields}},
		"Node":     {1: nil, 2: nodeFields},
		"NodeList": {1: nil, 2: {1: nil, 2: nodeFields}},
	}
)

var buffers = sync.Pool{New: func() any { return new([]byte) }}

// Decode decodes what is kept of an object. Decoding copies: the buffer is free afterwards.
func (t trimmer) Decode(data []byte, defaults *schema.GroupVersionKind, into runtime.Object) (runtime.Object, *schema.GroupVersionKind, error) {
	envelope, ok := bytes.CutPrefix(data, magic)
	if !ok {
		return t.Serializer.Decode(data, defaults, into)
	}
	keep, ok := envelopes[kindOf(envelope)]
	if !ok {
		return t.Serializer.Decode(data, defaults, into)
	}
	buffer := buffers.Get().(*[]byte)
	defer buffers.Put(buffer)
	trimmed, err := keep.trim(append((*buffer)[:0], magic...), envelope)
	if err != nil {
		return nil, nil, err
	}
	*buffer = trimmed
	return t.Serializer.Decode(trimmed, defaults, into)
}

// kindOf is what an envelope says that its object is.
func kindOf(envelope []byte) string {
	return string(find(find(envelope, 1), 2))
}

// find gives the value of a field; nil if there is none.
func find(data []byte, number uint64) []byte {
	for len(data) > 0 {
		tag, n := binary.Uvarint(data)
		if n <= 0 {
			return nil
		}
		value, end, err := field(data, tag, n)
		if err != nil {
			return nil
		}
		if tag>>3 == number {
			return value
		}
		data = data[end:]
	}
	return nil
}
