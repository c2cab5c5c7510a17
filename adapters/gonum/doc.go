/*
Package gonum exchanges tensors with gonum's matrices and vectors without copying.

The functions named From take a view of a gonum value, which may be lent, written through, and handed to everything that
takes a tensor. Those named To make a gonum value over the memory of a view: a matrix needs rows that lie next to each other in
memory one by one (stride 1 along the second axis), a vector any positive stride. What gonum's types cannot express, such as
a transposed matrix, is refused with a safe.LayoutError; transpose the gonum value instead, or take a copy with
View.Contiguous.

A gonum value over a tensor is good for as long as the tensor: keep the tensor, and close it when the value is no longer used.

A [][]float64 has no memory of its own that could be shared. Put the rows into one slice, with mat.NewDense or
safe.SliceMutView, and take each row as a part of it.
*/
package gonum
