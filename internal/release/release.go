// Package release ends what a compare-and-swap began, by a store with release order: the unlocking half of a lock. sync/atomic
// has none. Its stores are sequentially consistent, for which a processor with strong order stops until everything before
// is visible; that takes as long as the compare-and-swap itself.
package release
