//go:build !race

package ctest

// RaceDetector says whether this is a build with -race, which makes pools forget at random.
const RaceDetector = false
