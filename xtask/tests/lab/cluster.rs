//! A lab as the trials use it: through the command line, and its record for what they want to see from outside.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use xtask::lab::Lab;
use xtask::lab::process::{Process, in_namespace};

/// The lab that all trials share.
static SHARED: Mutex<Option<Cluster>> = Mutex::new(None);

/// How long anything may take that is waited for: far more than anything here does on a busy machine.
const LIMIT: Duration = Duration::from_secs(300);

/// A lab that ends when it is dropped.
pub struct Cluster {
    pub name: &'static str,
}

/// Does `test` on the lab that all trials share, which has two nodes and no faults.
pub fn shared(test: impl FnOnce(&Cluster)) {
    // A trial that panicked leaves a lab that has to be healed only.
    let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
    let cluster = shared.get_or_insert_with(|| Cluster::up("shared", 2));
    cluster.lab(&["heal"]);
    test(cluster);
}

pub fn end_shared() {
    drop(SHARED.lock().unwrap_or_else(PoisonError::into_inner).take());
}

impl Cluster {
    /// Makes one, in the place of what an earlier run may have left.
    pub fn up(name: &'static str, nodes: u32) -> Self {
        Self::up_with(name, nodes, &[])
    }

    /// The same with further options.
    pub fn up_with(name: &'static str, nodes: u32, options: &[&str]) -> Self {
        let cluster = Self { name };
        cluster.lab(&[&["up", "--fresh", "--nodes", &nodes.to_string()], options].concat());
        cluster
    }

    /// The folder of the lab, the same in every run: so the next one finds what one that was killed has left.
    pub fn folder(&self) -> PathBuf {
        Self::state().join(self.name)
    }

    fn state() -> PathBuf {
        let state = Path::new(env!("CARGO_TARGET_TMPDIR")).join("labs");
        fs::create_dir_all(&state).unwrap();
        state.canonicalize().unwrap()
    }

    /// `cargo xtask lab` with `words`, to be run.
    pub fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
        command.args(["lab", "--name", self.name, "--state"]).arg(Self::state()).args(words);
        // Below the folder of the lab or in /tmp a node might not have it.
        command.current_dir("/").stdin(Stdio::null());
        command
    }

    /// Runs `cargo xtask lab` with `words` and returns what it printed.
    #[track_caller]
    pub fn lab(&self, words: &[&str]) -> String {
        let command = self.command(words);
        // A command that waits for ever fails, too.
        let mut limited = Command::new("timeout");
        limited
            .arg("600")
            .arg(command.get_program())
            .args(command.get_args())
            .current_dir("/")
            .stdin(Stdio::null());
        let output = limited.output().unwrap();
        text(&limited, output)
    }

    /// As [`Cluster::lab`], when it has to fail; returns its complaint.
    #[track_caller]
    pub fn refused(&self, words: &[&str]) -> String {
        let output = self.command(words).output().unwrap();
        assert!(!output.status.success(), "{words:?} succeeded: {}", String::from_utf8_lossy(&output.stdout));
        String::from_utf8(output.stderr).unwrap()
    }

    /// Runs a shell line on the head and returns what it printed.
    #[track_caller]
    pub fn head(&self, line: &str) -> String {
        self.lab(&["run", "--", "sh", "-c", line])
    }

    /// Runs a shell line on a node and returns what it printed.
    #[track_caller]
    pub fn node(&self, name: &str, line: &str) -> String {
        self.lab(&["run", "--node", name, "--", "sh", "-c", line])
    }

    /// Starts a shell line on a node.
    pub fn spawn(&self, name: &str, line: &str) -> Child {
        self.command(&["run", "--node", name, "--", "sh", "-c", line]).stderr(Stdio::null()).spawn().unwrap()
    }

    pub fn record(&self) -> Lab {
        Lab::existing(&self.folder()).unwrap()
    }

    /// Everything that runs in it, on all hosts.
    pub fn processes(&self) -> Vec<Process> {
        let lab = self.record();
        let hosts = lab.hosts().filter_map(|host| host.namespaces.get("net"));
        hosts.flat_map(|network| in_namespace("net", network)).collect()
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        let _ = self.command(&["down"]).output();
    }
}

#[track_caller]
fn text(command: &Command, output: Output) -> String {
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {}: {complaint}", output.status);
    String::from_utf8(output.stdout).unwrap()
}

/// Lines in order, for answers that come in any.
pub fn sorted(text: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    lines
}

/// Waits for something that has to come.
#[track_caller]
pub fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + LIMIT;
    while !is_so() {
        assert!(Instant::now() < deadline, "waited {} s for {what}", LIMIT.as_secs());
        std::thread::sleep(Duration::from_millis(5));
    }
}
