//! Where both sides have their files: a folder on the disk, and a file system on a loop device over memory.

use std::cell::{Cell, OnceCell};
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use crate::versus::ours::target;

/// Room in memory for the image of the loop device: a file each of fio's, elbencho's, IOR's and ours, and the journal.
const IMAGE_MIB: u64 = 3072;

/// How often, and how far apart, an unmount is tried.
const ATTEMPTS: u32 = 30;
const PAUSE: Duration = Duration::from_millis(100);

/// Below the target folder.
pub fn root() -> PathBuf {
    target().join("versus-storage")
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The file system of the target folder.
    Disk,
    /// ext4 on a loop device whose file is in a tmpfs: a memory copy by a kernel thread, so that the device is fast and
    /// the programs' own cost shows.
    Loop,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Place::Disk => "disk",
            Place::Loop => "loop",
        })
    }
}

/// Both places, each made when the first row needs it and removed with the last.
pub struct Places {
    root: PathBuf,
    /// Whether anything was asked for: rows that are only named must not remove what others work in.
    is_used: Cell<bool>,
    disk: OnceCell<PathBuf>,
    memory: OnceCell<Memory>,
}

impl Places {
    /// Below `root`; nothing is made yet.
    pub const fn new(root: PathBuf) -> Self {
        Self { root, is_used: Cell::new(false), disk: OnceCell::new(), memory: OnceCell::new() }
    }

    /// The folder of a place.
    pub fn folder(&self, place: Place) -> Result<&Path> {
        self.is_used.set(true);
        match place {
            Place::Disk => self.disk(),
            Place::Loop => self.memory().map(Memory::folder),
        }
    }

    fn disk(&self) -> Result<&Path> {
        if let Some(folder) = self.disk.get() {
            return Ok(folder);
        }
        let folder = self.root.join("disk");
        fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
        Ok(self.disk.get_or_init(|| folder))
    }

    fn memory(&self) -> Result<&Memory> {
        if let Some(memory) = self.memory.get() {
            return Ok(memory);
        }
        let memory = Memory::make(&self.root)?;
        Ok(self.memory.get_or_init(|| memory))
    }
}

impl Drop for Places {
    fn drop(&mut self) {
        if self.is_used.get() {
            drop(self.memory.take());
            let _ = fs::remove_dir_all(&self.root);
        }
    }
}

/// The file system on a loop device. Dropping it unmounts it, however far its making came; the device goes with it.
#[derive(Default)]
struct Memory {
    /// Mounted, the outer first.
    mounted: Vec<PathBuf>,
}

impl Memory {
    fn make(root: &Path) -> Result<Self> {
        ensure!(rustix::process::geteuid().is_root(), "a loop device needs root; --only disk does without");
        let (memory, folder) = (root.join("memory"), root.join("loop"));
        for one in [&folder, &memory] {
            fs::create_dir_all(one).with_context(|| format!("cannot make {}", one.display()))?;
            // What a run that was interrupted left.
            let _ = call("umount", &[&text(one)]);
        }
        let mut made = Self::default();
        let (room, image) = (format!("size={}m", IMAGE_MIB + 64), memory.join("image"));
        call("mount", &["-t", "tmpfs", "-o", &room, "versus", &text(&memory)])?;
        made.mounted.push(memory);
        fs::File::create(&image)?.set_len(IMAGE_MIB << 20)?;
        // Everything is written now, not by a kernel thread while somebody measures.
        let options = "lazy_itable_init=0,lazy_journal_init=0,nodiscard";
        call("mkfs.ext4", &["-q", "-F", "-m", "0", "-E", options, &text(&image)])?;
        call("mount", &["-o", "loop", &text(&image), &text(&folder)])?;
        made.mounted.push(folder);
        Ok(made)
    }

    fn folder(&self) -> &Path {
        self.mounted.last().map_or(Path::new("/nonexistent"), PathBuf::as_path)
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        while let Some(folder) = self.mounted.pop() {
            let folder = text(&folder);
            // The last turn's processes may not be gone altogether.
            let gone = (0..ATTEMPTS).any(|_| {
                let done = call("umount", &[&folder]).is_ok();
                if !done {
                    thread::sleep(PAUSE);
                }
                done
            });
            if !gone {
                let _ = call("umount", &["--lazy", &folder]);
            }
        }
    }
}

fn text(path: &Path) -> String {
    path.display().to_string()
}

fn call(program: &str, args: &[&str]) -> Result<String> {
    let mut command = Command::new(program);
    let output = command.args(args).stdin(Stdio::null()).output();
    let output = output.with_context(|| format!("cannot start {program}"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{program} {}: {}", args.join(" "), said.trim());
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
