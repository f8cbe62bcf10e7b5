//! File systems on loop devices, and cases on them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use seatrial_bench::testing::{Kept, connected};
use seatrial_bench::{Benchmark, Running, Stop, find};
use seatrial_model::{Case, Integrity, Measures, Params, PartPlacement, PartRecord, Phase, Reason, Site};
use tempfile::TempDir;

/// Runs a command; returns its output, or its error message.
pub fn call(program: &str, args: &[&str]) -> Result<String, String> {
    let output = Command::new(program).args(args).output().map_err(|error| format!("{program}: {error}"))?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    } else {
        Err(format!("{program} {args:?}: {}", String::from_utf8_lossy(&output.stderr).trim()))
    }
}

fn text(path: &Path) -> String {
    path.to_str().expect("UTF-8").to_owned()
}

/// An ext4 on a loop device; dropping it unmounts and removes it, in whatever state.
pub struct LoopDisk {
    folder: TempDir,
    pub device: String,
    /// Whether the image is on a small tmpfs.
    in_memory: bool,
}

impl LoopDisk {
    /// A device of `mib` MiB. With `memory`, the image may grow only to that many MiB.
    pub fn new(mib: u64, memory: Option<u64>) -> Result<Self, String> {
        Self::with(mib, memory, 512)
    }

    /// Also with this sector size.
    pub fn with(mib: u64, memory: Option<u64>, sector: u32) -> Result<Self, String> {
        if !rustix::process::geteuid().is_root() {
            return Err("it needs root".to_owned());
        }
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        let mut disk = Self { folder, device: String::new(), in_memory: false };
        fs::create_dir(disk.mount()).map_err(|error| error.to_string())?;
        fs::create_dir(disk.fd_store()).map_err(|error| error.to_string())?;
        if let Some(most) = memory {
            call("mount", &["-t", "tmpfs", "-o", &format!("size={most}m"), "none", &text(&disk.fd_store())])?;
            disk.in_memory = true;
        }
        let image = fs::File::create(disk.image()).map_err(|error| error.to_string())?;
        image.set_len(mib << 20).map_err(|error| error.to_string())?;
        // All tables initialised now, so that no kernel thread writes during a measurement.
        let lazy = "lazy_itable_init=0,lazy_journal_init=0";
        // At least a sector, which mkfs's default for a small device may undercut.
        let block = sector.max(1024).to_string();
        call("mkfs.ext4", &["-q", "-m", "0", "-b", &block, "-E", lazy, &text(&disk.image())])?;
        let sector = sector.to_string();
        let options = ["--find", "--show", "--sector-size", &sector, &text(&disk.image())];
        disk.device = call("losetup", &options)?;
        call("mount", &[&disk.device, &text(&disk.mount())])?;
        Ok(disk)
    }

    pub fn mount(&self) -> PathBuf {
        self.folder.path().join("mount")
    }

    fn fd_store(&self) -> PathBuf {
        self.folder.path().join("fd_store")
    }

    pub fn image(&self) -> PathBuf {
        self.fd_store().join("image")
    }

    pub fn read_only(&self) -> Result<(), String> {
        call("mount", &["-o", "remount,ro", &text(&self.mount())]).map(drop)
    }

    pub fn freeze(&self) {
        call("fsfreeze", &["-f", &text(&self.mount())]).expect("frozen");
    }

    pub fn thaw(&self) -> Result<(), String> {
        call("fsfreeze", &["-u", &text(&self.mount())]).map(drop)
    }

    /// Bytes in use, after freed space is given back.
    pub fn used(&self) -> u64 {
        call("sync", &["-f", &text(&self.mount())]).expect("synced");
        let told = rustix::fs::statvfs(self.mount()).expect("told");
        (told.f_blocks - told.f_bfree) * told.f_frsize
    }

    /// Device number (major:minor), for control groups.
    pub fn number(&self) -> String {
        let name = self.device.trim_start_matches("/dev/");
        fs::read_to_string(format!("/sys/block/{name}/dev")).expect("a number").trim().to_owned()
    }
}

impl Drop for LoopDisk {
    fn drop(&mut self) {
        // Already thawed if all went well.
        let _ = self.thaw();
        let busy = |_: &()| {
            !self.device.is_empty()
                && call("umount", &[&text(&self.mount())]).is_err_and(|why| why.contains("busy"))
        };
        // A thread that just woke up may hold the file for a moment.
        for () in std::iter::repeat_n((), 200).take_while(busy) {
            std::thread::sleep(Duration::from_millis(20));
        }
        if !self.device.is_empty() {
            let _ = call("losetup", &["--detach", &self.device]);
        }
        if self.in_memory {
            let _ = call("umount", &[&text(&self.fd_store())]);
        }
    }
}

/// The value, or `None` after printing why the test is skipped.
pub fn or_skip<T>(made: Result<T, String>) -> Option<T> {
    match made {
        Ok(made) => Some(made),
        Err(why) if std::env::var("CI").is_ok_and(|ci| ci == "true") => panic!("{why}"),
        Err(why) => {
            #[expect(clippy::print_stdout, reason = "says why nothing was tested")]
            {
                println!("skipped: no loop device with a file system: {why}");
            }
            None
        }
    }
}

pub fn bench() -> &'static Benchmark {
    find(seatrial_storage::BENCHMARKS, "storage.file").expect("shipped")
}

/// A case in this directory, whose threads are not pinned.
pub fn case(directory: &Path, changed: &[(&str, &str)]) -> Case {
    case_of(1, directory, changed)
}

/// A case of so many nodes, which all run on this machine.
pub fn case_of(nodes: usize, directory: &Path, changed: &[(&str, &str)]) -> Case {
    let about = bench().about;
    let mut params: Params = about.defaults();
    params.set("directory", text(directory).as_str());
    for (name, value) in changed {
        params.set(name, about.param(name).expect("a parameter").parse(value).expect("a value"));
    }
    let nodes = (1..=nodes).map(|number| seatrial_testkit::node(&format!("n{number}"), 1));
    let mut case = bench().plan(&params, &Site { nodes: nodes.collect() }).expect("a plan").remove(0);
    case.places.iter_mut().for_each(|place| place.bindings.clear());
    case
}

/// The part of a case, ready to run.
pub fn prepared(case: &Case) -> Result<Box<dyn Running>, Reason> {
    let mut part = connected(bench().part(case, &case.places[0]))?;
    part.run(Phase::WarmUp, &Stop::after(Duration::from_millis(100)), &mut Kept::default())?;
    Ok(part)
}

pub fn measured(case: &Case, part: &mut dyn Running) -> Result<PartRecord, Reason> {
    measured_at(case, &case.places[0], part)
}

pub fn measured_at(case: &Case, place: &PartPlacement, part: &mut dyn Running) -> Result<PartRecord, Reason> {
    let mut kept = Kept::default();
    part.run(Phase::Measure, &Stop::after(case.budget.measure.into()), &mut kept)?;
    Ok(kept.record(place, Integrity::Unverified { why: "not looked at yet".to_owned() }))
}

pub fn reduced(case: &Case, record: &PartRecord) -> Measures {
    bench().reduce(case, std::slice::from_ref(record)).expect("numbers")
}
