//! PCI configuration space: payload sizes, relaxed ordering, and whether a bridge redirects peer-to-peer traffic.
//!
//! The first 64 bytes are readable by everybody, the rest with CAP_SYS_ADMIN (Linux drivers/pci/pci-sysfs.c,
//! `pci_read_config`). Offsets: PCI Local Bus Specification 3.0, section 6.7, and PCI Express Base Specification,
//! sections 7.5.3 (capability), 7.6.3 (extended capabilities) and 7.7.8 (access control services); Linux
//! include/uapi/linux/pci_regs.h.

use seatrial_model::machine::Known;
use seatrial_sys::root::SysRoot;

/// Bytes that everybody may read.
const OPEN: usize = 64;
/// Capabilities pointer.
const FIRST: usize = 0x34;
/// Status register, and its bit for a capability list.
const STATUS: usize = 0x06;
const HAS_LIST: u16 = 0x10;
/// PCI Express capability, and offset of its Device Control register.
const EXPRESS: u8 = 0x10;
const CONTROL: usize = 8;
/// Start of extended capabilities.
const EXTENDED: usize = 0x100;
/// Access control services capability, and offset of its control register.
const ACCESS_CONTROL: u16 = 0x0d;
const ACCESS_CONTROLS: usize = 6;
/// P2P Request Redirect and P2P Completion Redirect.
const REDIRECTS: u16 = 0x04 | 0x08;
/// Longest list of capabilities, so that a cycle ends.
const MOST: usize = 64;

pub(super) struct Config {
    path: String,
    bytes: Vec<u8>,
}

impl Config {
    pub fn read(root: &SysRoot, folder: &str) -> Known<Self> {
        let path = format!("{folder}/config");
        match root.bytes(&path) {
            Ok(bytes) if bytes.len() <= OPEN => {
                Known::unknown(format!("{path} ends at {} bytes: run as root to read the rest", bytes.len()))
            }
            Ok(bytes) => Known::Known(Self { path, bytes }),
            Err(error) => Known::unknown(error.to_string()),
        }
    }

    fn word(&self, at: usize) -> Option<u16> {
        Some(u16::from_le_bytes(self.bytes.get(at..at + 2)?.try_into().ok()?))
    }

    fn express(&self) -> Option<usize> {
        if self.word(STATUS)? & HAS_LIST == 0 {
            return None;
        }
        let mut at = usize::from(*self.bytes.get(FIRST)?) & !3;
        for _ in 0..MOST {
            let [id, next] = *self.bytes.get(at..at + 2)? else { return None };
            match (id, at) {
                (_, 0) | (0xff, _) => return None,
                (EXPRESS, _) => return Some(at),
                _ => at = usize::from(next) & !3,
            }
        }
        None
    }

    /// Max_Payload_Size as set, in bytes.
    pub fn payload(&self) -> Known<u32> {
        let set = self.express().and_then(|at| self.word(at + CONTROL)).map(|control| control >> 5 & 7);
        match set {
            // 6 and 7 are reserved.
            Some(power @ 0..=5) => Known::Known(128 << power),
            Some(_) => Known::unknown(format!("{} has a reserved Max_Payload_Size", self.path)),
            None => Known::unknown(format!("{} has no PCI Express capability", self.path)),
        }
    }

    /// Enable Relaxed Ordering (bit 4).
    pub fn relaxed_ordering(&self) -> Known<bool> {
        match self.express().and_then(|at| self.word(at + CONTROL)) {
            Some(control) => Known::Known(control & 0x10 != 0),
            None => Known::unknown(format!("{} has no PCI Express capability", self.path)),
        }
    }

    /// Whether this bridge port redirects peer-to-peer traffic.
    pub fn redirects(&self) -> bool {
        let mut at = EXTENDED;
        for _ in 0..MOST {
            let (Some(id), Some(next)) = (self.word(at), self.word(at + 2)) else { return false };
            if id == ACCESS_CONTROL {
                return self.word(at + ACCESS_CONTROLS).is_some_and(|control| control & REDIRECTS != 0);
            }
            // The lower four bits are the version; the list ends with 0.
            at = usize::from(next >> 4) & !3;
            if at < EXTENDED {
                return false;
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Part of an H200's configuration, captured in a virtual machine: capability at 0x60, payloads of 256 bytes.
    fn h200() -> Vec<u8> {
        let mut bytes = vec![0; 4096];
        bytes[0x04..0x08].copy_from_slice(&[0x46, 0x05, 0x10, 0x00]);
        bytes[0x34] = 0x40;
        bytes[0x40..0x44].copy_from_slice(&[0x01, 0x48, 0x13, 0x00]);
        bytes[0x48..0x4c].copy_from_slice(&[0x05, 0x60, 0x88, 0x03]);
        bytes[0x60..0x6c]
            .copy_from_slice(&[0x10, 0xb0, 0x02, 0x00, 0x21, 0x80, 0x2c, 0x11, 0x34, 0x51, 0x00, 0x00]);
        bytes
    }

    fn config(bytes: Vec<u8>) -> Config {
        Config { path: "config".to_owned(), bytes }
    }

    #[test]
    fn the_size_of_packets_is_what_is_set_not_what_could_be() {
        let mut bytes = h200();
        // Power management first in the list, then MSI, then Express.
        bytes[0x41] = 0x48;
        assert_eq!(config(bytes.clone()).payload(), Known::Known(256));
        bytes[0x68] = 0x14;
        assert_eq!(config(bytes.clone()).payload(), Known::Known(128));
        bytes[0x68] = 0xe0;
        assert!(config(bytes).payload().why().is_some_and(|why| why.contains("reserved")));
    }

    #[test]
    fn relaxed_ordering_is_a_bit_of_the_control() {
        let mut bytes = h200();
        bytes[0x41] = 0x48;
        assert_eq!(config(bytes.clone()).relaxed_ordering(), Known::Known(true), "0x5134 has bit 4");
        bytes[0x68] = 0x24;
        assert_eq!(config(bytes).relaxed_ordering(), Known::Known(false));
        assert!(!config(vec![0; 4096]).relaxed_ordering().is_known());
    }

    #[test]
    fn a_list_that_goes_round_or_is_cut_off_ends() {
        let mut bytes = h200();
        bytes[0x49] = 0x40;
        assert!(!config(bytes.clone()).payload().is_known(), "a ring");
        bytes.truncate(0x62);
        assert!(!config(bytes).payload().is_known(), "cut off");
        assert!(!config(vec![0xff; 4096]).payload().is_known(), "powered off");
    }

    #[test]
    fn a_port_redirects_when_either_bit_is_set() {
        let mut bytes = vec![0; 4096];
        bytes[0x100..0x104].copy_from_slice(&[0x01, 0x00, 0x02, 0x15]);
        bytes[0x150..0x158].copy_from_slice(&[0x0d, 0x00, 0x01, 0x00, 0x5f, 0x00, 0x1d, 0x00]);
        assert!(config(bytes.clone()).redirects());
        bytes[0x156] = 0x11;
        assert!(!config(bytes).redirects());
        assert!(!config(vec![0; 256]).redirects() && !config(vec![0xff; 4096]).redirects());
    }

    #[test]
    fn who_sees_64_bytes_only_is_told_to_be_root() {
        let dir = tempfile::tempdir().expect("a folder");
        std::fs::write(dir.path().join("config"), vec![0; 64]).expect("written");
        let config = Config::read(&SysRoot::at(dir.path()), "");
        assert_eq!(config.why(), Some("/config ends at 64 bytes: run as root to read the rest"));
    }
}
