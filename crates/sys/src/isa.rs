//! Instruction set extensions that the CPU has and the kernel enables.

/// The extensions that our kernels choose by, and related ones, spelled as Rust's target features. Empty on an
/// architecture without detection.
pub fn features() -> Vec<&'static str> {
    detect().into_iter().filter_map(|(name, there)| there.then_some(name)).collect()
}

/// Whether an extension is usable; false also for names that are not detected.
pub fn has(name: &str) -> bool {
    detect().into_iter().any(|(have, there)| there && have == name)
}

#[cfg(target_arch = "x86_64")]
fn detect() -> Vec<(&'static str, bool)> {
    macro_rules! ask {
        ($($name:tt)+) => { vec![$(($name, std::arch::is_x86_feature_detected!($name))),+] };
    }
    ask!("sse2" "sse3" "ssse3" "sse4.1" "sse4.2" "popcnt" "avx" "avx2" "fma" "f16c" "bmi1" "bmi2" "aes" "pclmulqdq"
         "avx512f" "avx512bw" "avx512cd" "avx512dq" "avx512vl" "avx512vnni" "avx512bf16" "rtm")
}

#[cfg(target_arch = "aarch64")]
fn detect() -> Vec<(&'static str, bool)> {
    macro_rules! ask {
        ($($name:tt)+) => { vec![$(($name, std::arch::is_aarch64_feature_detected!($name))),+] };
    }
    ask!("neon" "aes" "pmull" "sha2" "crc" "lse" "lse2" "fp16" "dotprod" "bf16" "i8mm" "rcpc" "sve" "sve2")
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn detect() -> Vec<(&'static str, bool)> {
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn agrees_with_the_kernel() {
        let info = std::fs::read_to_string("/proc/cpuinfo").expect("cpuinfo");
        let flags = info.lines().find(|line| line.starts_with("flags")).expect("flags");
        for name in ["sse2", "avx2", "avx512f"] {
            let listed = flags.split_whitespace().any(|flag| flag == name);
            assert_eq!(has(name), listed, "{name}");
        }
    }

    #[test]
    fn lists_what_it_has_and_nothing_unheard_of() {
        assert!(features().into_iter().all(has));
        #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
        assert!(features().iter().any(|name| ["sse2", "neon"].contains(name)));
        assert!(!has("warp-drive"));
    }
}
