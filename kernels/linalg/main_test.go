package linalg_test

import (
	"os"
	"testing"

	test "github.com/dlpackgo/dlpackgo/kernels/internal/tensortest"
)

func TestMain(m *testing.M) { os.Exit(test.RunOnEachBackend(m)) }

func TestTheNamedBackendIsInUse(t *testing.T) { test.WantNamedBackend(t) }
