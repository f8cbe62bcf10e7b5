//! One command line of the binary with its environment.

use std::fs::File;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

use super::{Ended, Home, Script, Started};

/// The shortest measurement of this machine, for tests about processes.
pub const SMALL: &str = "-p array=4MiB -p threads=1 -p time=300ms -p trials=1 -p max_trials=1";

/// Times of a phase to try one after the other: on a busy machine, the test may get no CPU during the shorter ones.
pub const TIMES: [&str; 4] = ["300ms", "2s", "10s", "40s"];

pub fn small(time: &str) -> String {
    SMALL.replace("time=300ms", &format!("time={time}"))
}

/// A measurement of an hour a trial, for tests that end it.
pub const ENDLESS: &str =
    "run mem.bandwidth -p array=4MiB -p threads=1 -p time=3600s -p trials=1000 -p max_trials=1000";

pub struct Call {
    words: Vec<String>,
    wrapper: Vec<String>,
    env: Vec<(&'static str, Option<String>)>,
    home: Home,
}

impl Call {
    pub(super) fn new(home: &Home, line: &str) -> Self {
        Self {
            words: line.split_whitespace().map(str::to_owned).collect(),
            wrapper: Vec::new(),
            env: Vec::new(),
            home: home.clone(),
        }
    }

    /// Adds a word, which may contain blanks.
    pub fn word(mut self, word: impl AsRef<Path>) -> Self {
        self.words.push(word.as_ref().to_str().expect("text").to_owned());
        self
    }

    pub fn script(self, script: &Script) -> Self {
        let file = tempfile::Builder::new().suffix(".json").tempfile_in(self.home.folder()).expect("a file");
        let (file, path) = file.keep().expect("kept");
        serde_json::to_writer(file, &script.to_json()).expect("written");
        self.word("--script").word(path)
    }

    /// Under another program, which gets the binary and its words as last arguments.
    pub fn under(mut self, program: &[&str]) -> Self {
        self.wrapper = program.iter().map(|&word| word.to_owned()).collect();
        self
    }

    /// With an environment variable; removed for `None`.
    pub fn env(mut self, name: &'static str, value: Option<&str>) -> Self {
        self.env.push((name, value.map(str::to_owned)));
        self
    }

    #[track_caller]
    pub fn run(self) -> Ended {
        self.start().ended()
    }

    /// Starts the command in a process group of its own, with output to files, so that nobody has to read it.
    #[track_caller]
    pub fn start(self) -> Started {
        let binary = env!("CARGO_BIN_EXE_seatrial").to_owned();
        let mut line = self.wrapper.into_iter().chain([binary]).chain(self.words);
        let mut command = Command::new(line.next().expect("the binary at least"));
        command.args(line);
        let print =
            || tempfile::NamedTempFile::new_in(self.home.folder()).expect("a file").keep().expect("kept");
        let ((out, out_path), (err, err_path)): ((File, _), (File, _)) = (print(), print());
        command.stdin(Stdio::null()).stdout(out).stderr(err).process_group(0);
        for name in ["NO_COLOR", "SEATRIAL_LOG", "XDG_DATA_HOME", "CLICOLOR", "CLICOLOR_FORCE"] {
            command.env_remove(name);
        }
        command.env("SEATRIAL_HOME", self.home.path());
        for (name, value) in self.env {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        let child = command.spawn().unwrap_or_else(|error| panic!("{command:?}: {error}"));
        Started::new(child, self.home, out_path, err_path)
    }
}
