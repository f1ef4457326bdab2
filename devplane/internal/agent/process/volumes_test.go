package process

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

func TestVolumes(t *testing.T) {
	t.Parallel()
	needNamespaces(t)
	claimed := t.TempDir()
	if err := os.WriteFile(filepath.Join(claimed, "kept"), []byte("from before\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	pod := newPod(sh("main", `
		cat /secret/key /config/sub/file /down/labels /token/token /claim/kept
		stat -c '%a' -L /secret/key
		stat -c '%a %g' /empty
		touch /secret/x 2>/dev/null || echo secret is read-only
		touch /claim/new /empty/new /part/here && ls /empty/some
		touch /ro/x 2>/dev/null || echo ro is read-only`,
		mounted("secret", "/secret"), mounted("config", "/config"), mounted("down", "/down"), mounted("token", "/token"),
		mounted("claim", "/claim"), mounted("empty", "/empty"), func(c *corev1.Container) {
			c.Env = []corev1.EnvVar{{Name: "WHICH", Value: "part"}}
			c.VolumeMounts = append(c.VolumeMounts,
				corev1.VolumeMount{Name: "empty", MountPath: "/part", SubPathExpr: "some/$(WHICH)"},
				corev1.VolumeMount{Name: "empty", MountPath: "/ro", ReadOnly: true})
		}))
	pod.Spec.SecurityContext = &corev1.PodSecurityContext{FSGroup: ptr.To(int64(4242))}
	mode := ptr.To(int32(0o644))
	pod.Spec.Volumes = []corev1.Volume{
		{Name: "secret", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "s", DefaultMode: ptr.To(int32(0o400))}}},
		{Name: "config", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
			LocalObjectReference: corev1.LocalObjectReference{Name: "c"}, DefaultMode: mode,
			Items: []corev1.KeyToPath{{Key: "k", Path: "sub/file"}},
		}}},
		{Name: "down", VolumeSource: corev1.VolumeSource{DownwardAPI: &corev1.DownwardAPIVolumeSource{
			DefaultMode: mode, Items: []corev1.DownwardAPIVolumeFile{{Path: "labels", FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.labels"}}},
		}}},
		{Name: "token", VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{
			DefaultMode: mode, Sources: []corev1.VolumeProjection{{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{Path: "token"}}},
		}}},
		{Name: "claim", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "p"}}},
		emptyDir("empty"),
	}
	x := try(t, pod, func(x *trial) {
		x.objects.put("secret/s", &corev1.Secret{Data: map[string][]byte{"key": []byte("secret\n")}})
		x.objects.put("configmap/c", &corev1.ConfigMap{Data: map[string]string{"k": "config\n"}})
		x.objects.put("persistentvolumeclaims/p", &corev1.PersistentVolumeClaim{
			Spec: corev1.PersistentVolumeClaimSpec{VolumeName: "pv"}, Status: corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimBound},
		})
		x.objects.put("persistentvolumes/pv", &corev1.PersistentVolume{
			ObjectMeta: metav1.ObjectMeta{Name: "pv"}, Spec: corev1.PersistentVolumeSpec{
				PersistentVolumeSource: corev1.PersistentVolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: claimed}},
			},
		})
	})
	x.expect("main", 0, "Completed")
	want := strings.Join([]string{
		"secret", "config", `app="x"token of ns/default for ` + string(pod.UID) + "from before",
		"440", "2777 4242", "secret is read-only", "part", "ro is read-only", "",
	}, "\n")
	if log := x.log("main"); log != want {
		t.Errorf("log is\n%s\nwant\n%s", log, want)
	}
	if _, err := os.Stat(filepath.Join(claimed, "new")); err != nil {
		t.Errorf("the claim did not keep a file: %v", err)
	}
	if _, err := os.Stat(filepath.Join(x.r.podDir(pod.UID), "volumes")); !os.IsNotExist(err) {
		t.Errorf("volumes outlive the pod: %v", err)
	}
}

func TestVolumeThatIsMissing(t *testing.T) {
	t.Parallel()
	pod := newPod(sh("main", "cat $DIR/k", mounted("c", "/c"), func(c *corev1.Container) {
		c.Env = []corev1.EnvVar{{Name: "DIR", Value: "/c"}}
	}))
	pod.Spec.Volumes = []corev1.Volume{{Name: "c", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
		LocalObjectReference: corev1.LocalObjectReference{Name: "late"}, DefaultMode: ptr.To(int32(0o644)),
	}}}}
	x := try(t, pod)
	x.await("an event", x.hasEvent(`pod: FailedMount: MountVolume.SetUp failed for volume "c" : configmap "late" not found`))
	x.objects.put("configmap/late", &corev1.ConfigMap{Data: map[string]string{"k": "here"}})
	x.expect("main", 0, "Completed")
	if log := x.log("main"); log != "here" {
		t.Errorf("log is %q", log)
	}
}

func TestSubPathStaysInItsVolume(t *testing.T) {
	t.Parallel()
	needNamespaces(t)
	dir := t.TempDir()
	if err := os.Symlink("/etc", filepath.Join(dir, "out")); err != nil {
		t.Fatal(err)
	}
	pod := newPod(sh("main", "ls /m", func(c *corev1.Container) {
		c.VolumeMounts = []corev1.VolumeMount{{Name: "v", MountPath: "/m", SubPath: "out"}}
	}))
	pod.Spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: dir}}}}
	x := try(t, pod)
	x.awaitState("main", "refused", func(s corev1.ContainerStatus) bool {
		return s.State.Waiting != nil && s.State.Waiting.Reason == "CreateContainerConfigError"
	})
}

func TestConfigErrors(t *testing.T) {
	t.Parallel()
	needNamespaces(t)
	ref := func(key string) []corev1.EnvVar {
		return []corev1.EnvVar{{Name: "V", ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{
			LocalObjectReference: corev1.LocalObjectReference{Name: "s"}, Key: key,
		}}}}
	}
	c := sh("main", `echo "$V"`)
	c.Env = ref("k")
	pod := newPod(c)
	x := try(t, pod)
	waits := func(message string) {
		x.awaitState("main", message, func(s corev1.ContainerStatus) bool {
			return s.State.Waiting != nil && s.State.Waiting.Reason == "CreateContainerConfigError" && s.State.Waiting.Message == message
		})
	}
	waits(`secret "s" not found`)
	x.objects.put("secret/s", &corev1.Secret{})
	waits("couldn't find key k in Secret ns/s")
	x.objects.put("secret/s", &corev1.Secret{Data: map[string][]byte{"k": []byte("v")}})
	x.expect("main", 0, "Completed")
	if log := x.log("main"); log != "v\n" {
		t.Errorf("log is %q", log)
	}
}

func TestUsers(t *testing.T) {
	t.Parallel()
	needNamespaces(t)
	t.Run("of the pod's choice", func(t *testing.T) {
		t.Parallel()
		c := sh("main", `echo $(id -u) $(id -g) $(id -G); grep -E 'CapBnd|NoNewPrivs' /proc/self/status; touch /x 2>/dev/null || echo not root; echo m > /dev/termination-log`)
		c.SecurityContext = &corev1.SecurityContext{
			RunAsUser: ptr.To(int64(1234)), RunAsGroup: ptr.To(int64(1235)), AllowPrivilegeEscalation: ptr.To(false),
			Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
		}
		pod := newPod(c)
		pod.Spec.SecurityContext = &corev1.PodSecurityContext{SupplementalGroups: []int64{77}}
		x := try(t, pod)
		term := x.expect("main", 0, "Completed")
		if log := x.log("main"); log != "1234 1235 1235 77\nCapBnd:\t0000000000000000\nNoNewPrivs:\t1\nnot root\n" {
			t.Errorf("log is %q", log)
		}
		if term.Message != "m\n" {
			t.Errorf("message is %q", term.Message)
		}
	})
	t.Run("not root", func(t *testing.T) {
		t.Parallel()
		c := sh("main", "exit 0")
		c.SecurityContext = &corev1.SecurityContext{RunAsNonRoot: ptr.To(true)}
		pod := newPod(c)
		x := try(t, pod)
		x.awaitState("main", "refused", func(s corev1.ContainerStatus) bool {
			return s.State.Waiting != nil && s.State.Waiting.Reason == "CreateContainerConfigError" &&
				s.State.Waiting.Message == `container has runAsNonRoot and image will run as root (pod: "pod_ns(`+string(pod.UID)+`)", container: main)`
		})
	})
	t.Run("read-only root", func(t *testing.T) {
		t.Parallel()
		c := sh("main", `touch /x /tmp/x; touch /d/x && echo volume is not`, mounted("d", "/d"))
		c.SecurityContext = &corev1.SecurityContext{ReadOnlyRootFilesystem: ptr.To(true)}
		pod := newPod(c)
		pod.Spec.Volumes = []corev1.Volume{emptyDir("d")}
		x := try(t, pod)
		x.expect("main", 0, "Completed")
		log := x.log("main")
		if strings.Count(log, "Read-only file system") != 2 || !strings.Contains(log, "volume is not") {
			t.Errorf("log is %q", log)
		}
	})
}
