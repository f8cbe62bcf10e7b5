//! Maps errors of the driver to the cause of a case's outcome.

use seatrial_model::{Cause, Reason};
use seatrial_sys::gpu::{GpuError, GpuFault};

/// An error while the part prepared: mostly not the GPU's fault.
pub fn preparing(gpu: &str, what: &str) -> impl Fn(GpuError) -> Reason + use<> {
    let (gpu, what) = (gpu.to_owned(), what.to_owned());
    move |error| {
        let (cause, advice) = match error.fault() {
            GpuFault::OutOfMemory => (Cause::NoSpace, "another process may use the memory; see nvidia-smi"),
            GpuFault::NotPermitted => (Cause::Denied, "see ulimit -l and the limits of the container"),
            GpuFault::Unavailable => (
                Cause::Denied,
                "another process uses the GPU in exclusive mode, or its compute mode is Prohibited; see \
                 nvidia-smi -q -d COMPUTE",
            ),
            GpuFault::NoDevice => (
                Cause::Missing,
                "check that the driver is loaded, that /dev/nvidia* exist, and that CUDA_VISIBLE_DEVICES \
                 includes the GPU",
            ),
            GpuFault::CodeRefused => (Cause::Missing, "the driver cannot translate the kernels; update it"),
            GpuFault::NotSupported => (Cause::Missing, "a newer driver may support it"),
            GpuFault::Lost | GpuFault::AlreadyDone | GpuFault::Other => {
                (Cause::IoError, "see the kernel log for Xid")
            }
        };
        let library = matches!(error, GpuError::Library(_));
        let advice = if library { "NVIDIA's driver is not installed here" } else { advice };
        Reason::new(cause, format!("{gpu}: {what}: {error}; {advice}"))
    }
}

/// An error while the GPU worked: the GPU's fault.
pub fn during(gpu: &str, what: &str) -> impl Fn(GpuError) -> Reason + use<> {
    let (gpu, what) = (gpu.to_owned(), what.to_owned());
    move |error| {
        let cause = match error.fault() {
            GpuFault::OutOfMemory => Cause::NoSpace,
            GpuFault::NotSupported => Cause::Missing,
            _ => Cause::IoError,
        };
        Reason::new(cause, format!("{gpu}: {what}: {error}; see the kernel log for Xid"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use seatrial_sys::library::LibraryError;

    fn refused(fault: GpuFault) -> GpuError {
        GpuError::Refused { call: "cuCall", code: 1, name: "NAME".to_owned(), text: String::new(), fault }
    }

    #[test]
    fn only_a_gpu_that_fails_at_work_speaks_against_itself() {
        let cause = |fault| preparing("gpu", "opening")(refused(fault)).cause;
        for fault in [
            GpuFault::OutOfMemory,
            GpuFault::NotPermitted,
            GpuFault::Unavailable,
            GpuFault::NoDevice,
            GpuFault::CodeRefused,
        ] {
            assert_eq!(cause(fault).outcome(), seatrial_model::Outcome::Unmeasured, "{fault:?}");
        }
        assert_eq!(cause(GpuFault::Lost), Cause::IoError);
        assert_eq!(during("gpu", "copying")(refused(GpuFault::Lost)).cause, Cause::IoError);
    }

    #[test]
    fn the_sentence_names_the_gpu_the_step_and_the_answer() {
        let error = preparing("0000:3b:00.0", "opening the driver")(
            LibraryError::NotFound { name: "libcuda.so.1".to_owned() }.into(),
        );
        let expected =
            "0000:3b:00.0: opening the driver: libcuda.so.1 not found; NVIDIA's driver is not installed here";
        assert_eq!((error.cause, error.text.as_str()), (Cause::Missing, expected));
    }
}
