package kube

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berthdev/berth/internal/reason"
	"github.com/berthdev/berth/internal/run"
)

// meaning is what an answer to a create says about what to do.
type meaning int

const (
	created   meaning = iota
	exists            // an object of that name does: look whose
	refused           // for good
	quotaFull         // now, since a quota leaves no room
	notNow            // and nothing was created
	unknown           // whether something was created
)

// verdict is an answer's meaning with what goes with it.
type verdict struct {
	meaning
	message string
	code    reason.Code   // of refused
	after   time.Duration // how long the API server wants to be left alone; 0: it did not say
}

// judge says what an error of a create means.
func judge(err error) verdict {
	if err == nil {
		return verdict{}
	}
	var answer apierrors.APIStatus
	if !errors.As(err, &answer) {
		return verdict{meaning: unknown, message: "no answer from the API server: " + short(err)}
	}
	s := answer.Status()
	v := verdict{message: s.Message}
	if seconds, ok := apierrors.SuggestsClientDelay(err); ok {
		v.after = time.Duration(seconds) * time.Second
	}
	switch {
	case s.Reason == metav1.StatusReasonAlreadyExists:
		v.meaning = exists
	case s.Code == http.StatusForbidden:
		v.forbidden(err)
	case s.Code == http.StatusNotFound && s.Details != nil && s.Details.Kind == "namespaces":
		v.meaning, v.code, v.message = refused, reason.PodForbidden, fmt.Sprintf("the namespace %s does not exist", s.Details.Name)
	case s.Code == http.StatusConflict, s.Code == http.StatusTooManyRequests, s.Code == http.StatusUnauthorized:
		// Of the quota object, which others change as well; of priority and fairness; of a token that is renewed.
		v.meaning = notNow
	case s.Code >= http.StatusInternalServerError:
		v.meaning = unknown
	default:
		v.meaning, v.code = refused, reason.PodInvalid
	}
	return v
}

// notReady is what admission of an API server says that has just started, as if it were a policy.
const notReady = "not yet ready to handle request"

// forbidden tells a quota that is full from one that is too small, and both from a policy.
func (v *verdict) forbidden(err error) {
	v.meaning, v.code = refused, reason.PodForbidden
	words, over := overQuota(v.message)
	switch {
	case strings.Contains(v.message, notReady):
		v.meaning, v.code = notNow, ""
	case apierrors.HasStatusCause(err, "NamespaceTerminating"):
		v.message = "the namespace is being deleted: " + v.message
	case strings.Contains(v.message, "status unknown for quota"): // nobody has counted yet
		v.meaning, v.code = notNow, ""
	case !over:
	default:
		v.message = words
		if name, requested, limited, found := tooSmall(words); found {
			v.code = reason.QuotaTooSmall
			v.message = fmt.Sprintf("asks for %s=%s, and the quota allows the namespace %s=%s in all (%s)", name, requested, name, limited, words)
			return
		}
		v.meaning, v.code = quotaFull, ""
	}
}

// outcome is that of an attempt that was refused.
func (v verdict) outcome() *run.Outcome {
	return &run.Outcome{Class: run.NeverStarted, Reason: v.code, Message: v.message, Final: true}
}

// short is an error without the URL that it begins with.
func short(err error) string {
	var request *url.Error
	for errors.As(err, &request) {
		err = request.Err
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return "none in time"
	}
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}
