/*
Package images exchanges tensors of pixels with the image types of the standard library without copying.

A colour image is a tensor of shape (height, width, 4), a grey one of shape (height, width), a YCbCr image three tensors, one
a plane, and the place of its first pixel (see Planes). Elements are uint8. The functions named From take a view of an image,
those named To make an image over the memory of a view; the pixels of a row must lie next to each other, the rows may be any
distance apart. An image over a tensor is good for as long as the tensor: keep it, and close it when the image is no longer
used.
*/
package images
