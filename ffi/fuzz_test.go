package ffi_test

import (
	"runtime"
	"testing"

	"github.com/dlpackgo/dlpackgo/ffi"
	"github.com/dlpackgo/dlpackgo/internal/descriptor"
)

func FuzzValidatorAgreesWithOracle(f *testing.F) {
	descriptor.Seeds(func(header, axes []byte) { f.Add(header, axes) })
	f.Fuzz(requireOracle)
}

func requireOracle(t *testing.T, header, axes []byte) {
	d := descriptor.Parse(header, axes)
	defer runtime.KeepAlive(d)
	want := oracle(d)
	err := ffi.ValidateVersioned(d.Versioned())
	got, _ := ffi.FaultOf(err)
	if got != want || (err == nil) != (want.Rule == ffi.RuleNone) {
		t.Errorf("%+v: got %v %+v, want %v %+v", d, got.Rule, got, want.Rule, want)
	}
}

func TestValidatorAgreesWithOracleOnMutations(t *testing.T) {
	n, random := descriptor.Drive(t, 50_000)
	descriptor.Mutations(n, random, func(header, axes []byte) { requireOracle(t, header, axes) })
}
