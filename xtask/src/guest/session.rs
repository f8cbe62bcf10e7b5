//! One command in guests: a folder that host and guests share, the emulators, the exit status.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use super::RunArgs;
use super::kernel::Kernel;
use super::machine::Guest;
use super::{disk, keys};
use crate::workspace;

/// The second script of a guest.
const INIT: &str = include_str!("../../../lab/guest/init");

/// How often the emulators are looked at.
const LOOK: Duration = Duration::from_millis(50);

/// Boots, waits, ends everything; the exit status of the command.
pub fn run(args: &RunArgs, kernel: &Kernel, limit: Duration) -> Result<u8> {
    let folder = Folder::make()?;
    let session = &folder.0;
    fs::write(session.join("init"), INIT)?;
    fs::write(session.join("job"), job(&args.command, &std::env::current_dir()?))?;
    let args = &args.with_whole_path()?;
    let writable = args.writable.as_ref().map(|folder| folder.display().to_string());
    let facts = format!(
        "guests={}\nnics={}\nmodules={}\ndrivers='{}'\nwritable={}\n",
        args.guests,
        args.nics.0.len(),
        quoted(&kernel.folder.display().to_string()),
        Guest::drivers(args).join(" "),
        quoted(&writable.unwrap_or_default())
    );
    fs::write(session.join("facts"), facts)?;
    if args.guests > 1 {
        keys::make(session)?;
    }
    let mut guests = Vec::new();
    // From the last to the first, which waits for the others.
    for number in (1..=args.guests).rev() {
        guests.push(start(args, kernel, session, number)?);
    }
    let deadline = Instant::now() + limit;
    loop {
        for guest in &mut guests {
            if let Some(status) = guest.emulator.try_wait()? {
                if guest.number == 1 {
                    return ended(session, guest);
                }
                bail!("guest g{} ended early ({status}); {}", guest.number, tail(&guest.console));
            }
        }
        if Instant::now() > deadline {
            let told: Vec<String> =
                guests.iter().map(|guest| format!("g{}: {}", guest.number, tail(&guest.console))).collect();
            bail!("the guests did not end within {limit:?}\n{}", told.join("\n"));
        }
        std::thread::sleep(LOOK);
    }
}

fn ended(session: &Path, guest: &Running) -> Result<u8> {
    let text = fs::read_to_string(session.join("exit"));
    let text = text.with_context(|| format!("the guest ended without its job; {}", tail(&guest.console)))?;
    text.trim().parse().with_context(|| format!("'{}' is no exit status", text.trim()))
}

/// A guest that is ended when this is dropped.
struct Running {
    number: u32,
    emulator: Child,
    console: PathBuf,
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.emulator.kill();
        let _ = self.emulator.wait();
    }
}

fn start(args: &RunArgs, kernel: &Kernel, session: &Path, number: u32) -> Result<Running> {
    let files = (0..args.disks.0.len()).map(|index| disk::make(session, number, index));
    let guest = Guest {
        number,
        of: args.guests,
        numa: args.numa,
        nics: &args.nics,
        bare: args.bare,
        disks: &args.disks,
        files: files.collect::<Result<_>>()?,
        session,
        writable: args.writable.as_deref(),
        console: session.join(format!("console-{number}")),
    };
    let mut command = Command::new("qemu-system-x86_64");
    command.args(guest.arguments(kernel)).stdin(Stdio::null());
    let emulator = command.spawn().context("cannot start qemu-system-x86_64")?;
    Ok(Running { number, emulator, console: guest.console })
}

/// The job as a script: the command, in the folder of whoever asked for it.
fn job(command: &[String], folder: &Path) -> String {
    let words: Vec<String> = command.iter().map(|word| quoted(word)).collect();
    let folder = quoted(&folder.display().to_string());
    format!("cd {folder} || exit 125\nexport CI='{}'\nexec {}\n", ci(), words.join(" "))
}

fn ci() -> &'static str {
    if workspace::is_ci() { "true" } else { "" }
}

/// A word that a shell takes as it is.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// The last lines of a console.
fn tail(console: &Path) -> String {
    let text =
        fs::read(console).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let last = &lines[lines.len().saturating_sub(15)..];
    format!("the last of its console:\n{}", last.join("\n"))
}

/// The folder that host and guests share, for as long as the command runs.
struct Folder(PathBuf);

impl Folder {
    fn make() -> Result<Self> {
        // Names of sockets may have 107 bytes: a path below the workspace can be too long for them.
        let path = std::env::temp_dir().join(format!("seatrial-guest-{}", std::process::id()));
        fs::create_dir(&path).with_context(|| format!("cannot make {}", path.display()))?;
        Ok(Self(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_reach_the_job_as_they_were_typed() {
        let text = job(&["printf".into(), "%s|".into(), "it's".into(), "$HOME a".into()], Path::new("/"));
        let output = Command::new("sh").args(["-c", &text]).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout), "it's|$HOME a|");
    }

    #[test]
    fn a_folder_that_is_gone_is_not_replaced_by_another() {
        let text = job(&["true".into()], Path::new("/nonexistent"));
        assert_eq!(Command::new("sh").args(["-c", &text]).output().unwrap().status.code(), Some(125));
    }

    #[test]
    fn what_a_console_said_last_is_shown() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("console");
        let lines: Vec<String> = (0..40).map(|line| format!("line {line}\n\n")).collect();
        fs::write(&file, lines.concat()).unwrap();
        let text = tail(&file);
        assert!(
            text.ends_with("line 39") && !text.contains("line 24\n") && text.contains("line 25"),
            "{text}"
        );
    }
}
