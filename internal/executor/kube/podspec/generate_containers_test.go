package podspec

import (
	"fmt"
	"strings"

	"github.com/berthdev/berth/internal/placement"
	"github.com/berthdev/berth/internal/placement/profile"
)

func (g gen) containers(f object, layer string) {
	step := object{"name": "step"}
	g.container(step, layer)
	containers := list{step}
	if g.rarely() {
		other := object{"name": "beside-" + layer, "image": "example.com/beside:1"}
		g.container(other, layer)
		g.secure(other)
		containers = append(containers, other)
	}
	if g.rarely() {
		before := object{"name": "before-" + layer, "image": "example.com/before@sha256:" + strings.Repeat("0", 64)}
		if g.yes() {
			before["restartPolicy"] = "Always"
		}
		g.environment(before, layer)
		g.secure(before)
		f["initContainers"] = list{before}
	}
	g.volumes(f, step, layer)
	if len(containers) > 1 || len(step) > 1 {
		f["containers"] = containers
	}
}

// secure gives a container what the standard demands of one that is not Berth's.
func (g gen) secure(c object) {
	if g.security == profile.Restricted {
		c["securityContext"] = object{"allowPrivilegeEscalation": false, "runAsNonRoot": true,
			"capabilities": object{"drop": list{"ALL"}}, "seccompProfile": object{"type": "RuntimeDefault"}}
	}
}

func (g gen) container(c object, layer string) {
	g.environment(c, layer)
	g.set(c, "imagePullPolicy", func() any { return pick(g, "Always", "IfNotPresent", "Never") })
	if layer != "baseline" || c["name"] != "step" { // else they are what baseline.resources is for
		g.set(c, "resources", func() any {
			r := g.resources()
			if _, long := r["limits"]; !long {
				r = object{"limits": r}
			}
			return r
		})
	}
	g.set(c, "lifecycle", func() any {
		return object{pick(g, "preStop", "postStart"): pick(g, object{"exec": object{"command": list{"sh", "-c", g.text()}}}, object{"sleep": object{"seconds": 3}})}
	})
	g.set(c, "livenessProbe", func() any {
		return pick(g, object{"exec": object{"command": list{"test", g.text()}}}, object{"tcpSocket": object{"port": 80}}, object{"grpc": object{"port": 81}},
			object{"httpGet": object{"port": "web", "path": "/?a=$(b)", "httpHeaders": list{object{"name": "X-A", "value": "b"}}}, "terminationGracePeriodSeconds": 5})
	})
	g.set(c, "ports", func() any {
		return list{object{"name": "web", "containerPort": 8080}, object{"containerPort": 53, "protocol": "UDP"}}
	})
	if g.rarely() {
		c["stdin"] = g.yes()
		c["tty"] = g.yes()
		c["resizePolicy"] = list{object{"resourceName": "cpu", "restartPolicy": "NotRequired"}}
	}
	if c["name"] == "step" {
		g.set(c, "securityContext", func() any { return g.containerSecurity() })
	}
}

func (g gen) containerSecurity() object {
	s := object{}
	g.set(s, "readOnlyRootFilesystem", func() any { return g.yes() })
	g.set(s, "runAsUser", func() any { return pick(g, 1000, 65532) })
	g.set(s, "runAsGroup", func() any { return pick(g, 0, 1000) })
	switch {
	case g.security == profile.Privileged && g.rarely():
		s["privileged"] = true
	case g.security == profile.Privileged && g.rarely():
		s["capabilities"] = object{"add": list{"SYS_ADMIN", "NET_ADMIN"}}
		s["procMount"] = "Default"
	case g.security == profile.Restricted:
		g.set(s, "capabilities", the(object{"drop": list{"ALL"}, "add": list{"NET_BIND_SERVICE"}}))
	default:
		g.set(s, "capabilities", the(object{"drop": list{"MKNOD"}, "add": list{"CHOWN", "NET_BIND_SERVICE"}}))
	}
	return s
}

func (g gen) environment(c object, layer string) {
	g.set(c, "env", func() any {
		env := list{object{"name": "TOKEN", "value": "expanded"}}
		for i := range g.number(0, 3) {
			e := object{"name": fmt.Sprintf("%s_%d", strings.ToUpper(layer), i)}
			switch g.number(0, 4) {
			case 0:
				e["valueFrom"] = object{"fieldRef": object{"fieldPath": pick(g, "spec.nodeName", "status.podIP", "metadata.labels['app']", "metadata.name")}}
			case 1:
				e["valueFrom"] = object{"configMapKeyRef": object{"name": "config", "key": "k", "optional": g.yes()}}
			case 2:
				e["valueFrom"] = object{"resourceFieldRef": object{"resource": "limits.cpu", "divisor": "1m"}}
			case 3:
				e["valueFrom"] = object{"secretKeyRef": object{"name": "secret", "key": "k"}}
			default:
				e["value"] = g.text()
			}
			env = append(env, e)
		}
		return env
	})
	g.set(c, "envFrom", func() any {
		return list{object{"prefix": "P_", pick(g, "configMapRef", "secretRef"): object{"name": "secret"}}}
	})
}

