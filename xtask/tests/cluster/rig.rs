//! The labs that the trials share, with the binary under test in them.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, OnceLock, PoisonError};

use tempfile::TempDir;
use xtask::lab::Host;
use xtask::lab::process::in_namespace;
use xtask::workspace;

use crate::lab::Cluster;
use crate::started::{Ended, Started, TooLate, wait_until};

/// The lab of two nodes that most trials share, and the one of four nodes for those that need as many.
static SHARED: Mutex<Option<Rig>> = Mutex::new(None);
static WIDE: Mutex<Option<Rig>> = Mutex::new(None);

/// The one of sixteen, for groups.
static SIXTEEN: Mutex<Option<Rig>> = Mutex::new(None);

/// The one of two nodes with two links each.
static RAILS: Mutex<Option<Rig>> = Mutex::new(None);

/// The shortest measurement of two nodes.
pub const REQUESTS: &[&str] = &["run", "net.rr", "-p", "time=100ms", "-p", "trials=1", "-p", "max_trials=1"];

/// The shortest measurement of each node by itself.
pub const CHASE: &[&str] =
    &["run", "mem.latency", "-p", "size=64KiB", "-p", "time=100ms", "-p", "trials=1", "-p", "max_trials=1"];

/// Times to measure for, one after the other: see [`with_more_time`].
const TIMES: [&str; 4] = ["time=800ms", "time=5s", "time=20s", "time=60s"];

/// The same for as long as it takes until somebody ends it.
pub const ENDLESS: &str = "time=3600s";

/// The same for long enough that something can be done meanwhile.
pub fn long_chase(time: &str) -> [&str; 10] {
    ["run", "mem.latency", "-p", "size=64KiB", "-p", time, "-p", "trials=1", "-p", "max_trials=1"]
}

/// Both nodes over ssh, or by what else is said.
pub const BOTH: &[&str] = &["-w", "n[1-2]"];

/// A client of ssh as a site may have one. The last argument is the line for the node's shell, `$word`, and CHANGE does
/// something to it. It gives every node a cache of its own: the nodes of the lab share their home folders with the
/// machine.
const CLIENT: &str = "\
#!/bin/sh
count=$# at=0
for word; do
    at=$((at + 1))
    shift
    if [ $at -eq $count ]; then
        word=\"export XDG_CACHE_HOME=/tmp/cache; $word\"
        CHANGE
    fi
    set -- \"$@\" \"$word\"
done
exec SSH \"$@\"
";

/// The lab and what the trials need in it.
pub struct Rig {
    pub lab: Cluster,
    /// The binary where only the head has it: it has to travel.
    pub program: PathBuf,
    /// The same where all hosts have it.
    pub everywhere: PathBuf,
    client: PathBuf,
    client_text: String,
    folder: TempDir,
}

/// Does `test` on the lab of two nodes, which has no faults, and looks whether anything is left of it.
pub fn shared(test: impl FnOnce(&Rig)) {
    on(&SHARED, "cluster", 2, &[], test);
}

/// The same on the lab of four nodes.
pub fn wide(test: impl FnOnce(&Rig)) {
    on(&WIDE, "cluster-wide", 4, &[], test);
}

/// The same on the lab of sixteen nodes.
pub fn sixteen(test: impl FnOnce(&Rig)) {
    on(&SIXTEEN, "cluster-sixteen", 16, &[], test);
}

/// The same on the lab of two nodes with two links each.
pub fn on_rails(test: impl FnOnce(&Rig)) {
    on(&RAILS, "cluster-rails", 2, &["--rails", "2"], test);
}

fn on(lab: &Mutex<Option<Rig>>, name: &'static str, nodes: u32, options: &[&str], test: impl FnOnce(&Rig)) {
    let is_left_by_a_panic = lab.is_poisoned();
    lab.clear_poison();
    let mut shared = lab.lock().unwrap_or_else(PoisonError::into_inner);
    let rig = shared.get_or_insert_with(|| Rig::up(name, nodes, options));
    rig.lab.lab(&["heal"]);
    if is_left_by_a_panic {
        rig.clear();
    }
    test(rig);
    rig.lab.lab(&["heal"]);
    rig.wait_until_empty();
}

/// Does `test` with a time to measure for, and where it came too late once more with a longer one: what is to be done while
/// something measures needs a CPU, and a machine that is busy may give it none for as long as the shorter ones last. Every
/// other failure is one.
pub fn with_more_time(rig: &Rig, test: impl Fn(&str)) {
    for time in TIMES {
        let is_last = Some(&time) == TIMES.last();
        match catch_unwind(AssertUnwindSafe(|| test(time))) {
            Ok(()) => return,
            Err(panic) if is_last || !panic.is::<TooLate>() => resume_unwind(panic),
            Err(_) => {
                rig.clear();
                rig.wait_until_empty();
            }
        }
    }
}

pub fn end_shared() {
    for lab in [&SHARED, &WIDE, &SIXTEEN, &RAILS] {
        drop(lab.lock().unwrap_or_else(PoisonError::into_inner).take());
    }
}

impl Rig {
    fn up(name: &'static str, nodes: u32, options: &[&str]) -> Self {
        let built = built();
        let lab = Cluster::up_with(name, nodes, options);
        // The head has the machine's /tmp, a node its own.
        let folder = tempfile::Builder::new().prefix("cluster-test-").tempdir_in("/tmp").unwrap();
        let program = folder.path().join("seatrial");
        let everywhere = lab.folder().join("seatrial");
        for copy in [&program, &everywhere] {
            fs::copy(&built, copy).unwrap();
        }
        let client = folder.path().join("client");
        let ssh = lab.head("command -v ssh");
        let client_text = CLIENT.replace("SSH", ssh.trim());
        script(&client, &client_text.replace("CHANGE", ""));
        Self { lab, program, everywhere, client, client_text, folder }
    }

