//! Starts the running program again as a process: local agents and workers.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Words before each start of the running program: an emulator, a profiler, a debugger. Separated by blanks.
const WRAPPER: &str = "SEATRIAL_WRAPPER";

/// The running file, even if its path has another file meanwhile.
pub(crate) const RUNNING: &str = "/proc/self/exe";

pub(crate) fn wrapper() -> Option<OsString> {
    std::env::var_os(WRAPPER).filter(|words| !words.to_string_lossy().trim().is_empty())
}

pub(crate) fn own_program() -> Command {
    let Some(words) = wrapper() else {
        let mut command = Command::new(RUNNING);
        if let Some(name) = std::env::args_os().next() {
            command.arg0(name);
        }
        return command;
    };
    // In the wrapper's process RUNNING would be the wrapper.
    wrapped(&words, &fs::read_link(RUNNING).map_or_else(|_| RUNNING.into(), in_place))
}

/// A path of proc_pid_exe(5). Another run may have put a copy with the same content in the place of the running file.
fn in_place(path: PathBuf) -> PathBuf {
    let replaced = path.to_str().and_then(|path| path.strip_suffix(" (deleted)")).map(PathBuf::from);
    replaced.filter(|path| path.is_file()).unwrap_or(path)
}

fn wrapped(words: &OsStr, program: &Path) -> Command {
    let text = words.to_string_lossy();
    let mut words = text.split_whitespace();
    let mut command = Command::new(words.next().unwrap_or_default());
    command.args(words).arg(program);
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_the_wrapper_stand_before_the_program() {
        let command = wrapped(OsStr::new(" nice  -n 1 "), Path::new("/a folder/seatrial"));
        assert_eq!(command.get_program(), "nice");
        assert_eq!(command.get_args().collect::<Vec<_>>(), ["-n", "1", "/a folder/seatrial"]);
    }

    #[test]
    fn a_file_in_the_place_of_the_running_one_is_started() {
        let folder = tempfile::tempdir().expect("a folder");
        let (copy, gone) = (folder.path().join("copy"), folder.path().join("copy (deleted)"));
        assert_eq!(in_place(gone.clone()), gone);
        fs::write(&copy, "").expect("written");
        assert_eq!((in_place(gone), in_place(copy.clone())), (copy.clone(), copy));
    }

    #[test]
    fn the_running_program_starts_again_under_its_own_name() {
        let ended = own_program().arg("--list").output().expect("started");
        let listed = String::from_utf8_lossy(&ended.stdout).into_owned();
        assert!(listed.contains("the_running_program_starts_again_under_its_own_name"), "{listed}");
    }
}
