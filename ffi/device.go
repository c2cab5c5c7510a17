package ffi

import (
	"fmt"
	"strconv"
	"strings"
)

// DLDeviceType says what kind of memory a tensor lives in.
type DLDeviceType int32

// The device types of DLPack 1.3. The numbers 5 and 6 were never given out.
const (
	CPU         DLDeviceType = 1  // host memory
	CUDA        DLDeviceType = 2  // memory of an NVIDIA GPU
	CUDAHost    DLDeviceType = 3  // host memory pinned by CUDA
	OpenCL      DLDeviceType = 4  // a cl_mem handle
	Vulkan      DLDeviceType = 7  // a Vulkan buffer
	Metal       DLDeviceType = 8  // an MTLBuffer
	VPI         DLDeviceType = 9  // a Verilog simulator's buffer
	ROCM        DLDeviceType = 10 // memory of an AMD GPU
	ROCMHost    DLDeviceType = 11 // host memory pinned by ROCm
	ExtDev      DLDeviceType = 12 // reserved for trying out extension devices
	CUDAManaged DLDeviceType = 13 // CUDA unified memory, reachable from host and GPU
	OneAPI      DLDeviceType = 14 // SYCL unified shared memory; host, device or shared, only the SYCL context knows
	WebGPU      DLDeviceType = 15 // a WebGPU buffer
	Hexagon     DLDeviceType = 16 // Qualcomm Hexagon DSP
	MAIA        DLDeviceType = 17 // Microsoft MAIA
	Trn         DLDeviceType = 18 // AWS Trainium
	TPU         DLDeviceType = 19 // memory of a Google TPU
	TPUHost     DLDeviceType = 20 // host memory pinned for a TPU
)

// DLDevice is one device: its type, and its number among the devices of that type.
type DLDevice struct {
	DeviceType DLDeviceType
	DeviceID   int32
}

// deviceFacts is what this package knows of a device type.
type deviceFacts struct {
	name string
	// host: the host may load and store through data.
	host bool
	// addressable: data is an address in the sense that bytes may be added to it, not a handle. Where it is, exports
	// fold byte_offset into data, and the validator judges where the tensor's bytes lie.
	addressable bool
	streams     streamKind
}

// devices is indexed by device type; a row without a name is no device.
var devices = [...]deviceFacts{
	CPU:         {"cpu", true, true, streamsNone},
	CUDA:        {"cuda", false, true, streamsCUDA},
	CUDAHost:    {"cuda_host", true, true, streamsCUDA},
	OpenCL:      {"opencl", false, false, streamsOther},
	Vulkan:      {"vulkan", false, false, streamsOther},
	Metal:       {"metal", false, false, streamsOther},
	VPI:         {"vpi", false, false, streamsOther},
	ROCM:        {"rocm", false, true, streamsROCM},
	ROCMHost:    {"rocm_host", true, true, streamsROCM},
	ExtDev:      {"ext_dev", false, false, streamsOther},
	CUDAManaged: {"cuda_managed", true, true, streamsCUDA},
	OneAPI:      {"oneapi", false, true, streamsOther},
	WebGPU:      {"webgpu", false, false, streamsOther},
	Hexagon:     {"hexagon", false, false, streamsOther},
	MAIA:        {"maia", false, false, streamsOther},
	Trn:         {"trn", false, false, streamsOther},
	TPU:         {"tpu", false, false, streamsOther},
	TPUHost:     {"tpu_host", true, true, streamsOther},
}

// facts returns the row of t, an empty one when t is no device type.
func (t DLDeviceType) facts() *deviceFacts {
	if uint32(t) < uint32(len(devices)) {
		return &devices[t]
	}
	return &devices[0]
}

// Known reports whether DLPack 1.3 defines t.
func (t DLDeviceType) Known() bool { return t.facts().name != "" }

// HostAccessible reports whether the host may read and write memory of this type through its data pointer: plain host
// memory, host memory pinned for a GPU or TPU, and CUDA managed memory. OneAPI's unified shared memory may be
// reachable, but the descriptor cannot say so, and it counts as unreachable.
func (t DLDeviceType) HostAccessible() bool { return t.facts().host }

// Addressable reports whether data is an address to which a byte offset may be added, as on host memory and on CUDA,
// ROCm and OneAPI devices. Elsewhere data is a handle, or nothing is known about it.
func (t DLDeviceType) Addressable() bool { return t.facts().addressable }

// String returns the name of t in lower case, such as "cpu", "cuda" or "cuda_host".
func (t DLDeviceType) String() string {
	if name := t.facts().name; name != "" {
		return name
	}
	return "device(" + strconv.Itoa(int(t)) + ")"
}

// HostAccessible reports whether the host may read and write memory of this device; see DLDeviceType.HostAccessible.
func (d DLDevice) HostAccessible() bool { return d.DeviceType.HostAccessible() }

// String returns the name of the type and the number, as in "cuda:0".
func (d DLDevice) String() string {
	return d.DeviceType.String() + ":" + strconv.Itoa(int(d.DeviceID))
}

// ParseDevice reads what DLDevice.String writes. The number may be left out and is 0 then: "cuda" is "cuda:0".
func ParseDevice(name string) (DLDevice, error) {
	word, number, numbered := strings.Cut(name, ":")
	id := uint64(0)
	if numbered {
		var err error
		if id, err = strconv.ParseUint(number, 10, 31); err != nil {
			return DLDevice{}, fmt.Errorf("ffi: device %q: the number after the colon must be 0 to 2147483647, as in \"cuda:0\"", name)
		}
	}
	for t := range devices {
		if devices[t].name != "" && devices[t].name == word {
			return DLDevice{DLDeviceType(t), int32(id)}, nil
		}
	}
	return DLDevice{}, fmt.Errorf("ffi: device %q is unknown; known are %s", name, deviceNames())
}

// deviceNames lists every known name, for messages.
func deviceNames() string {
	var names []string
	for t := range devices {
		if devices[t].name != "" {
			names = append(names, devices[t].name)
		}
	}
	return strings.Join(names, ", ")
}
