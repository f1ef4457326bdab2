// Package observertest has objects for the observer's tests: ones with a mark in every string, to see where
// strings go, and a cluster with as many pods as one likes.
package observertest
