package ffi

import "fmt"

// Major and Minor are the DLPack version that this module speaks. A consumer accepts every minor of its major.
const (
	Major = 1
	Minor = 3
)

// DLPackVersion is the version a producer built its struct to.
type DLPackVersion struct {
	Major, Minor uint32
}

// Version returns the version that this module writes into its own structs.
func Version() DLPackVersion { return DLPackVersion{Major, Minor} }

// String returns the version as "major.minor".
func (v DLPackVersion) String() string { return fmt.Sprintf("%d.%d", v.Major, v.Minor) }