// resources draws resources such that those of any two layers go together: no request is above any limit.
func (g gen) resources() object {
	requests, limits := object{}, object{}
	g.set(requests, "cpu", func() any { return pick(g, "100m", "0.25", "500m") })
	g.set(requests, "memory", func() any { return pick(g, "64Mi", "128M", "1e8", "256Mi") })
	g.set(requests, "ephemeral-storage", func() any { return pick(g, "1Gi", "1G") })
	g.set(limits, "cpu", func() any { return pick(g, "0.5", "1", "1500m") })
	g.set(limits, "memory", func() any { return pick(g, "256Mi", "1Gi", "2e9") })
	g.set(limits, "ephemeral-storage", func() any { return pick(g, "1Gi", "20Gi") })
	g.set(limits, "example.com/device", the("1")) // the API server wants the request equal to the limit
	if len(limits) == 0 {
		limits["cpu"] = "1"
	}
	switch {
	case g.yes():
		return object{"limits": limits}
	case g.yes() && len(requests) > 0:
		return object{"requests": requests, "limits": limits}
	}
	short := object{}
	g.set(short, "cpu", the("500m"))
	g.set(short, "ephemeral-storage", the("1Gi"))
	g.set(short, "example.com/device", the("1"))
	short["memory"] = "256Mi"
	return short
}

// volumes adds volumes, each with a mount in the step.
func (g gen) volumes(f, step object, layer string) {
	kinds := object{
		"scratch":   object{"emptyDir": object{"medium": pick(g, "", "Memory"), "sizeLimit": pick(g, "1Gi", "1024Ki", "1.5Gi")}},
		"config":    object{"configMap": object{"name": "config", "defaultMode": pick(g, 0o400, 0o644), "optional": g.yes(), "items": list{object{"key": "k", "path": "p/q"}}}},
		"secret":    object{"secret": object{"secretName": "secret", "items": list{object{"key": "k", "path": "p", "mode": 256}}}},
		"claimed":   object{"persistentVolumeClaim": object{"claimName": "claim", "readOnly": g.yes()}},
		"made":      object{"ephemeral": object{"volumeClaimTemplate": object{"metadata": object{"labels": object{"a": "b"}}, "spec": object{"accessModes": list{"ReadWriteOnce"}, "resources": object{"requests": object{"storage": "1Gi"}}}}}},
		"projected": object{"projected": object{"sources": list{object{"configMap": object{"name": "config"}}, object{"downwardAPI": object{"items": list{object{"path": "l", "fieldRef": object{"fieldPath": "metadata.labels"}}}}}}}},
		"downward":  object{"downwardAPI": object{"items": list{object{"path": "cpu", "resourceFieldRef": object{"containerName": "step", "resource": "limits.cpu", "divisor": "1"}}}}},
		"csi":       object{"csi": object{"driver": "csi.example.com", "volumeAttributes": object{"a": "b"}}},
		"image":     object{"image": object{"reference": "example.com/data:1", "pullPolicy": "IfNotPresent"}},
	}
	names := []string{"scratch", "config", "secret", "claimed", "made", "projected", "downward", "csi", "image"}
	if g.security == profile.Privileged {
		kinds["host"] = object{"hostPath": object{"path": "/var/lib/x", "type": "DirectoryOrCreate"}}
		names = append(names, "host")
	}
	var volumes, mounts list
	for _, name := range names {
		if !g.rarely() {
			continue
		}
		volume := kinds[name].(object)
		volume["name"] = name + "-" + layer
		mount := object{"name": name + "-" + layer, "mountPath": "/mnt/" + layer + "/" + name}
		g.set(mount, "readOnly", the(true))
		if name != "image" {
			g.set(mount, "subPath", the("sub"))
		}
		volumes, mounts = append(volumes, volume), append(mounts, mount)
	}
	if g.rarely() { // of all layers, so that one replaces the source that another gives
		volume := placement.Clone(kinds[pick(g, "scratch", "config", "claimed")]).(object)
		volume["name"] = "shared"
		volumes, mounts = append(volumes, volume), append(mounts, object{"name": "shared", "mountPath": "/mnt/shared"})
	}
	if len(volumes) > 0 {
		f["volumes"], step["volumeMounts"] = volumes, mounts
	}
}
