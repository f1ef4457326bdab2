package plan

import (
	"maps"
	"path"
	"slices"
	"time"

	"github.com/berthdev/berth/internal/finding"
	"github.com/berthdev/berth/internal/pipeline"
	"github.com/berthdev/berth/internal/placement"
	"github.com/berthdev/berth/internal/placement/profile"
)

// object is shorter to read where a pod is written down.
type object = map[string]any

// writer writes the layers of one step's pod.
type writer struct {
	plan     *Plan
	operator *profile.File
	step     *pipeline.Instance
	late     []Late
}

// layers gives all layers, lowest first. The findings are expressions of the operator's labels that failed.
func (w *writer) layers() ([]placement.Layer, []finding.Finding) {
	facts := profile.RunFacts{Pipeline: w.plan.Pipeline, Environment: w.plan.Environment}
	operators, findings := w.operator.Layers(w.step.PlacementProfiles, facts)
	findings = append(findings, w.taken(operators)...)
	all := []placement.Layer{w.builtin()}
	services := w.serviceResources()
	for _, l := range operators {
		if l.Kind == placement.Profile {
			l.Locate = nil // what is wrong with a profile is wrong with the step that lists it
			if services != nil {
				all, services = append(all, *services), nil
			}
		}
		all = append(all, l)
	}
	if services != nil {
		all = append(all, *services)
	}
	all = append(all, w.stepLayer(), w.resources(), w.overlay(), w.berth())
	for i := range all {
		if all[i].Kind != placement.Builtin {
			all[i].Fragment = escalating(all[i].Fragment)
		}
	}
	return all, findings
}

// builtin is what Berth has when nobody says otherwise: a pod that runs once, gets no token and no
// environment of other Services, and whose containers can't gain privileges.
func (w *writer) builtin() placement.Layer {
	security := func() object {
		s := object{"allowPrivilegeEscalation": false, "seccompProfile": object{"type": "RuntimeDefault"}}
		if w.operator.PodSecurity == profile.Restricted {
			s["runAsNonRoot"] = true
			s["capabilities"] = object{"drop": []any{"ALL"}}
		}
		return s
	}
	f := object{
		"restartPolicy":                "Never",
		"enableServiceLinks":           false,
		"automountServiceAccountToken": false,
		"containers":                   []any{object{"name": StepContainer, "securityContext": security()}},
	}
	if len(w.step.Services) > 0 {
		f["initContainers"] = w.eachService(func(*pipeline.ServiceInstance) object { return object{"securityContext": security()} })
	}
	if w.operator.PodSecurity == profile.Restricted && w.step.Workspace {
		f["securityContext"] = object{"fsGroup": int64(1000)} // else a user that is not root can't write to the volume
	}
	return placement.Layer{Kind: placement.Builtin, Fragment: f}
}

// eachService makes an init container for each service.
func (w *writer) eachService(of func(*pipeline.ServiceInstance) object) []any {
	var all []any
	for i := range w.step.Services {
		c := of(&w.step.Services[i])
		c["name"] = w.step.Services[i].Name
		all = append(all, c)
	}
	return all
}

// serviceResources gives the baseline's resources to services as well: they are containers that Berth
// makes, and a quota or a LimitRange looks at every one. Nil if there is nothing to give.
func (w *writer) serviceResources() *placement.Layer {
	r := w.operator.Baseline.Resources
	if r == nil || len(w.step.Services) == 0 {
		return nil
	}
	return &placement.Layer{Kind: placement.Baseline, Locate: r.Locate, Fragment: object{
		"initContainers": w.eachService(func(*pipeline.ServiceInstance) object { return object{"resources": r.Object()} })}}
}

// stepLayer is what the step itself says.
func (w *writer) stepLayer() placement.Layer {
	s := w.step
	c := object{"name": StepContainer}
	if s.Image != "" {
		c["image"] = s.Image
	}
	if s.Script != nil {
		command := append(texts(s.Shell), "-c", w.author(*s.Script, in("containers", StepContainer, placement.Segment{Name: "command"}), len(s.Shell)+1))
		c["command"] = command
	} else {
		c["command"] = w.list(s.Command, in("containers", StepContainer, placement.Segment{Name: "command"}))
	}
	if len(s.Args) > 0 {
		c["args"] = w.list(s.Args, in("containers", StepContainer, placement.Segment{Name: "args"}))
	}
	if dir := w.workingDir(); dir != "" {
		c["workingDir"] = dir
	}
	env := w.env(s.Env, StepContainer, "containers")
	for _, name := range slices.Sorted(maps.Keys(s.Secrets)) {
		env = append(env, object{"name": name, "valueFrom": object{"secretKeyRef": object{"name": s.Secrets[name].Secret, "key": s.Secrets[name].Key}}})
	}
	if len(env) > 0 {
		c["env"] = env
	}
	f := object{"containers": []any{c}}
	if len(s.Services) > 0 {
		f["initContainers"] = w.eachService(w.service)
	}
	if s.ServiceAccount != "" {
		f["serviceAccountName"] = s.ServiceAccount
		f["automountServiceAccountToken"] = true
	}
	return placement.Layer{Kind: placement.Step, Fragment: f, Locate: w.locate}
}

