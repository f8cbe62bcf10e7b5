//! Numbers of the CUDA driver: results, attributes, flags (cuda.h).

use crate::gpu::GpuFault;

pub(super) const SUCCESS: i32 = 0;

pub(super) mod attribute {
    pub const PROCESSORS: i32 = 16;
    pub const INTEGRATED: i32 = 18;
    pub const L2_BYTES: i32 = 38;
    pub const COPY_ENGINES: i32 = 40;
    pub const CAPABILITY_MAJOR: i32 = 75;
    pub const CAPABILITY_MINOR: i32 = 76;
}

/// `CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES`.
pub(super) const MOST_DYNAMIC_SHARED_BYTES: i32 = 8;
/// `CU_STREAM_NON_BLOCKING`: does not wait for the context's default stream.
pub(super) const NON_BLOCKING: u32 = 1;
/// `CU_MEMHOSTREGISTER_PORTABLE` and `CU_MEMHOSTREGISTER_DEVICEMAP`.
pub(super) const PORTABLE_AND_MAPPED: u32 = 1 | 2;
/// `CU_STREAM_WAIT_VALUE_GEQ`: until `(int32_t)(*word - value) >= 0`.
pub(super) const WAIT_GEQ: u32 = 0;
/// `CU_JIT_ERROR_LOG_BUFFER` and `CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES`.
pub(super) const JIT_ERROR_LOG: i32 = 5;
pub(super) const JIT_ERROR_LOG_BYTES: i32 = 6;

pub(super) const fn fault(code: i32) -> GpuFault {
    match code {
        // OUT_OF_MEMORY; callers that pin handle MAP_FAILED and OPERATING_SYSTEM.
        2 => GpuFault::OutOfMemory,
        // NOT_PERMITTED, OPERATING_SYSTEM.
        800 | 304 => GpuFault::NotPermitted,
        // STUB_LIBRARY, NO_DEVICE, INVALID_DEVICE.
        34 | 100 | 101 => GpuFault::NoDevice,
        // DEVICE_UNAVAILABLE (exclusive mode and taken, or prohibited), MPS errors and limits.
        46 | 805..=809 => GpuFault::Unavailable,
        // NO_BINARY_FOR_GPU, INVALID_PTX, JIT_COMPILER_NOT_FOUND, UNSUPPORTED_PTX_VERSION, UNSUPPORTED_EXEC_AFFINITY.
        209 | 218 | 221 | 222 => GpuFault::CodeRefused,
        // NOT_SUPPORTED, PEER_ACCESS_UNSUPPORTED. SYSTEM_NOT_READY and driver mismatch are reported as they are.
        801 | 217 => GpuFault::NotSupported,
        // PEER_ACCESS_ALREADY_ENABLED, HOST_MEMORY_ALREADY_REGISTERED.
        704 | 712 => GpuFault::AlreadyDone,
        // DEINITIALIZED, ECC_UNCORRECTABLE, NVLINK_UNCORRECTABLE, ILLEGAL_ADDRESS, LAUNCH_TIMEOUT, CONTEXT_IS_DESTROYED,
        // ASSERT, HARDWARE_STACK_ERROR to LAUNCH_FAILED, CONTAINED, UNKNOWN.
        4 | 214 | 220 | 700 | 702 | 709 | 710 | 714..=719 | 721 | 999 => GpuFault::Lost,
        _ => GpuFault::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_sorted_by_what_they_mean_for_a_measurement() {
        for (code, expected) in [
            (2, GpuFault::OutOfMemory),
            (46, GpuFault::Unavailable),
            (100, GpuFault::NoDevice),
            (222, GpuFault::CodeRefused),
            (719, GpuFault::Lost),
            (801, GpuFault::NotSupported),
            (1, GpuFault::Other),
        ] {
            assert_eq!(fault(code), expected, "{code}");
        }
    }
}
