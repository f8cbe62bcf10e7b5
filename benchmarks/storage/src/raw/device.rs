//! Opens whole disks, read-only.

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

#[derive(Debug)]
pub struct Disk {
    pub name: String,
    pub device: Device,
    pub zones: Vec<Zone>,
    file: OwnedFd,
    alignment: Option<Alignment>,
}

impl Disk {
    /// Opens the disk `name`, checks that the device file is that disk, and reads a block, so that a sleeping disk
    /// spins up before the clock starts.
    pub fn open(root: &SysRoot, name: &str, config: &RawConfig) -> Result<Self, Reason> {
        // sysfs replaces the slash in a name by an exclamation mark (`cciss!c0d0`).
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
                let text = format!("{shown} is device {device}, whose kernel name is {found}");
                return Err(Reason::new(Cause::Missing, text));
            }
            _ => {}
        }
        let alignment = if config.direct {
            let found = direct(root, &file).map_err(|error| {
                Reason::new(Cause::Missing, format!("{shown}: {error}; use -p mode=buffered"))
            })?;
            if !config.block.is_multiple_of(found.offset as usize) {
                let text = format!(
                    "block={} cannot be used with direct access on {shown}: requests must be multiples of {} \
                     B (by {}); use mode=buffered or another block=",
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
            .map_err(|errno| failed(&shown, "reading its size", errno))?;
        let block = config.block as u64;
        let zones =
            if config.random { whole(size, block).map(|zone| vec![zone]) } else { zones(size, block) };
        let zones = zones.ok_or_else(|| {
            let text = format!("{shown} has only {size} B, less than five blocks of {block} B; lower block=");
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
                        "depth={} needs io_uring, which the kernel refuses: {errno}; see the sysctl \
                         kernel.io_uring_disabled, or omit depth=",
                        config.depth
                    );
                    return Err(Reason::new(Cause::Denied, text));
                }
                Err(_) => {}
            }
        }
        Ok(Box::new(Sync::new(vec![file()?], buffers(config.block, 1)?)))
    }

    /// Drops the page cache of a zone, in buffered mode. No fsync(2): nothing here was written.
    pub fn forget(&self, zone: &Zone, config: &RawConfig) {
        if !config.direct {
            let bytes = std::num::NonZeroU64::new(zone.blocks * config.block as u64);
            // Ignored: the byte counter of the device shows what stayed cached.
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

fn buffers(block: usize, count: usize) -> Result<Buffers, Reason> {
    let held = Held::take(Buffers::needed(block, count), &[Pages::Transparent, Pages::Base], None);
    let held = held.map_err(|error| {
        Reason::new(
            Cause::NoSpace,
            format!("cannot allocate memory for the blocks: {error}; lower depth= or block="),
        )
    })?;
    Ok(Buffers::new(held.map, block))
}

fn opening(path: &str, errno: Errno) -> Reason {
    let (cause, next) = match errno {
        Errno::ACCESS | Errno::PERM => {
            (Cause::Denied, "; reading a whole disk needs root or the group disk (usermod -aG disk USER)")
        }
        Errno::NOENT | Errno::NXIO | Errno::NODEV => (Cause::Missing, "; the device file does not exist"),
        Errno::NOMEDIUM => (Cause::Inapplicable, "; the drive has no medium"),
        _ => (Cause::IoError, ""),
    };
    Reason::new(cause, format!("opening {path} to read it: {errno}{next}"))
}

/// An I/O error of a disk that could be opened.
pub fn failed(disk: &str, what: &str, errno: Errno) -> Reason {
    Reason::new(Cause::IoError, format!("{disk}: {what}: {errno}; see the kernel log (dmesg)"))
}
