//! A worker in uninterruptible sleep, which no signal ends: it writes to a frozen file system.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use libtest_mimic::Trial;
use seatrial_cluster::{EndKind, ToWorker};
use seatrial_model::Nanos;
use tempfile::TempDir;

use crate::process::{assert_dead, assert_gone, part, state, wait_until};
use crate::rig::{Rig, Toy};
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![trial("a_worker_that_cannot_die_is_abandoned", a_worker_that_cannot_die_is_abandoned)]
}

/// A small ext4 on a loop device. Drop thaws, unmounts and removes it in any state.
struct FrozenDisk {
    folder: TempDir,
}

impl FrozenDisk {
    fn new() -> Result<Self, String> {
        if !rustix::process::geteuid().is_root() {
            return Err("it needs root".to_owned());
        }
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        let (image, mount) = (folder.path().join("image"), folder.path().join("mount"));
        let file = fs::File::create(&image).map_err(|error| error.to_string())?;
        file.set_len(16 << 20).map_err(|error| error.to_string())?;
        fs::create_dir(&mount).map_err(|error| error.to_string())?;
        call("mkfs.ext4", &["-q", &image.to_string_lossy()])?;
        call("mount", &["-o", "loop", &image.to_string_lossy(), &mount.to_string_lossy()])?;
        let disk = Self { folder };
        fs::write(disk.file(), "").map_err(|error| error.to_string())?;
        Ok(disk)
    }

    fn mount(&self) -> PathBuf {
        self.folder.path().join("mount")
    }

    fn file(&self) -> PathBuf {
        self.mount().join("file")
    }

    fn freeze(&self) {
        call("fsfreeze", &["-f", &self.mount().to_string_lossy()]).expect("frozen");
    }

    fn thaw(&self) -> Result<(), String> {
        call("fsfreeze", &["-u", &self.mount().to_string_lossy()])
    }
}

impl Drop for FrozenDisk {
    fn drop(&mut self) {
        let _ = self.thaw();
        let busy = |_: &()| call("umount", &[&self.mount().to_string_lossy()]).is_err();
        // A worker that wakes up to die may hold the file for a moment.
        for () in std::iter::repeat_n((), 200).take_while(busy) {
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    }
}

fn call(program: &str, args: &[&str]) -> Result<(), String> {
    let output = Command::new(program).args(args).output().map_err(|error| format!("{program}: {error}"))?;
    let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.success() { Ok(()) } else { Err(format!("{program} {args:?}: {complaint}")) }
}

#[expect(clippy::print_stdout, reason = "says that a test did not run, where people look")]
fn a_worker_that_cannot_die_is_abandoned() {
    let disk = match FrozenDisk::new() {
        Ok(disk) => disk,
        Err(why) if std::env::var("CI").is_ok_and(|ci| ci == "true") => {
            panic!("CI has to have a loop device: {why}")
        }
        Err(why) => return println!("skipped: no file system to freeze: {why}"),
    };
    let does = format!("writes_to {}", disk.file().display());
    let mut rig = Rig::new();
    let toy = rig.connect(&does);
    disk.freeze();
    stick(&mut rig, &toy);
    let (end, _) = rig.ended(toy.id);
    assert_eq!(end.how, EndKind::Abandoned);
    for moment in ["when_killed", "when_abandoned"] {
        let part = &end.evidence[moment]["threads"][0];
        assert_eq!((&part["name"], &part["state"]), (&"part".into(), &"D (uninterruptible sleep)".into()));
        assert!(part["system_call"].as_str().is_some_and(|call| call.starts_with("write ")), "{part}");
    }
    // The agent still serves, and reaps the worker once it can die.
    let next = rig.prepare("well");
    assert_eq!(state(toy.pid), Some('D'));
    disk.thaw().expect("thawed");
    assert_gone(toy.pid);

    // An agent exits without waiting for an abandoned worker.
    let toy = rig.connect(&does);
    disk.freeze();
    stick(&mut rig, &toy);
    drop(rig);
    assert_gone(toy.agent);
    assert_dead(next.pid);
    assert_eq!(state(toy.pid), Some('D'));
    disk.thaw().expect("thawed");
    assert_dead(toy.pid);
}

/// Lets the worker write to the frozen file system, waits until it is stuck, and kills it.
fn stick(rig: &mut Rig, toy: &Toy) {
    rig.tell(toy.id, ToWorker::Measure { span: Nanos::millis(10), at: None });
    wait_until("the worker to be stuck", || part(toy.pid).state == 'D');
    rig.kill(toy.id);
}
