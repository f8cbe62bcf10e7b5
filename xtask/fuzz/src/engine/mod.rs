//! Runs a target under libFuzzer.

mod kernel;

use std::process::ExitCode;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::{TARGETS, Target, target};

static CHOSEN: OnceLock<&Target> = OnceLock::new();
static PEAK: AtomicUsize = AtomicUsize::new(0);

/// `PROGRAM --target=NAME [FILE or FOLDER...] [-OPTION=VALUE...]`, the rest for libFuzzer, which leaves alone what begins with
/// two dashes and hands it on to the processes that it starts. With a file, the target reads it once.
///
/// # Panics
/// When there is no such target; and that is how a finding ends.
pub fn main() -> ExitCode {
    let mut args: Vec<String> = std::env::args().collect();
    let name = args.iter().find_map(|arg| arg.strip_prefix("--target=")).unwrap_or_default();
    let names: Vec<_> = TARGETS.iter().map(|target| target.name).collect();
    let chosen = target(name).unwrap_or_else(|| panic!("no target '{name}'; there are {}", names.join(", ")));
    CHOSEN.get_or_init(|| chosen);
    args.push(format!("-max_len={}", chosen.longest));
    let told = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        told(panic);
        // The engine keeps the input of what aborts; what catches panics must not hide them.
        std::process::abort();
    }));
    ExitCode::from(kernel::run(&args).unsigned_abs() as u8)
}

fn read(input: &[u8]) {
    if let Some(target) = CHOSEN.get() {
        PEAK.fetch_max(target.read(input), Ordering::Relaxed);
    }
}

/// Printed when the process ends, after the engine's own numbers.
fn tell() {
    eprintln!("peak allocation: {}", PEAK.load(Ordering::Relaxed));
}