    /// Takes away what a trial left that failed: its faults and its jobs, and nodes that it took out. They would fail every
    /// trial behind it.
    fn clear(&self) {
        self.lab.lab(&["heal"]);
        self.lab.head("scancel --user=root; scontrol update nodename=ALL state=resume 2>/dev/null; true");
    }

    /// A folder of the head's with `seatrial` and `ssh` in it, for a search path.
    pub fn bin(&self) -> PathBuf {
        let bin = self.folder.path().join("bin");
        if !bin.exists() {
            fs::create_dir(&bin).unwrap();
            fs::hard_link(&self.program, bin.join("seatrial")).unwrap();
            fs::copy(&self.client, bin.join("ssh")).unwrap();
        }
        bin
    }

    /// A client that does `change`, a line of shell, to the line for the node's shell, `$word`.
    pub fn client_that(&self, name: &str, change: &str) -> String {
        let client = self.folder.path().join(name);
        script(&client, &self.client_text.replace("CHANGE", change));
        format!("--ssh={}", client.display())
    }

    /// The client, with options before those that Seatrial gives it: ssh(1) takes the first of each.
    pub fn client(&self, options: &str) -> String {
        format!("--ssh={} {options}", self.client.display())
    }

    /// Starts Seatrial on the head with `words`, which is all of the words of some slices.
    pub fn start(&self, words: &[&[&str]]) -> Started {
        self.start_as(&[], &self.program, words)
    }

    /// The same by another program's hand, such as salloc, and from another file.
    pub fn start_as(&self, by: &[&str], program: &Path, words: &[&[&str]]) -> Started {
        Started::new(self.command(by, program, words))
    }

    /// The command of that.
    pub fn command(&self, by: &[&str], program: &Path, words: &[&[&str]]) -> Command {
        let mut line = vec!["run", "--"];
        line.extend(by);
        line.push(program.to_str().unwrap());
        let words = words.concat();
        let client = self.client("");
        line.extend(&words);
        // Only where nodes are listed for ssh; whoever wants another client says so.
        let has_own = words.iter().any(|word| word.starts_with("--ssh") || word.starts_with("--launcher"));
        if by.is_empty() && words.contains(&"-w") && !has_own {
            line.push(&client);
        }
        let mut command = self.lab.command(&line);
        // Which Slurm passes on, as the client of ssh does.
        command.env("XDG_CACHE_HOME", "/tmp/cache");
        command
    }

    /// Runs Seatrial to its end.
    #[track_caller]
    pub fn run(&self, words: &[&[&str]]) -> Ended {
        self.start(words).end()
    }

    /// What of Seatrial runs on the nodes, and what of it or for it on the head.
    pub fn left(&self) -> Vec<String> {
        let running = self.running().into_iter();
        running.map(|(host, pid, file)| format!("{host}: {pid} {}", file.display())).collect()
    }

    /// The same as host, PID on the machine, and program.
    pub fn running(&self) -> Vec<(String, u32, PathBuf)> {
        let record = self.lab.record();
        let mut running = Vec::new();
        for host in record.hosts() {
            for process in in_namespace("net", &host.namespaces["net"]) {
                let Ok(file) = fs::read_link(format!("/proc/{}/exe", process.pid)) else { continue };
                let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
                // Below a folder or under a name of ours, perhaps with " (deleted)" at the end.
                let ours = file.to_string_lossy().contains("/seatrial");
                if ours || ["ssh", "srun", "mpirun", "orterun", "prterun"].contains(&name.as_str()) {
                    running.push((host.name.clone(), process.pid, file));
                }
            }
        }
        running
    }

    /// Jobs that Slurm knows of.
    pub fn jobs(&self) -> String {
        self.lab.head("squeue --noheader")
    }

    #[track_caller]
    pub fn wait_until_empty(&self) {
        wait_until(&format!("these or others to leave: {:?}", self.left()), || self.left().is_empty());
        wait_until(&format!("jobs to end: {}", self.jobs()), || self.jobs().is_empty());
        for Host { name, .. } in &self.lab.record().nodes {
            // Whole copies are kept.
            let others = "find /tmp/seatrial-* -type f ! -name '*+????????????????' 2>/dev/null || true";
            assert_eq!(self.lab.node(name, others), "", "{name}");
        }
    }
}

pub fn script(path: &Path, text: &str) {
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// The binary, of this state of the sources, without what only a debugger reads: it is copied to many nodes.
pub fn built() -> PathBuf {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| stripped(build())).clone()
}

/// `program` itself where nobody can take its symbols out.
fn stripped(program: PathBuf) -> PathBuf {
    let small = Path::new(env!("CARGO_TARGET_TMPDIR")).join("seatrial-of-lab");
    let status = Command::new("strip").arg("-o").arg(&small).arg(&program).status();
    if status.is_ok_and(|status| status.success()) { small } else { program }
}

/// With the features that the tests have, which xtask names, so that nothing is compiled for a second time.
fn build() -> PathBuf {
    let mut cargo: Command =
        workspace::cargo(["build", "--offline", "--locked", "--package=seatrial", "--package=xtask"]);
    if !cfg!(debug_assertions) {
        cargo.arg("--release");
    }
    let output = cargo.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Path::new(env!("CARGO_BIN_EXE_xtask")).with_file_name("seatrial")
}
