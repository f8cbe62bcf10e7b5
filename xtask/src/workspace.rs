//! Where the workspace is, and the commands that run in it.

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, ExitStatus};

use anyhow::{Context, Result, ensure};

/// The root folder of the workspace that this xtask was built from.
///
/// # Panics
/// Never: the crate's folder has a parent.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies inside the workspace")
}

/// The folders below the root whose folders are crates.
pub const CRATE_FOLDERS: [&str; 2] = ["crates", "benchmarks"];

/// Whether a continuous integration runs us: then what is missing is an error, not a remark.
pub fn is_ci() -> bool {
    std::env::var_os("CI").is_some_and(|value| value == "true")
}

/// Cargo with `args`, in the root; the cargo that started us when there is one.
pub fn cargo<I: IntoIterator<Item = S>, S: AsRef<OsStr>>(args: I) -> Command {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(args).current_dir(root());
    command
}

/// Runs `command` to its end with our own standard streams.
///
/// # Errors
/// When it cannot be started or does not exit with 0.
pub fn run(command: &mut Command) -> Result<()> {
    let shown = show(command);
    eprintln!("> {shown}");
    let status: ExitStatus = command.status().with_context(|| format!("cannot start `{shown}`"))?;
    ensure!(status.success(), "`{shown}` ended with {status}");
    Ok(())
}

/// The command as a person would type it.
pub fn show(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_name().unwrap_or(command.get_program());
    std::iter::once(program)
        .chain(command.get_args())
        .map(|word| word.to_string_lossy().into_owned())
        .collect::<Vec<_>>()
        .join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_holds_the_lock_file_and_this_crate() {
        assert!(root().join("Cargo.lock").is_file());
        assert!(root().join("xtask/src/workspace.rs").is_file());
    }

    #[test]
    fn a_command_that_fails_is_an_error_with_its_name() {
        let error = run(&mut Command::new("false")).unwrap_err();
        assert!(error.to_string().starts_with("`false` ended with exit status: 1"), "{error}");
        let error = run(&mut Command::new("/nonexistent/tool")).unwrap_err();
        assert!(error.to_string().contains("cannot start `tool`"), "{error}");
    }
}
