package ffi

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
)

// Stream is the stream argument of __dlpack__: the stream on which the consumer will use the tensor, and which the
// producer makes wait for pending work. The zero value is None.
type Stream struct {
	given bool
	value int64
}

// Stream values with a meaning of their own; see CheckStream for the devices they belong to.
const (
	StreamNoSync    = -1 // the producer is not to synchronise at all
	StreamDefault   = 0  // ROCm: the default stream
	StreamLegacy    = 1  // CUDA: the legacy default stream
	StreamPerThread = 2  // CUDA: the per-thread default stream
)

// NoStream is the stream None: on CUDA and ROCm the default stream, elsewhere no stream.
var NoStream = Stream{}

// StreamOf returns the stream of this value: one of those above, or a handle (a cudaStream_t, a hipStream_t).
func StreamOf(value int64) Stream { return Stream{true, value} }

// Value returns the value of s, and false when s is None.
func (s Stream) Value() (int64, bool) { return s.value, s.given }

// String returns the value of s, or "None".
func (s Stream) String() string {
	if !s.given {
		return "None"
	}
	return strconv.FormatInt(s.value, 10)
}

// streamKind names a row of streamRules.
type streamKind uint8

const (
	streamsNone streamKind = iota
	streamsCUDA
	streamsROCM
	streamsOther
	streamKinds
)

// StreamRule says which streams a device accepts beside None, which all accept.
type StreamRule struct {
	Values []int64 // these,
	Above  int64   // and every handle above this
	Words  string  // the same in words, and what to do
}

// noHandles is a bound above which no stream lies.
const noHandles = 1<<63 - 1

// streamRules follows the array API standard.
// https://data-apis.org/array-api/latest/API_specification/generated/array_api.array.__dlpack__.html
var streamRules = [streamKinds]StreamRule{
	streamsNone: {nil, noHandles, "host memory takes None only; leave stream out"},
	streamsCUDA: {[]int64{StreamNoSync, StreamLegacy, StreamPerThread}, 2,
		"None, -1, 1, 2 or a handle above 2 is accepted (0 is ambiguous); pass 1 for the legacy default stream"},
	streamsROCM: {[]int64{StreamNoSync, StreamDefault}, 2,
		"None, -1, 0 or a handle above 2 is accepted; pass 0 for the default stream"},
	streamsOther: {[]int64{StreamNoSync}, -1,
		"None, -1 or a handle of 0 or more is accepted; leave stream out"},
}

// Streams returns the rule for streams of this device type.
//
// Host memory accepts None only. CUDA devices, pinned and managed memory accept None, -1, 1, 2 and handles above 2;
// ROCm devices and pinned memory accept None, -1, 0 and handles above 2. What other devices mean by a stream is
// theirs: None, -1 and everything from 0 on pass.
func (t DLDeviceType) Streams() StreamRule {
	rule := streamRules[t.facts().streams]
	rule.Values = slices.Clone(rule.Values)
	return rule
}

// ErrStream is the sentinel of StreamError, for errors.Is.
var ErrStream = errors.New("ffi: a stream that the device does not accept")

// StreamError reports a stream that a device does not accept.
type StreamError struct {
	Device DLDevice
	Got    Stream
}

// Error returns what was given, what the device accepts, and what to do.
func (e *StreamError) Error() string {
	return fmt.Sprintf("stream is %s for %s; %s", e.Got, e.Device, streamRules[e.Device.DeviceType.facts().streams].Words)
}

// Is reports whether target is ErrStream.
func (e *StreamError) Is(target error) bool { return target == ErrStream }

// CheckStream returns a *StreamError when device does not accept stream; see DLDeviceType.Streams for what it accepts.
func CheckStream(device DLDevice, stream Stream) error {
	rule := &streamRules[device.DeviceType.facts().streams]
	if !stream.given || stream.value > rule.Above || slices.Contains(rule.Values, stream.value) {
		return nil
	}
	return &StreamError{device, stream}
}
