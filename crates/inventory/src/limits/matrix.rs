//! GPUs: limits of matrix products.

use seatrial_model::machine::{Gpu, Known};
use seatrial_model::{Limit, Unit};

use super::{alone, bound};

/// What one multiprocessor of a compute capability can do.
struct Processor {
    capability: &'static str,
    /// Arithmetic units for single precision, of which NVIDIA's library tells the sum.
    cores: u32,
    /// Dense operations (multiplications and additions) a clock on 16-bit numbers with 32-bit sums; half as many on tf32,
    /// twice as many on 8-bit integers.
    half: u32,
    /// The same on 8-bit floating point.
    fp8: Option<u32>,
    /// The same on 64-bit floating point, by matrix units where they are faster.
    fp64: u32,
}

/// NVIDIA's data sheets, dense rate / (multiprocessors x boost clock): A100 312 TFLOP/s / (108 x 1.41 GHz); A40 149.7 /
/// (84 x 1.74); L40S 362 / (142 x 2.52); H100 SXM 989 / (132 x 1.83); B200 2250 / (148 x 1.85). fp64: A100 19.5 / (108 x 1.41),
/// H100 SXM 67 / (132 x 1.98), both by matrix units. Cores, and fp64 of the others: CUDA C++ Programming Guide, compute
/// capabilities and throughput of arithmetic instructions (2 results a clock on 8.6 and 8.9, 64 on 10.0, each two operations).
const PROCESSORS: [Processor; 5] = [
    Processor { capability: "8.0", cores: 64, half: 2048, fp8: None, fp64: 128 },
    Processor { capability: "8.6", cores: 128, half: 1024, fp8: None, fp64: 4 },
    Processor { capability: "8.9", cores: 128, half: 1024, fp8: Some(2048), fp64: 4 },
    Processor { capability: "9.0", cores: 128, half: 4096, fp8: Some(8192), fp64: 256 },
    Processor { capability: "10.0", cores: 128, half: 8192, fp8: Some(16384), fp64: 128 },
];

/// Multiprocessors, and the operations that each can do in a clock on elements of `kind`: `bf16`, `fp16`, `tf32`, `fp8`,
/// `int8`, `fp32` (a multiplication and an addition for each core) or `fp64`.
pub fn gpu_matrix_operations(gpu: &Gpu, kind: &str) -> Known<(u32, u32)> {
    gpu.capability.clone().and_then(|capability| {
        gpu.cores.clone().and_then(|cores| {
            let Some(processor) = PROCESSORS.iter().find(|one| one.capability == capability) else {
                return Known::unknown(format!(
                    "Seatrial has no figure for the matrix units of compute capability {capability}"
                ));
            };
            let operations = match kind {
                "bf16" | "fp16" => Some(processor.half),
                "tf32" => Some(processor.half / 2),
                "int8" => Some(2 * processor.half),
                "fp8" => processor.fp8,
                "fp32" => Some(2 * processor.cores),
                "fp64" => Some(processor.fp64),
                _ => None,
            };
            match operations {
                Some(operations) => Known::Known((cores / processor.cores, operations)),
                None => {
                    Known::unknown(format!("compute capability {capability} has no matrix units for {kind}"))
                }
            }
        })
    })
}

/// Matrix products: multiprocessors x operations a clock x highest clock.
pub fn gpu_matrix_limit(gpu: &Gpu, kind: &str) -> Limit {
    alone(gpu_matrix_operations(gpu, kind).and_then(|(processors, operations)| {
        gpu.clock_mhz.clone().map(|mhz| {
            let value = f64::from(processors) * f64::from(operations) * f64::from(mhz) / 1e6;
            let formula = format!("{processors} processors x {operations} operations a clock x {mhz} MHz");
            bound(value, Unit::TeraflopPerSecond, formula, "nvml, data sheets")
        })
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn h100() -> Gpu {
        Gpu {
            cores: Known::Known(16896),
            capability: Known::Known("9.0".to_owned()),
            clock_mhz: Known::Known(1980),
            ..Gpu::default()
        }
    }

    #[test]
    fn an_h100_can_do_what_its_data_sheet_says_at_the_clock_of_the_sheet() {
        for (kind, sheet) in
            [("bf16", 989.4), ("fp16", 989.4), ("tf32", 494.7), ("fp8", 1978.9), ("int8", 1978.9)]
        {
            let at_sheet = Gpu { clock_mhz: Known::Known(1830), ..h100() };
            let Limit::Chain(bounds) = gpu_matrix_limit(&at_sheet, kind) else { panic!("{kind}") };
            let found = bounds[0].value.value();
            assert!((found / sheet - 1.0).abs() < 1e-3, "{kind}: {found}");
        }
        // The sheet states these at the highest clock: 66.9 TFLOP/s each.
        for kind in ["fp32", "fp64"] {
            let Limit::Chain(bounds) = gpu_matrix_limit(&h100(), kind) else { panic!("{kind}") };
            assert!((bounds[0].value.value() / 66.9 - 1.0).abs() < 1e-3, "{kind}");
        }
        let a100 = Gpu {
            cores: Known::Known(6912),
            capability: Known::Known("8.0".to_owned()),
            clock_mhz: Known::Known(1410),
            ..Gpu::default()
        };
        for kind in ["fp32", "fp64"] {
            let Limit::Chain(bounds) = gpu_matrix_limit(&a100, kind) else { panic!("{kind}") };
            assert!((bounds[0].value.value() / 19.5 - 1.0).abs() < 1e-2, "{kind}");
        }
    }

    #[test]
    fn a_gpu_that_nobody_knows_has_no_limit_and_says_why() {
        let why = |gpu: &Gpu, kind: &str| match gpu_matrix_limit(gpu, kind) {
            Limit::Unknown { reason } => reason,
            other => panic!("{other:?}"),
        };
        let of = |capability: &str| Gpu { capability: Known::Known(capability.to_owned()), ..h100() };
        assert!(why(&of("13.7"), "bf16").contains("compute capability 13.7"));
        assert!(why(&of("8.0"), "fp8").contains("no matrix units for fp8"));
        assert_eq!(why(&Gpu { clock_mhz: Known::unknown("not told"), ..h100() }, "bf16"), "not told");
    }
}
