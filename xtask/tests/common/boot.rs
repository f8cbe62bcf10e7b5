//! One boot of guests for a test: what it needs, and that no other test's guests run beside it.

use std::fs::File;
use std::path::Path;
use std::process::{Command, Output};

use xtask::packages::{self, Package};

/// What `command` in the first guest came to, or none where guests cannot be had. `besides` is what it needs of the machine
/// besides what every guest does.
///
/// Guests of all tests boot one at a time, in whichever process and thread: emulated machines beside each other take each
/// other's processors, and what inside of them has a limit in seconds would then depend on who else is there. The guest's own
/// limit counts from its boot.
pub fn boot(options: &[&str], command: &[&str], besides: &[Package]) -> Option<Output> {
    let needed: Vec<Package> = packages::GUEST.iter().chain(besides).copied().collect();
    let missing = packages::missing_now(&needed);
    if !missing.is_empty() && !xtask::workspace::is_ci() {
        let names: Vec<&str> = missing.iter().map(|package| package.name).collect();
        eprintln!("skipped: guests need {}", names.join(" "));
        return None;
    }
    // Given back with the file: at the end of this function, or by the system when this process ends.
    let turn = File::create(Path::new(env!("CARGO_TARGET_TMPDIR")).join("guests.turn")).unwrap();
    turn.lock().unwrap();
    let mut guest = Command::new(env!("CARGO_BIN_EXE_xtask"));
    guest.args(["guest", "run"]).args(options).arg("--").args(command);
    Some(guest.output().unwrap())
}

/// What a guest's command complained of, and how it ended: for the beginning of a panic's text.
pub fn complaint(output: &Output) -> String {
    format!("{}: {}", output.status, String::from_utf8_lossy(&output.stderr).trim_end())
}
