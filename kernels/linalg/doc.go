// Package linalg is dense linear algebra on tensor views: products, norms, linear systems and decompositions, with the
// meaning that numpy.linalg gives them.
//
// The work is done by the current backend of package backend: gonum, or OpenBLAS when it was asked for. Products and
// norms take float32 and float64; systems and decompositions take float64, and refuse NaN and infinity, with which they
// have no result.
package linalg
