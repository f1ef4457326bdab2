package kubeconfig

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Refused is an API server's no to what was sent: the same request would get it again.
type Refused struct {
	Message string // in its own words
	Reason  metav1.StatusReason
	Err     error
}

func (e *Refused) Error() string { return e.Message }
func (e *Refused) Unwrap() error { return e.Err }

// Error is why there is no answer that says anything of what was sent.
type Error struct {
	Message string // what is wrong, in one line
	Fix     string // what to do, as an imperative
	Err     error  // what it was found by; its text is not fit to be shown
}

func (e *Error) Error() string {
	return e.Message + "\n" + strings.ToUpper(e.Fix[:1]) + e.Fix[1:] + "."
}
func (e *Error) Unwrap() error { return e.Err }

// Explain sorts what client-go returns into the two.
func (t Target) Explain(err error) error {
	var answer apierrors.APIStatus
	if errors.As(err, &answer) {
		return t.answered(answer.Status(), err)
	}
	return t.unanswered(err)
}

// answered is an error of the API server, or of what stands before it.
func (t Target) answered(s metav1.Status, err error) error {
	e := &Error{Message: fmt.Sprintf("%s: %s", t.name(), s.Message), Err: err}
	switch {
	case s.Code == http.StatusUnauthorized:
		e.Message = fmt.Sprintf("%s does not accept the kubeconfig's credentials (401 Unauthorized)", t.name())
		e.Fix = "log in again, and type \"" + t.kubectl("auth whoami") + "\" to see whether that helped"
	case s.Code == http.StatusForbidden && (s.Details == nil || s.Details.Name == ""):
		// Authorisation forbids the request; admission, which forbids an object, names it.
		e.Fix = "ask for the right, or ask as someone else with --context"
	case s.Code == http.StatusNotFound && s.Details != nil && s.Details.Kind == "namespaces":
		e.Fix = "choose a namespace that exists with --namespace"
	case s.Code == http.StatusTooManyRequests || s.Code >= http.StatusInternalServerError:
		e.Fix = "try again; \"" + t.kubectl("get --raw /readyz?verbose") + "\" says how the API server is"
	default:
		return &Refused{Message: s.Message, Reason: s.Reason, Err: err}
	}
	return e
}

// unanswered is an error on the way to the API server.
func (t Target) unanswered(err error) error {
	e := &Error{Message: fmt.Sprintf("no answer from %s: %s", t.name(), withoutURL(err)), Err: err,
		Fix: "type \"" + t.kubectl("cluster-info") + "\" to see whether kubectl gets one, or choose another cluster with --context or --kubeconfig"}
	var dns *net.DNSError
	var certificate *tls.CertificateVerificationError
	switch {
	case errors.Is(err, context.Canceled):
		return context.Canceled
	case errors.Is(err, context.DeadlineExceeded):
		e.Message = fmt.Sprintf("no answer from %s in time", t.name())
	case errors.Is(err, syscall.ECONNREFUSED):
		e.Message = fmt.Sprintf("no answer from %s: connection refused", t.name())
	case errors.As(err, &dns):
		e.Message = fmt.Sprintf("no answer from %s: the name %s is not known", t.name(), dns.Name)
	case errors.As(err, &certificate):
		e.Message = fmt.Sprintf("%s has a certificate that is not trusted: %s", t.name(), certificate.Err)
		e.Fix = "correct certificate-authority of the kubeconfig's cluster"
	}
	return e
}

// name is the cluster as its user knows it.
func (t Target) name() string {
	if t.Context == "" {
		return "the cluster at " + t.Host
	}
	return fmt.Sprintf("the cluster at %s (context %s)", t.Host, t.Context)
}

func (t Target) kubectl(args string) string {
	if t.Context == "" {
		return "kubectl " + args
	}
	return "kubectl --context " + t.Context + " " + args
}

// withoutURL is what went wrong with a request, in a line and without the request.
func withoutURL(err error) string {
	var request *url.Error
	for errors.As(err, &request) {
		err = request.Err
	}
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}
