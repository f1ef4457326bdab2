package fit

import "iter"

// live gives those that are there, of a list of the index.
func (s *Snapshot) live(list []*carried, also func(*carried) bool) iter.Seq[*carried] {
	return func(yield func(*carried) bool) {
		for _, c := range list {
			if !s.gone[c] && !yield(c) {
				return
			}
		}
		for _, c := range s.more {
			if also(c) && !yield(c) {
				return
			}
		}
	}
}

// on gives the pods that a node carries.
func (s *Snapshot) on(n *node) iter.Seq[*carried] {
	return s.live(n.pods, func(c *carried) bool { return c.node == n })
}

// in gives the pods of a namespace that nodes carry.
func (s *Snapshot) in(namespace string) iter.Seq[*carried] {
	return s.live(s.byNamespace[namespace], func(c *carried) bool { return c.Namespace == namespace })
}

// all gives the pods that nodes carry.
func (s *Snapshot) all() iter.Seq[*carried] {
	return s.live(s.pods, func(*carried) bool { return true })
}

// rulesFor gives the rules that may mean pods of a namespace.
func (s *Snapshot) rulesFor(namespace string) iter.Seq[rule] {
	return func(yield func(rule) bool) {
		for _, rules := range [][]rule{s.rulesIn[namespace], s.rulesAny} {
			for _, r := range rules {
				if !s.gone[r.carried] && !yield(r) {
					return
				}
			}
		}
		for _, c := range s.more {
			for i := range c.repels {
				if !yield(rule{c, &c.repels[i]}) {
					return
				}
			}
		}
	}
}

// used is what the pods on a node take of it.
func (s *Snapshot) used(n *node) amounts {
	used := n.used
	for c := range s.gone {
		if c.node == n {
			used = used.minus(c.takes)
		}
	}
	for _, c := range s.more {
		if c.node == n {
			used = used.plus(c.takes)
		}
	}
	return used
}
