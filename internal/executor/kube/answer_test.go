package kube

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/berthdev/berth/internal/reason"
)

var podsResource = schema.GroupResource{Resource: "pods"}

func forbidden(why string) error {
	return apierrors.NewForbidden(podsResource, "p", errors.New(why))
}

func TestJudge(t *testing.T) {
	t.Parallel()
	missing := &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: 404, Reason: metav1.StatusReasonNotFound,
		Message: `namespaces "ci" not found`, Details: &metav1.StatusDetails{Name: "ci", Kind: "namespaces"}}}
	terminating := forbidden("unable to create new content in namespace ci because it is being terminated")
	terminating.(*apierrors.StatusError).ErrStatus.Details.Causes = []metav1.StatusCause{{Type: "NamespaceTerminating"}}
	for _, test := range []struct {
		name    string
		err     error
		meaning meaning
		code    reason.Code
		after   time.Duration
		message string // "": whatever the API server says
	}{
		{"nothing", nil, created, "", 0, ""},
		{"there is one", apierrors.NewAlreadyExists(podsResource, "p"), exists, "", 0, ""},
		{"quota", forbidden("exceeded quota: team, requested: pods=1, used: pods=5, limited: pods=5"), quotaFull, "", 0,
			"exceeded quota: team, requested: pods=1, used: pods=5, limited: pods=5"},
		{"larger than the quota", forbidden("exceeded quota: team, requested: pods=1,requests.cpu=3k, used: pods=0,requests.cpu=1, limited: pods=5,requests.cpu=2500"), refused, reason.QuotaTooSmall, 0,
			"asks for requests.cpu=3k, and the quota allows the namespace requests.cpu=2500 in all (exceeded quota: team, requested: pods=1,requests.cpu=3k, used: pods=0,requests.cpu=1, limited: pods=5,requests.cpu=2500)"},
		{"as large as the quota", forbidden("exceeded quota: team, requested: cpu=2000m, used: cpu=1, limited: cpu=2"), quotaFull, "", 0, ""},
		{"a quota that wants numbers", forbidden("failed quota: team: must specify cpu for: step"), refused, reason.PodForbidden, 0, ""},
		{"policy", forbidden(`violates PodSecurity "restricted:latest"`), refused, reason.PodForbidden, 0, ""},
		{"the API server starts", forbidden("not yet ready to handle request"), notNow, "", 0, ""},
		{"the namespace goes", terminating, refused, reason.PodForbidden, 0, ""},
		{"no namespace", missing, refused, reason.PodForbidden, 0, "the namespace ci does not exist"},
		{"invalid", apierrors.NewInvalid(schema.GroupKind{Kind: "Pod"}, "p", nil), refused, reason.PodInvalid, 0, ""},
		{"unknown field", apierrors.NewBadRequest("strict decoding error"), refused, reason.PodInvalid, 0, ""},
		{"the quota's object", apierrors.NewConflict(podsResource, "p", errors.New("changed")), notNow, "", 0, ""},
		{"overload", apierrors.NewTooManyRequests("later", 7), notNow, "", 7 * time.Second, ""},
		{"not logged in", apierrors.NewUnauthorized("no"), notNow, "", 0, ""},
		{"webhook", apierrors.NewInternalError(errors.New(`failed calling webhook "x": no endpoints`)), unknown, "", 0, ""},
		{"timeout", apierrors.NewTimeoutError("took too long", 0), unknown, "", 0, ""},
		{"no answer", &url.Error{Op: "Post", URL: "https://user:secret@x/", Err: fmt.Errorf("connection refused")}, unknown, "", 0, "no answer from the API server: connection refused"},
		{"none in time", &url.Error{Op: "Post", URL: "https://x/", Err: context.DeadlineExceeded}, unknown, "", 0, "no answer from the API server: none in time"},
	} {
		v := judge(test.err)
		if v.meaning != test.meaning || v.code != test.code || v.after != test.after || test.message != "" && v.message != test.message {
			t.Errorf("%s: %+v", test.name, v)
		}
		if test.err != nil && v.message == "" {
			t.Errorf("%s: without a word", test.name)
		}
	}
}
