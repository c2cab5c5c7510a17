// Package capsule is the PyCapsule protocol of DLPack: names, renaming on consumption, destructors.
//
// It knows capsules and no policy. What a consumer asks for and what it gets is decided in package pyglue.
package capsule
