//! Opening a whole disk to read it, and nothing else.

use std::os::fd::OwnedFd;

use rustix::fs::{Advice, FileType, Mode, OFlags, fadvise, fstat, open};
use rustix::io::pread;
use seatrial_model::{Bytes, Cause, Reason};
use seatrial_sys::Errno;
use seatrial_sys::memory::Pages;
use seatrial_sys::root::SysRoot;
use seatrial_sys::storage::{
    Alignment, Buffers, Device, Engine, Ring, Sync, Uring, device_of, direct, throttle,
};
use serde_json::json;

use super::config::RawConfig;
use super::zones::{Zone, whole, zones};
use seatrial_bench::Held;

/// A disk that is open to be read.
#[derive(Debug)]
pub struct Disk {
    pub name: String,
    pub device: Device,
    /// Where it is read.
    pub zones: Vec<Zone>,
    file: OwnedFd,
    alignment: Option<Alignment>,
}

impl Disk {
    /// Opens the disk called `name`, looks whether the file is that disk, and reads a block of it, so that one which
    /// sleeps begins to turn before the clock does.
    pub fn open(root: &SysRoot, name: &str, config: &RawConfig) -> Result<Self, Reason> {
        // sysfs cannot have slashes in a name (`cciss!c0d0`), the folder of devices has them.
        let path = root.locate(format!("/dev/{}", name.replace('!', "/")));
        let shown = path.display().to_string();
        let file = open(&path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())
            .map_err(|errno| opening(&shown, errno))?;
        let kind = fstat(&file).map_err(|errno| failed(&shown, "asking about it", errno))?;
        if FileType::from_raw_mode(kind.st_mode) != FileType::BlockDevice {
            return Err(Reason::new(Cause::Missing, format!("{shown} is not a block device")));
        }
        let device = device_of(&file).map_err(|errno| failed(&shown, "asking about it", errno))?;
        match device.name(root) {
            Some(found) if found != name => {
                let text = format!("{shown} is the device {device}, which the kernel calls {found}");
                return Err(Reason::new(Cause::Missing, text));
            }
            _ => {}
        }
        let alignment = if config.direct {
            let found = direct(root, &file).map_err(|error| {
                Reason::new(Cause::Missing, format!("{shown}: {error}; take -p mode=buffered"))
            })?;
            if !config.block.is_multiple_of(found.offset as usize) {
                let text = format!(
                    "block={} cannot be used directly on {shown}: requests there are multiples of {} B (by {}); use \
                     mode=buffered or another block=",
                    Bytes(config.block as u64),
                    found.offset,
                    found.source.word()
                );
                return Err(Reason::new(Cause::Missing, text));
            }
            Some(found)
        } else {
            None
        };
        let size = rustix::fs::seek(&file, rustix::fs::SeekFrom::End(0))
            .map_err(|errno| failed(&shown, "asking its size", errno))?;
        let block = config.block as u64;
        let zones =
            if config.random { whole(size, block).map(|zone| vec![zone]) } else { zones(size, block) };
        let zones = zones.ok_or_else(|| {
            let text = format!("{shown} of {size} B has no room for five blocks of {block} B");
            Reason::new(Cause::Inapplicable, text)
        })?;
        let disk = Self { name: name.to_owned(), device, zones, file, alignment };
        disk.wake(config)?;
        Ok(disk)
    }

    fn wake(&self, config: &RawConfig) -> Result<(), Reason> {
        let mut buffers = buffers(config.block, 1)?;
        pread(&self.file, &mut buffers.slot(0)[..config.block], self.zones[0].start)
            .map(drop)
            .map_err(|errno| failed(&self.name, "reading its first block", errno))
    }

    /// An engine of the calling thread that reads the disk.
    pub fn engine(&self, config: &RawConfig) -> Result<Box<dyn Engine>, Reason> {
        let file = || {
            let copy = self.file.try_clone();
            copy.map_err(|error| Reason::new(Cause::Denied, format!("{}: {error}", self.name)))
        };
        if config.depth > 1 {
            match Ring::new(config.depth, false) {
                Ok(ring) => {
                    let buffers = buffers(config.block, config.depth)?;
                    return Ok(Box::new(Uring::new(ring, vec![file()?], buffers)));
                }
                Err(errno) if config.is_depth_given => {
                    let text = format!(
                        "depth={} needs io_uring, which is refused: {errno}; see kernel.io_uring_disabled, or leave \
                         depth= out",
                        config.depth
                    );
                    return Err(Reason::new(Cause::Denied, text));
                }
                Err(_) => {}
            }
        }
        Ok(Box::new(Sync::new(vec![file()?], buffers(config.block, 1)?)))
    }

    /// Has the page cache let go of a zone, when it is in between. Unlike fsync(2) this waits for nothing and writes
    /// nothing of ours: there is nothing of ours.
    pub fn forget(&self, zone: &Zone, config: &RawConfig) {
        if !config.direct {
            let bytes = std::num::NonZeroU64::new(zone.blocks * config.block as u64);
            // What stays shows in the bytes that the device counts.
            let _ = fadvise(&self.file, zone.start, bytes, Advice::DontNeed);
        }
    }

    pub fn evidence(&self, root: &SysRoot) -> serde_json::Value {
        let throttle = match throttle(root, self.device) {
            Ok(limits) if !limits.is_any() => serde_json::Value::Null,
            Ok(limits) => json!({
                "read_bytes_s": limits.read_bytes,
                "reads_s": limits.reads,
            }),
            Err(error) => json!({ "unknown": error.to_string() }),
        };
        json!({
            "name": self.name,
            "device": self.device.to_string(),
            "alignment": self.alignment.map(|found| json!({
                "memory": found.memory, "offset": found.offset, "source": found.source.word(),
            })),
            "throttle": throttle,
        })
    }
}

/// Memory for `count` requests.
fn buffers(block: usize, count: usize) -> Result<Buffers, Reason> {
    let held = Held::take(Buffers::needed(block, count), &[Pages::Transparent, Pages::Base], None);
    let held = held.map_err(|error| {
        Reason::new(
            Cause::NoSpace,
            format!("cannot take memory for the blocks: {error}; lower depth= or block="),
        )
    })?;
    Ok(Buffers::new(held.map, block))
}

fn opening(path: &str, errno: Errno) -> Reason {
    let (cause, next) = match errno {
        Errno::ACCESS | Errno::PERM => (
            Cause::Denied,
            "; read access to whole disks needs the group disk (usermod -aG disk USER) or root",
        ),
        Errno::NOENT | Errno::NXIO | Errno::NODEV => (Cause::Missing, "; the device file is not there"),
        Errno::NOMEDIUM => (Cause::Inapplicable, "; there is no medium in it"),
        _ => (Cause::IoError, ""),
    };
    Reason::new(cause, format!("opening {path} to read it: {errno}{next}"))
}

/// The disk was there and does not do as it should.
pub fn failed(disk: &str, what: &str, errno: Errno) -> Reason {
    Reason::new(Cause::IoError, format!("{disk}: {what}: {errno}; see the kernel's log"))
}
