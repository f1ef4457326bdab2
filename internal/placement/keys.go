package placement

// listRow says how the lists at a path of a pod spec merge.
type listRow struct {
	path string // of schema names: keys joined by dots, without items
	how  listRule
	keys []key // what identifies an item, for keyed and united lists
}

// key is a field that identifies an item, alone or with others.
type key struct {
	field    string
	absent   string // what an absent or empty field stands for
	optional bool
}

func by(fields ...string) []key {
	keys := make([]key, len(fields))
	for i, f := range fields {
		keys[i].field = f
	}
	return keys
}

// lists has every list of a pod spec that is not simply replaced. It is the Kubernetes types'
// patchMergeKey tags, held to them by a test, apart from the rows under "on purpose".
var lists = append([]listRow{
	{"evictionResponders", keyed, by("name")},
	{"hostAliases", keyed, by("ip")},
	{"imagePullSecrets", keyed, by("name")},
	{"resourceClaims", keyed, by("name")},
	{"schedulingGates", keyed, by("name")},
	{"volumes", keyed, by("name")},
	{"volumes.ephemeral.volumeClaimTemplate.metadata.ownerReferences", keyed, by("uid")},

	// On purpose: Kubernetes replaces these, and the layer below loses what it must keep.
	{"tolerations", union, []key{{field: "key", optional: true}, {field: "operator", absent: "Equal", optional: true},
		{field: "value", optional: true}, {field: "effect", optional: true}}},
	{"affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms", conjunction, nil},
	{"affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution", appended, nil},
	{"affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution", appended, nil},
	{"affinity.podAffinity.preferredDuringSchedulingIgnoredDuringExecution", appended, nil},
	{"affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution", appended, nil},
	{"affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution", appended, nil},
	// On purpose: Kubernetes keys these by the first field alone, so that two items that validation
	// lets stand side by side fall into one.
	{"topologySpreadConstraints", keyed, by("topologyKey", "whenUnsatisfiable")},
}, containerLists("containers", "initContainers", "ephemeralContainers")...)

func containerLists(names ...string) []listRow {
	var rows []listRow
	for _, name := range names {
		rows = append(rows,
			listRow{name, keyed, by("name")},
			listRow{name + ".env", keyed, by("name")},
			listRow{name + ".volumeDevices", keyed, by("devicePath")},
			listRow{name + ".volumeMounts", keyed, by("mountPath")},
			// On purpose, as topologySpreadConstraints.
			listRow{name + ".ports", keyed, []key{{field: "containerPort"}, {field: "protocol", absent: "TCP", optional: true}}},
		)
	}
	return rows
}

// oneOfRow says that an object at a path holds at most one of some fields.
type oneOfRow struct {
	path    string
	members []string // nil: all fields but the one that identifies the item
}

var oneOfs = append([]oneOfRow{
	{"volumes", nil}, // so that a source that is newer than this code is one as well
	{"resourceClaims", nil},
}, containerOneOfs("containers", "initContainers", "ephemeralContainers")...)

func containerOneOfs(names ...string) []oneOfRow {
	var rows []oneOfRow
	for _, name := range names {
		rows = append(rows,
			oneOfRow{name + ".env", nil},
			oneOfRow{name + ".env.valueFrom", []string{"configMapKeyRef", "fieldRef", "fileKeyRef", "resourceFieldRef", "secretKeyRef"}})
		for _, probe := range []string{"livenessProbe", "readinessProbe", "startupProbe"} {
			rows = append(rows, oneOfRow{name + "." + probe, []string{"exec", "grpc", "httpGet", "tcpSocket"}})
		}
		for _, hook := range []string{"postStart", "preStop"} {
			rows = append(rows, oneOfRow{name + ".lifecycle." + hook, []string{"exec", "httpGet", "sleep", "tcpSocket"}})
		}
	}
	return rows
}
