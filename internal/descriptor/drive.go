package descriptor

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
)

// Drive returns how many inputs a test that draws them at random is to try, and what to draw them from. The environment
// variables DLPACKGO_EXECUTIONS and DLPACKGO_SEED say so, else it is the usual number and a seed of 1. When the test
// ends, both are in its log, which go test -v shows, and which it shows anyway when the test has failed.
func Drive(t *testing.T, usual int) (n int, random *rand.Rand) {
	n = fromEnvironment(t, "DLPACKGO_EXECUTIONS", usual)
	seed := fromEnvironment(t, "DLPACKGO_SEED", 1)
	t.Logf("%d executions with DLPACKGO_SEED=%d", n, seed)
	return n, rand.New(rand.NewPCG(uint64(seed), 0))
}

func fromEnvironment(t *testing.T, name string, usual int) int {
	text := os.Getenv(name)
	if text == "" {
		return usual
	}
	value, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return value
}
