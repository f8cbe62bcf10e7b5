//! Block devices, from `/sys/block` (Linux Documentation: ABI/stable/sysfs-block). The target path of each link tells
//! PCI address and transport.

mod bus;
mod identity;
mod link;
mod stack;

pub(crate) use stack::Stack;

use seatrial_model::machine::{Disk, DiskBus, DiskThrottle, Known, Partition};
use seatrial_sys::root::{ReadError, SysRoot};
use seatrial_sys::storage::{Device, IoThrottle, throttle};

use crate::pci::Functions;
use crate::reading::Reading;

const BLOCK: &str = "/sys/block";

/// Sizes in sysfs are in units of 512 bytes, for every sector size (ABI/stable/sysfs-block, `size`).
const SECTOR: u64 = 512;

pub(crate) struct DiskPlace<'a> {
    pub root: &'a SysRoot,
    pub name: &'a str,
    /// `/sys/devices/…/block/sda`, without symbolic links.
    pub folder: &'a str,
    /// Folder of the controller's side; for NVMe the controller, even with multipath.
    pub behind: &'a str,
}

impl DiskPlace<'_> {
    pub fn text(&self, file: &str) -> Result<String, ReadError> {
        self.root.text(format!("{}/{file}", self.folder))
    }
}

pub(crate) fn read(at: &mut Reading<'_>, functions: &mut Functions) -> Known<Vec<Disk>> {
    let names = match at.root.list(BLOCK) {
        Ok(names) => names,
        Err(error) => return Known::unknown(error.to_string()),
    };
    let mut disks = Vec::new();
    for name in names {
        let Some((folder, files)) = at.device("disk", BLOCK, &name) else { continue };
        disks.extend(disk(at.root, functions, &name, &folder, &files));
    }
    for disk in &disks {
        contradictions(at, disk);
    }
    Known::Known(disks)
}

/// The disk; `None` for a loop device without file, or a path of a multipath disk.
fn disk(
    root: &SysRoot,
    functions: &mut Functions,
    name: &str,
    folder: &str,
    files: &[String],
) -> Option<Disk> {
    let file = |file: &str| format!("{folder}/{file}");
    if root.value::<u32>(file("hidden")) == Ok(1) {
        return None;
    }
    let behind = bus::behind(root, folder);
    let place = DiskPlace { root, name, folder, behind: &behind };
    let bus = bus::of(&place);
    let size_bytes = size(root, folder);
    let may_be_empty = bus.is_made() || bus == DiskBus::Network;
    if may_be_empty && size_bytes == Known::Known(0) {
        return None;
    }
    let model = identity::model(&place, bus);
    let flag = |path: &str| flag(root, file(path));
    let bytes = |path: &str| Known::from(root.value::<u64>(file(path)));
    Some(Disk {
        name: name.to_owned(),
        bus,
        is_emulated: bus::is_emulated(bus, model.known()),
        model,
        serial: identity::serial(&place, bus),
        wwn: identity::wwn(&place, bus),
        rotational: flag("queue/rotational"),
        removable: flag("removable"),
        read_only: flag("ro"),
        size_bytes,
        logical_sector_bytes: bytes("queue/logical_block_size"),
        physical_sector_bytes: bytes("queue/physical_block_size"),
        scheduler: scheduler(root, &file("queue/scheduler")).into(),
        read_ahead_bytes: bytes("queue/read_ahead_kb").map(|kib| kib.saturating_mul(1024)),
        link_gbit_s: link::rate(&place, bus),
        partitions: partitions(root, folder, files),
        holders: root.list(file("holders")).unwrap_or_default(),
        slaves: root.list(file("slaves")).unwrap_or_default(),
        mounts: Vec::new(),
        member_of: None,
        pci: functions.behind(root, &behind),
        throttle: throttled(root, folder),
    })
}

/// cgroup limits on the disk. Errors are left to the benchmarks, which report them in their records.
fn throttled(root: &SysRoot, folder: &str) -> Option<DiskThrottle> {
    let number = root.text(format!("{folder}/dev")).ok()?;
    let found = throttle(root, Device::parse(&number)?).ok().filter(IoThrottle::is_any)?;
    let IoThrottle { read_bytes, written_bytes, reads, writes } = found;
    Some(DiskThrottle { read_bytes, written_bytes, reads, writes })
}

fn size(root: &SysRoot, folder: &str) -> Known<u64> {
    let path = format!("{folder}/size");
    Known::from(root.value::<u64>(&path)).and_then(|sectors| match sectors.checked_mul(SECTOR) {
        Some(bytes) => Known::Known(bytes),
        None => Known::unknown(format!("{path} is {sectors}: more sectors than 64 bits can count in bytes")),
    })
}

fn flag(root: &SysRoot, path: String) -> Known<bool> {
    Known::from(root.text(&path)).and_then(|text| match text.as_str() {
        "0" => Known::Known(false),
        "1" => Known::Known(true),
        _ => Known::unknown(ReadError::garbage(&path, &text, "0 or 1").to_string()),
    })
}

/// The word in brackets of `mq-deadline kyber [none]`; a device without choice has only one word.
fn scheduler(root: &SysRoot, path: &str) -> Result<String, ReadError> {
    let text = root.text(path)?;
    let chosen = text.split_once('[').and_then(|(_, rest)| rest.split_once(']')).map(|(word, _)| word);
    match chosen {
        Some(word) => Ok(word.to_owned()),
        None if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-') => {
            Ok(text)
        }
        None => Err(ReadError::garbage(path, &text, "one word in brackets")),
    }
}

fn partitions(root: &SysRoot, folder: &str, files: &[String]) -> Vec<Partition> {
    let below = files.iter().filter(|name| root.exists(format!("{folder}/{name}/partition")));
    below
        .map(|name| Partition {
            name: name.clone(),
            size_bytes: size(root, &format!("{folder}/{name}")),
            holders: root.list(format!("{folder}/{name}/holders")).unwrap_or_default(),
        })
        .collect()
}

fn contradictions(at: &mut Reading<'_>, disk: &Disk) {
    let subject = format!("disk:{}", disk.name);
    let parts: Option<u64> = disk
        .partitions
        .iter()
        .map(|part| part.size_bytes.known().copied())
        .try_fold(0u64, |sum, size| sum.checked_add(size?));
    if let (Some(parts), Some(&whole)) = (parts, disk.size_bytes.known())
        && parts > whole
    {
        at.remark(&subject, format!("its partitions have {parts} bytes together, the disk {whole}"));
    }
    if let (Some(logical), Some(physical)) =
        (disk.logical_sector_bytes.known(), disk.physical_sector_bytes.known())
        && physical < logical
    {
        at.remark(
            &subject,
            format!("physical sectors of {physical} bytes are smaller than logical ones of {logical}"),
        );
    }
    if disk.rotational == Known::Known(true) && matches!(disk.bus, DiskBus::Nvme | DiskBus::NvmeFabrics) {
        at.remark(&subject, "an NVMe disk that is reported as rotational");
    }
}
