package process

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/kubernetes/pkg/util/parsers"
)

// magicRegistry is the registry whose images act a part. The top-level domain is reserved: no such
// host can exist.
const magicRegistry = "devplane.invalid"

// part is what an image does.
type part int

const (
	actRun        part = iota // the command is run
	actInvalid                // the name is no image reference
	actUnpullable             // the image can't be pulled
	actOOM                    // the container is OOM-killed at once
	actHang                   // the container is never created
)

// act says which part an image plays.
func act(image string) part {
	repository, _, _, err := parsers.ParseImageName(image)
	if err != nil {
		return actInvalid
	}
	path, magic := strings.CutPrefix(repository, magicRegistry+"/")
	switch {
	case !magic:
		return actRun
	case path == "oom":
		return actOOM
	case path == "hang":
		return actHang
	}
	return actUnpullable
}

// Delays of the kubelet, and how long a failed pull shows as such before it shows as backing off:
// there it is the time to the next sync.
const (
	firstBackOff  = 10 * time.Second
	maxBackOff    = 5 * time.Minute
	pullErrorTime = time.Second
)

// pull is the state of pulling an image that can't be pulled.
type pull struct {
	backOff time.Duration // 0: not tried yet
	until   time.Time     // the end of the present back-off
}

// next is what a container waits for, from when on it is to be asked again, and the pull's next
// state.
func (p pull) next(image string, now time.Time) (*notStarted, pull) {
	message := fmt.Sprintf("failed to pull and unpack image %q: failed to resolve image: no such host %s", image, magicRegistry)
	if p.backOff > 0 && now.Before(p.until) {
		text := fmt.Sprintf("Back-off pulling image %q", image)
		return &notStarted{
			reason: "ImagePullBackOff", message: text + ": ErrImagePull: " + message, again: p.until,
			events: []event{{corev1.EventTypeNormal, "BackOff", text}, {corev1.EventTypeWarning, "Failed", "Error: ImagePullBackOff"}},
		}, p
	}
	p.backOff = min(max(firstBackOff, 2*p.backOff), maxBackOff)
	p.until = now.Add(p.backOff)
	return &notStarted{
		reason: "ErrImagePull", message: message, again: now.Add(pullErrorTime),
		events: []event{
			{corev1.EventTypeNormal, "Pulling", fmt.Sprintf("Pulling image %q", image)},
			{corev1.EventTypeWarning, "Failed", fmt.Sprintf("Failed to pull image %q: %s", image, message)},
			{corev1.EventTypeWarning, "Failed", "Error: ErrImagePull"},
		},
	}, p
}

// invalidName is what a container with an invalid image reference waits for, which is for ever.
func invalidName(image string) *notStarted {
	_, _, _, err := parsers.ParseImageName(image)
	message := fmt.Sprintf("Failed to apply default image tag %q: %v", image, err)
	return &notStarted{reason: "InvalidImageName", message: message, events: []event{
		{corev1.EventTypeWarning, "InspectFailed", message}, {corev1.EventTypeWarning, "Failed", "Error: InvalidImageName"},
	}}
}
