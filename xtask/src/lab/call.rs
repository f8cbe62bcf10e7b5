//! Calls of the system's tools, with errors that name the command, its end and what it said.

use std::ffi::OsStr;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use anyhow::{Context, Result, bail};

use crate::{packages, workspace};

/// `program` with `args`, found also where a plain user's search path does not look, speaking plain English.
pub fn tool<I: IntoIterator<Item = S>, S: AsRef<OsStr>>(program: impl AsRef<OsStr>, args: I) -> Command {
    let mut command = Command::new(program);
    command.args(args).env("PATH", search_path()).env("LC_ALL", "C").stdin(Stdio::null());
    command
}

/// The search path of the person and the folders of system programs.
pub fn search_path() -> std::ffi::OsString {
    // Folders that came from one such list can be joined again.
    std::env::join_paths(packages::search_path()).unwrap_or_default()
}

/// Where `program` is, for those that have to be started by their whole path.
///
/// # Errors
/// When it is in no folder of the search path.
pub fn find(program: &str) -> Result<PathBuf> {
    let places = packages::search_path().into_iter().map(|folder| folder.join(program));
    places.into_iter().find(|path| path.is_file()).with_context(|| format!("there is no program '{program}'"))
}

/// Runs `command` and returns what it wrote to standard output.
///
/// # Errors
/// When it cannot be started or does not exit with 0; with what it wrote to standard error.
pub fn output(command: &mut Command) -> Result<String> {
    let got = command.output().with_context(|| format!("cannot start `{}`", workspace::show(command)))?;
    judged(command, &got)
}

/// As [`output`], with `input` on its standard input.
///
/// # Errors
/// As [`output`].
pub fn fed(command: &mut Command, input: &str) -> Result<String> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child =
        command.spawn().with_context(|| format!("cannot start `{}`", workspace::show(command)))?;
    if let Some(mut pipe) = child.stdin.take() {
        // One that leaves before it has read all says why on standard error.
        let _ = pipe.write_all(input.as_bytes());
    }
    let got = child.wait_with_output().with_context(|| format!("`{}`", workspace::show(command)))?;
    judged(command, &got).with_context(|| format!("it was given:\n{}", input.trim_end()))
}

fn judged(command: &Command, got: &Output) -> Result<String> {
    if got.status.success() {
        return Ok(String::from_utf8_lossy(&got.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&got.stderr);
    bail!("`{}` ended with {}: {}", workspace::show(command), got.status, said.trim());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_call_names_the_command_its_end_and_its_complaint() {
        let error = output(&mut tool("sh", ["-c", "echo no disk >&2; exit 3"])).unwrap_err().to_string();
        assert_eq!(error, "`sh -c echo no disk >&2; exit 3` ended with exit status: 3: no disk");
        let error = output(&mut tool("/nonexistent/tool", [""; 0])).unwrap_err().to_string();
        assert!(error.contains("cannot start `tool`"), "{error}");
    }

    #[test]
    fn what_a_call_was_fed_with_reaches_it_and_stands_in_its_error() {
        assert_eq!(fed(&mut tool("cat", [""; 0]), "a\nb\n").unwrap(), "a\nb\n");
        let error = format!("{:#}", fed(&mut tool("sh", ["-c", "cat >&2; false"]), "a b\n").unwrap_err());
        assert!(error.contains("it was given:\na b") && error.ends_with("exit status: 1: a b"), "{error}");
    }
}
