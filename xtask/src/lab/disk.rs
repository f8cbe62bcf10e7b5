//! A node's own file system: a small ext4 in a file of the lab's folder, on a loop device.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use super::call::{output, tool};
use super::space;
use super::state::{Host, Lab, Scratch};

/// How long a loop device may take to let go of its file after the last mount is gone.
const DETACH_LIMIT: Duration = Duration::from_secs(60);

/// Makes the file system in its file, sparse.
///
/// # Errors
/// When there is no space or no mkfs.ext4.
pub fn make(scratch: &Scratch, bytes: u64) -> Result<()> {
    let image = &scratch.image;
    File::create(image)
        .and_then(|file| file.set_len(bytes))
        .with_context(|| format!("cannot make {}", image.display()))?;
    output(tool("mkfs.ext4", ["-q", "-F"]).arg(image)).map(drop)
}

/// The loop devices on the file of a node, as the kernel knows them.
///
/// # Errors
/// When losetup fails.
pub fn devices(scratch: &Scratch) -> Result<Vec<PathBuf>> {
    if !scratch.image.exists() {
        return Ok(Vec::new());
    }
    let listing =
        output(tool("losetup", ["--noheadings", "--output", "NAME", "--associated"]).arg(&scratch.image))?;
    Ok(listing.lines().map(|line| PathBuf::from(line.trim())).collect())
}

/// Freezes the file system: whoever writes to it now sleeps uninterruptibly until it is thawed.
///
/// # Errors
/// When the kernel refuses; also when it is frozen already.
pub fn freeze(host: &Host, scratch: &Scratch) -> Result<()> {
    let mut command = space::enter(host, Path::new("/"), "fsfreeze")?;
    output(command.arg("--freeze").arg(&scratch.mount)).map(drop)
}

/// Thaws the file system, if it is frozen.
///
/// Not through the node, which may be dead while its processes cannot go: a frozen file system keeps them, and itself.
/// But a mount of the same device, here in a namespace that lives as long as the command, is the same file system.
///
/// # Errors
/// When it cannot be mounted or thawed.
pub fn thaw(lab: &Lab, scratch: &Scratch) -> Result<()> {
    let place = lab.folder.join("thaw");
    for device in devices(scratch)? {
        fs::create_dir_all(&place)?;
        let script = "mount \"$0\" \"$1\" && fsfreeze --unfreeze \"$1\"";
        let mut command = tool("unshare", ["--mount", "sh", "-c", script]);
        match output(command.arg(&device).arg(&place)) {
            Ok(_) => {}
            // ioctl_fsfreeze of the kernel: EINVAL is "not frozen".
            Err(error) if error.to_string().contains("unfreeze failed: Invalid argument") => {}
            // mount(8): 32 is "mount failure". The making of the file system was cut off, and what cannot be mounted was
            // never frozen; a device that is kept all the same is told by `detach`.
            Err(error) if error.to_string().contains("exit status: 32") => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Waits until no loop device is on the file any more, and takes one off that does not go by itself.
///
/// # Errors
/// When one stays.
pub fn detach(scratch: &Scratch) -> Result<()> {
    let deadline = Instant::now() + DETACH_LIMIT;
    let left = loop {
        let left = devices(scratch)?;
        if left.is_empty() || Instant::now() > deadline {
            break left;
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    for device in &left {
        output(tool("losetup", ["--detach"]).arg(device))?;
    }
    let left = if left.is_empty() { left } else { devices(scratch)? };
    ensure!(left.is_empty(), "{left:?} are still on {}", scratch.image.display());
    Ok(())
}
