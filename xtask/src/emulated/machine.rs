//! The machines that are emulated.

use std::path::Path;
use std::process::Command;

/// A processor, and the emulator that runs programs as if on it.
#[derive(Debug, PartialEq, Eq)]
pub struct Machine {
    /// What it is called in the output.
    pub name: &'static str,
    /// The widest instruction set of `mem.bandwidth` that it has.
    pub isa: &'static str,
    /// The emulator and its options.
    pub emulator: &'static [&'static str],
}

/// Those that run what is built for this one. Models are those of QEMU 7.2 (`-cpu help`); it has no AVX-512.
pub const X86: [Machine; 2] = [
    // SSE3 and SSSE3, no SSE4, POPCNT or AVX.
    Machine { name: "x86-64 of 2008", isa: "sse2", emulator: &["qemu-x86_64", "-cpu", "core2duo"] },
    // The three that are taken away are of the kernel's side; the emulator would warn at each start that it lacks them.
    Machine {
        name: "x86-64-v3",
        isa: "avx2",
        emulator: &["qemu-x86_64", "-cpu", "Haswell-noTSX,-pcid,-tsc-deadline,-x2apic,-invpcid"],
    },
];

/// The one that needs programs of its own: NEON, no SVE; its C library is where Debian's cross compiler has it.
pub const ARM: Machine = Machine {
    name: "64-bit Arm",
    isa: "neon",
    emulator: &["qemu-aarch64", "-cpu", "neoverse-n1", "-L", "/usr/aarch64-linux-gnu"],
};

impl Machine {
    /// A command that runs `program` as on this machine, and so every process that it starts of itself; it is killed
    /// after `seconds`.
    pub fn command(&self, program: &Path, seconds: u32) -> Command {
        let mut command = Command::new("timeout");
        command.args(["--kill-after=5", &seconds.to_string()]).args(self.emulator).arg(program);
        command.env("SEATRIAL_WRAPPER", self.emulator.join(" "));
        command
    }
}