// locate says where the step says something of a path of its layer. It is a placement.Locator.
func (w *writer) locate(at placement.Path) (file string, line, column int) {
	var place pipeline.Place
	switch {
	case len(at) > 0 && at[0].Name == "serviceAccountName":
		place = w.step.At("service_account")
	case len(at) > 0 && at[0].Name == "initContainers":
		place = w.step.At("services")
		for i, s := range w.step.Services {
			if len(at) > 1 && at[1].Name == s.Name {
				place = place.Item(i)
			}
		}
	case len(at) > 3 && at[2].Name == "env":
		place = w.step.EnvAt(at[3].Name)
	}
	if place.Node == nil {
		return "", 0, 0
	}
	return place.Node.File, place.Node.Line, place.Node.Column
}

func (w *writer) workingDir() string {
	dir := w.step.WorkingDir
	if w.step.Workspace && !path.IsAbs(dir) {
		return path.Join(workspaceMount, dir)
	}
	return dir
}

// service is a native sidecar: an init container that stays, and that the step waits for.
func (w *writer) service(s *pipeline.ServiceInstance) object {
	c := object{"image": s.Image, "restartPolicy": "Always"}
	if len(s.Command) > 0 {
		c["command"] = w.list(s.Command, in("initContainers", s.Name, placement.Segment{Name: "command"}))
	}
	if len(s.Args) > 0 {
		c["args"] = w.list(s.Args, in("initContainers", s.Name, placement.Segment{Name: "args"}))
	}
	if len(s.Env) > 0 {
		c["env"] = w.env(s.Env, s.Name, "initContainers")
	}
	if s.Ready != nil {
		// A service may take its time: what ends the wait is the pod's deadline.
		probe := object{"periodSeconds": int64(1), "failureThreshold": w.deadline()}
		switch {
		case s.Ready.HTTP != nil:
			p := s.Ready.HTTP.Path
			if p == "" {
				p = "/"
			}
			probe["httpGet"] = object{"port": int64(s.Ready.HTTP.Port), "path": p}
		case len(s.Ready.Exec) > 0:
			probe["exec"] = object{"command": texts(s.Ready.Exec)}
		default:
			probe["tcpSocket"] = object{"port": int64(s.Ready.TCP)}
		}
		c["startupProbe"] = probe
	}
	return c
}

// resources is the author's exact numbers.
func (w *writer) resources() placement.Layer {
	f := w.step.Resources.Fragment()
	var services []any
	for _, s := range w.step.Services {
		if s.Resources != nil {
			services = append(services, object{"name": s.Name, "resources": s.Resources.Object()})
		}
	}
	if len(services) > 0 {
		f["initContainers"] = services
	}
	return placement.Layer{Kind: placement.Resources, Fragment: f, Locate: w.step.Resources.Locate}
}

func (w *writer) overlay() placement.Layer {
	return placement.Layer{Kind: placement.Overlay, Fragment: literalFragment(w.step.Overlay.Value), Locate: w.step.Overlay.Locate}
}

// backstop is beyond the step's own timeouts, which are exact: activeDeadlineSeconds begins before the
// image is pulled, and only has to end the pod when Berth is not there to do it.
const backstop = 5 * time.Minute

// deadline is the pod's, in seconds.
func (w *writer) deadline() int64 {
	return int64((w.step.Timeout + w.step.ImageTimeout + backstop + time.Second - 1) / time.Second)
}

