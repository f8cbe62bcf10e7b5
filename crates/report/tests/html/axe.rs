//! The accessibility checker, from its package; stored in the target folder, not in the repository.

use std::fs::{self, File};
use std::path::Path;
use std::process::Command;

const PACKAGE: &str = "axe-core@4.14.1";

/// The checker's script, stored by an earlier call or fetched.
pub fn script() -> Result<String, String> {
    let store = Path::new(env!("CARGO_TARGET_TMPDIR")).join("axe");
    let place = store.join(PACKAGE).join("axe.min.js");
    let read = || fs::read_to_string(&place).ok();
    if let Some(script) = read() {
        return Ok(script);
    }
    fs::create_dir_all(&store).map_err(|error| format!("making {}: {error}", store.display()))?;
    // Of several concurrent tests one fetches, and the others find the file.
    let lock = File::create(store.join("lock")).map_err(|error| format!("making a lock: {error}"))?;
    lock.lock().map_err(|error| format!("locking: {error}"))?;
    if let Some(script) = read() {
        return Ok(script);
    }
    let fresh = store.join("new");
    // Left over by a killed process.
    let _ = fs::remove_dir_all(&fresh);
    fs::create_dir_all(&fresh).map_err(|error| format!("making {}: {error}", fresh.display()))?;
    run(Command::new("npm").args(["pack", "--silent", PACKAGE]).current_dir(&fresh))?;
    let file = fs::read_dir(&fresh).ok().and_then(|mut files| files.next()?.ok());
    let file = file.ok_or_else(|| format!("npm pack {PACKAGE} left nothing"))?.path();
    run(Command::new("tar").arg("-xzf").arg(&file).current_dir(&fresh))?;
    let unpacked = fresh.join("package");
    fs::rename(&unpacked, store.join(PACKAGE)).map_err(|error| format!("moving {PACKAGE}: {error}"))?;
    read().ok_or_else(|| format!("{PACKAGE} has no axe.min.js"))
}

fn run(command: &mut Command) -> Result<(), String> {
    match command.output() {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => Err(format!("{command:?}: {}", String::from_utf8_lossy(&output.stderr).trim())),
        Err(error) => Err(format!("{command:?}: {error}")),
    }
}
