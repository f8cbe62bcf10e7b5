//! Disks of guests: which, and the files behind them.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use anyhow::{Context, Result};

/// Size of every disk. The files are sparse.
const BYTES: u64 = 1 << 30;

/// How a disk is attached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A disk of an AHCI controller: `/dev/sd*`.
    Sata,
    /// A disk of a virtio SCSI controller: `/dev/sd*`.
    Scsi,
    /// An NVMe controller with one name space: `/dev/nvme*n1`.
    Nvme,
}

impl Kind {
    const ALL: [(&'static str, Self); 3] = [("sata", Self::Sata), ("scsi", Self::Scsi), ("nvme", Self::Nvme)];

    /// The kernel module that drives it.
    pub const fn driver(self) -> &'static str {
        match self {
            Self::Sata => "ahci",
            Self::Scsi => "virtio_scsi",
            Self::Nvme => "nvme",
        }
    }
}

/// The disks of a guest, in the order in which they were asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Disks(pub Vec<Kind>);

impl FromStr for Disks {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut disks = Vec::new();
        for item in text.split(',').filter(|item| !item.is_empty()) {
            let (word, count) = item.split_once(':').unwrap_or((item, "1"));
            let kind = Kind::ALL.iter().find(|(name, _)| *name == word).map(|(_, kind)| *kind);
            let kind = kind.ok_or_else(|| format!("'{word}' is no kind of disk: sata, scsi, nvme"))?;
            let count: usize = count.parse().map_err(|_| format!("'{count}' is no number of disks"))?;
            disks.extend(std::iter::repeat_n(kind, count));
        }
        // An AHCI controller has six ports.
        let sata = disks.iter().filter(|kind| **kind == Kind::Sata).count();
        if disks.len() > 12 || sata > 6 {
            return Err("at most 12 disks, 6 of them sata".to_owned());
        }
        Ok(Self(disks))
    }
}

/// An empty disk as a sparse file in `folder`.
pub fn make(folder: &Path, guest: u32, index: usize) -> Result<PathBuf> {
    let path = folder.join(format!("disk-{guest}-{index}"));
    let made = File::create_new(&path).and_then(|file| file.set_len(BYTES));
    made.with_context(|| format!("cannot make a disk at {}", path.display()))?;
    Ok(path)
}

/// What QEMU needs to know of the disks whose files are `files`.
pub fn arguments(disks: &Disks, files: &[PathBuf]) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut push = |option: &str, value: String| words.extend([option.to_owned(), value]);
    if disks.0.contains(&Kind::Sata) {
        push("-device", "ahci,id=ahci".to_owned());
    }
    if disks.0.contains(&Kind::Scsi) {
        push("-device", "virtio-scsi-pci,id=scsi".to_owned());
    }
    let mut ports = 0;
    for (index, (kind, file)) in disks.0.iter().zip(files).enumerate() {
        let drive = format!("if=none,id=d{index},format=raw,cache=unsafe,file={}", file.display());
        push("-drive", drive);
        let serial = format!("serial=GUEST{index}");
        push(
            "-device",
            match kind {
                Kind::Sata => {
                    ports += 1;
                    format!("ide-hd,bus=ahci.{},drive=d{index},rotation_rate=7200,{serial}", ports - 1)
                }
                Kind::Scsi => {
                    format!("scsi-hd,bus=scsi.0,drive=d{index},rotation_rate=7200,{serial}")
                }
                Kind::Nvme => format!("nvme,drive=d{index},{serial}"),
            },
        );
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn disks_are_kinds_with_counts() {
        let disks: Disks = "sata:2,nvme".parse().unwrap();
        assert_eq!(disks.0, [Kind::Sata, Kind::Sata, Kind::Nvme]);
        assert_eq!("".parse(), Ok(Disks::default()));
        for (text, why) in [("ide:1", "no kind"), ("nvme:x", "no number"), ("sata:7", "6 of them sata")] {
            let error = text.parse::<Disks>().unwrap_err();
            assert!(error.contains(why), "{text}: {error}");
        }
    }

    #[test]
    fn each_sata_disk_has_a_port_of_its_own() {
        let disks: Disks = "sata:2".parse().unwrap();
        let words = arguments(&disks, &["a".into(), "b".into()]).join(" ");
        assert!(words.contains("bus=ahci.0,drive=d0") && words.contains("bus=ahci.1,drive=d1"), "{words}");
    }

    #[test]
    fn a_disk_takes_no_room_before_it_is_written() {
        use std::os::unix::fs::MetadataExt;
        let folder = tempfile::tempdir().unwrap();
        let status = std::fs::metadata(make(folder.path(), 1, 0).unwrap()).unwrap();
        assert_eq!((status.len(), status.blocks()), (BYTES, 0));
        assert!(make(folder.path(), 1, 0).is_err());
    }
}