// berth is what no one overrides.
func (w *writer) berth() placement.Layer {
	s := w.step
	labels := object{LabelPipeline: w.plan.Pipeline, LabelStep: s.ID,
		LabelInstance: w.own("labels", LabelInstance, Instance), LabelRun: w.own("labels", LabelRun, RunID),
		LabelAttempt: w.own("labels", LabelAttempt, AttemptText)}
	annotations := object{AnnotationStep: s.Name, AnnotationFence: w.own("annotations", AnnotationFence, FenceText)}
	if w.plan.Environment != "" {
		annotations[AnnotationEnvironment] = w.plan.Environment
	}
	if w.plan.OperatorRevision != "" {
		annotations[AnnotationOperator] = w.plan.OperatorRevision
	}
	env := []any{
		w.ownEnv("BERTH_ATTEMPT", AttemptText),
		w.ownEnv("BERTH_FENCE", FenceText),
		object{"name": "BERTH_OUTPUT", "value": outputFile},
		object{"name": "BERTH_PIPELINE", "value": w.plan.Pipeline},
		w.ownEnv("BERTH_RUN", RunID),
		object{"name": "BERTH_STEP", "value": s.ID},
	}
	c := object{"name": StepContainer, "terminationMessagePath": outputFile, "terminationMessagePolicy": "File"}
	f := object{"activeDeadlineSeconds": w.deadline()}
	if s.Workspace {
		labels[LabelWorkspace] = w.own("labels", LabelWorkspace, RunID)
		env = append(env, object{"name": "BERTH_WORKSPACE", "value": workspaceMount})
		c["volumeMounts"] = []any{object{"name": workspaceVolume, "mountPath": workspaceMount}}
		w.workspace(f)
	}
	c["env"] = env
	f["labels"], f["annotations"], f["containers"] = labels, annotations, []any{c}
	return placement.Layer{Kind: placement.Berth, Fragment: f}
}

// workspace mounts the run's volume. One that a single node can have at a time keeps the pods that have
// it together: the scheduler lets the first of them pass, and does not count those that have ended.
func (w *writer) workspace(f object) {
	claim := placement.Path{{Name: "volumes"}, {Name: workspaceVolume, Item: true}, {Name: "persistentVolumeClaim"}, {Name: "claimName"}}
	f["volumes"] = []any{object{"name": workspaceVolume, "persistentVolumeClaim": object{"claimName": w.ownAt(claim, ClaimName)}}}
	if w.plan.Workspace.AccessMode != "ReadWriteOnce" {
		return
	}
	f["affinity"] = object{"podAffinity": object{"requiredDuringSchedulingIgnoredDuringExecution": []any{workspaceTerm()}}}
}

func workspaceTerm() object {
	return object{"labelSelector": object{"matchLabels": object{LabelWorkspace: RunID}}, "topologyKey": "kubernetes.io/hostname"}
}

// mounts refuses what other layers would put where the workspace is: a mount is merged field by field, and
// the workspace's would keep what it does not say itself.
func (w *writer) mounts(layers []placement.Layer) []finding.Finding {
	if !w.step.Workspace {
		return nil
	}
	var found []finding.Finding
	for _, l := range layers {
		if l.Kind == placement.Berth || !hasVolumes(l.Fragment) {
			continue
		}
		for _, at := range placement.Touched(l.Fragment) {
			if !isWorkspace(at) {
				continue
			}
			f := finding.Finding{Code: finding.ReservedField, Severity: finding.Error, Path: at.String(),
				Message: l.String() + " sets " + at.String() + ", which is the workspace's",
				Fix:     "choose another name or path, or write workspace: false for the step"}
			if l.Locate != nil {
				f.File, f.Line, f.Column = l.Locate(at)
			}
			found = append(found, f)
		}
	}
	return found
}

// taken refuses services with the name of a container that the operator's layers have: merged by their
// names, a service would run its image with the operator's mounts, variables and privileges.
func (w *writer) taken(layers []placement.Layer) []finding.Finding {
	var found []finding.Finding
	for _, l := range layers {
		if l.Kind != placement.Baseline && l.Kind != placement.Profile {
			continue
		}
		for _, name := range []string{"containers", "initContainers"} {
			list, _ := l.Fragment[name].([]any)
			for i, s := range w.step.Services {
				if containerNamed(list, s.Name) {
					found = append(found, w.step.At("services").Item(i).Below("name").Fault(finding.NameTwice, "choose another name",
						"the service %s has the name of a container of %s", s.Name, l))
				}
			}
		}
	}
	return found
}

func containerNamed(list []any, name string) bool {
	return slices.ContainsFunc(list, func(e any) bool {
		c, _ := e.(map[string]any)
		return c["name"] == name
	})
}

// hasVolumes says whether a layer has anything to do with volumes. Few have.
func hasVolumes(fragment object) bool {
	containers, _ := fragment["containers"].([]any)
	return fragment["volumes"] != nil || slices.ContainsFunc(containers, func(e any) bool {
		c, _ := e.(map[string]any)
		return c["volumeMounts"] != nil
	})
}

// isWorkspace says whether a path leads to the workspace's volume, or to what is mounted where it is.
func isWorkspace(at placement.Path) bool {
	switch {
	case len(at) >= 2 && at[0].Name == "volumes":
		return at[1].Name == workspaceVolume
	case len(at) >= 4 && at[0].Name == "containers" && at[1].Name == StepContainer && at[2].Name == "volumeMounts":
		return path.Clean("/"+at[3].Name) == workspaceMount
	}
	return false
}
