// Package lifecycle tests what only whole devplanes show: that they end without a trace however
// they end, that two of them don't meet, that faults break what they name and nothing more, and
// what the commands say when something is wrong. On Linux, whose /proc shows what is left.
package lifecycle
