//! The accessibility checker, from its package; kept in the target folder, never in the repository.

use std::fs::{self, File};
use std::path::Path;
use std::process::Command;

/// The package and its version.
const PACKAGE: &str = "axe-core@4.14.1";

/// The checker's script, from where an earlier call has put it, or else fetched.
pub fn script() -> Result<String, String> {
    let store = Path::new(env!("CARGO_TARGET_TMPDIR")).join("axe");
    let place = store.join(PACKAGE).join("axe.min.js");
    let read = || fs::read_to_string(&place).ok();
    if let Some(script) = read() {
        return Ok(script);
    }
    fs::create_dir_all(&store).map_err(|error| format!("making {}: {error}", store.display()))?;
    // Of several tests at once one fetches, and the others find what it has put there.
    let lock = File::create(store.join("lock")).map_err(|error| format!("making a lock: {error}"))?;
    lock.lock().map_err(|error| format!("locking: {error}"))?;
    if let Some(script) = read() {
        return Ok(script);
    }
    let fresh = store.join("new");
    // What somebody left who was killed.
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
