// Package census turns Kubernetes objects into the facts that package explain works on: from what kubectl
// prints, from manifests, from the lists of an API server, and from a dump that it has written itself.
//
// It promises:
//   - Of each object only what explaining needs is kept; env, args, commands, probes, mounts, images, names of
//     Secrets and ConfigMaps and annotations that don't count are gone as soon as it has been decoded. A dump
//     has what is kept, and so none of these either.
//   - A kind of which nothing was read is nil among the facts, which is not "there are none". The facts then
//     say why.
//   - Keys are case-sensitive, as the API server has them. A key of a manifest that it would ignore is found,
//     with the nearest that it knows.
//   - Kinds that say nothing about placement are counted and named, not dropped without a word.
//   - It reads a stream object by object, in memory that what is kept needs, and not the text.
package census
