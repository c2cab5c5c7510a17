package ffi_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/dlpackgo/dlpackgo/ffi"
)

func TestDeviceNamesAreReadBack(t *testing.T) {
	names := map[string]bool{}
	for _, deviceType := range deviceTypes {
		device := ffi.DLDevice{DeviceType: deviceType, DeviceID: 3}
		got, err := ffi.ParseDevice(device.String())
		if err != nil || got != device {
			t.Errorf("%q is read back as %v, %v", device, got, err)
		}
		if got, err := ffi.ParseDevice(deviceType.String()); err != nil || got != (ffi.DLDevice{DeviceType: deviceType}) {
			t.Errorf("%q is %v, %v, want number 0", deviceType, got, err)
		}
		names[deviceType.String()] = true
	}
	if len(names) != 18 {
		t.Errorf("%d names for 18 device types", len(names))
	}
	if got := (ffi.DLDevice{DeviceType: ffi.CUDA, DeviceID: 1}).String(); got != "cuda:1" {
		t.Errorf("got %q", got)
	}
	if got := (ffi.DLDevice{DeviceType: 5, DeviceID: 1}).String(); got != "device(5):1" {
		t.Errorf("got %q", got)
	}
}

func TestOtherSpellingsOfDevicesAreRefused(t *testing.T) {
	for _, name := range []string{"", ":", "gpu:0", "cuda:", "cuda:-1", "cuda:2147483648", "cuda:x", "device(5):1", "CPU", ":0"} {
		if got, err := ffi.ParseDevice(name); err == nil {
			t.Errorf("%q is %v", name, got)
		}
	}
}

func TestDeviceFacts(t *testing.T) {
	host := []ffi.DLDeviceType{ffi.CPU, ffi.CUDAHost, ffi.ROCMHost, ffi.CUDAManaged, ffi.TPUHost}
	addressable := append([]ffi.DLDeviceType{ffi.CUDA, ffi.ROCM, ffi.OneAPI}, host...)
	for deviceType := ffi.DLDeviceType(-40); deviceType < 40; deviceType++ {
		if got := deviceType.HostAccessible(); got != slices.Contains(host, deviceType) {
			t.Errorf("%v: host-accessible is %v", deviceType, got)
		}
		if got := deviceType.Addressable(); got != slices.Contains(addressable, deviceType) {
			t.Errorf("%v: addressable is %v", deviceType, got)
		}
		known := false
		for _, value := range deviceTypes {
			known = known || value == deviceType
		}
		if deviceType.Known() != known {
			t.Errorf("%v: known is %v", deviceType, deviceType.Known())
		}
	}
}

func TestStreamRules(t *testing.T) {
	const handle = 0x7f00_1234_5678
	values := []int64{-2, ffi.StreamNoSync, ffi.StreamDefault, ffi.StreamLegacy, ffi.StreamPerThread, 3, handle}
	cuda := []int64{-1, 1, 2, 3, handle}
	rocm := []int64{-1, 0, 3, handle}
	other := []int64{-1, 0, 1, 2, 3, handle}
	accepted := map[ffi.DLDeviceType][]int64{
		ffi.CPU: nil, ffi.CUDA: cuda, ffi.CUDAHost: cuda, ffi.CUDAManaged: cuda, ffi.ROCM: rocm, ffi.ROCMHost: rocm,
	}
	for _, deviceType := range deviceTypes {
		want, listed := accepted[deviceType]
		if !listed {
			want = other
		}
		device := ffi.DLDevice{DeviceType: deviceType}
		if err := ffi.CheckStream(device, ffi.NoStream); err != nil {
			t.Errorf("None: %v", err)
		}
		for _, value := range values {
			err := ffi.CheckStream(device, ffi.StreamOf(value))
			if (err == nil) != slices.Contains(want, value) || err != nil && !errors.Is(err, ffi.ErrStream) {
				t.Errorf("%v, stream %d: %v", deviceType, value, err)
			}
		}
	}
}

func TestRefusedStreamSaysWhatIsAccepted(t *testing.T) {
	err := ffi.CheckStream(ffi.DLDevice{DeviceType: ffi.CUDA, DeviceID: 1}, ffi.StreamOf(0))
	var refused *ffi.StreamError
	if !errors.As(err, &refused) || refused.Device.DeviceID != 1 || refused.Got != ffi.StreamOf(0) {
		t.Fatalf("%#v", err)
	}
	want := "stream is 0 for cuda:1; None, -1, 1, 2 or a handle above 2 is accepted (0 is ambiguous); " +
		"pass 1 for the legacy default stream"
	if err.Error() != want {
		t.Errorf("%q, want %q", err, want)
	}
	err = ffi.CheckStream(ffi.DLDevice{DeviceType: ffi.CPU}, ffi.StreamOf(1))
	if err == nil || !strings.HasPrefix(err.Error(), "stream is 1 for cpu:0; host memory takes None only") {
		t.Error(err)
	}
}

func TestStreamValues(t *testing.T) {
	if value, given := ffi.NoStream.Value(); given || value != 0 || ffi.NoStream.String() != "None" {
		t.Errorf("None is %v", ffi.NoStream)
	}
	if value, given := ffi.StreamOf(7).Value(); !given || value != 7 || ffi.StreamOf(7).String() != "7" {
		t.Errorf("7 is %v", ffi.StreamOf(7))
	}
}
