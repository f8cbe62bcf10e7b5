//! The health log of NVMe controllers (NVM Express Base Specification 2.0, figure 207; linux/nvme_ioctl.h).
//!
//! Below a test root the log is the file `/nvme/CONTROLLER/smart_log`.
#![expect(unsafe_code, reason = "an ioctl")]

use std::fs::File;
use std::os::fd::AsRawFd;

use rustix::io::Errno;

use crate::root::{ReadError, SysRoot};

/// What a controller tells of its health.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NvmeHealth {
    /// Bits of the critical warning.
    pub warning: u8,
    /// Spare blocks that are left, in percent, and the share below which the controller warns.
    pub spare: u8,
    pub spare_threshold: u8,
    /// Used share of the life that the vendor states, in percent; may be above 100.
    pub used: u8,
    /// Errors of the medium that could not be corrected, over the life of the controller.
    pub media_errors: u64,
}

/// Bytes of the log page.
const LENGTH: usize = 512;

impl NvmeHealth {
    /// The bits of the warning in words.
    pub fn warnings(&self) -> impl Iterator<Item = &'static str> {
        const WORDS: [&str; 6] = [
            "few spare blocks are left",
            "too hot or too cold",
            "the medium is unreliable",
            "it has become read-only",
            "its cache has no backup power",
            "its persistent memory is unreliable",
        ];
        let warning = self.warning;
        WORDS.into_iter().enumerate().filter(move |(bit, _)| warning >> bit & 1 != 0).map(|(_, word)| word)
    }

    fn parse(log: &[u8]) -> Option<Self> {
        let errors: [u8; 16] = log.get(160..176)?.try_into().ok()?;
        let errors = u64::try_from(u128::from_le_bytes(errors)).unwrap_or(u64::MAX);
        (log.len() == LENGTH).then_some(Self {
            warning: log[0],
            spare: log[3],
            spare_threshold: log[4],
            used: log[5],
            media_errors: errors,
        })
    }
}

/// The health of `controller`, `nvme0`. Only root may ask; the controller gets 2 seconds for its answer.
pub fn health(root: &SysRoot, controller: &str) -> Result<NvmeHealth, ReadError> {
    let (path, log) = if root.is_live() {
        let path = format!("/dev/{controller}");
        let log = smart_log(&path).map_err(|errno| match errno {
            Errno::NOENT => ReadError::Missing { path: path.clone() },
            errno => ReadError::Unreadable { path: path.clone(), errno },
        })?;
        (path, log)
    } else {
        let path = format!("/nvme/{controller}/smart_log");
        let log = root.bytes(&path)?;
        (path, log)
    };
    NvmeHealth::parse(&log)
        .ok_or_else(|| ReadError::garbage(path, &format!("{} bytes", log.len()), "a log page of 512 bytes"))
}

/// `struct nvme_passthru_cmd`.
#[repr(C)]
#[derive(Default)]
struct Command {
    opcode: u8,
    flags: u8,
    reserved: u16,
    namespace: u32,
    words_2_and_3: [u32; 2],
    metadata: u64,
    address: u64,
    metadata_length: u32,
    length: u32,
    words_10_to_15: [u32; 6],
    timeout_ms: u32,
    result: u32,
}

const _: () = assert!(size_of::<Command>() == 72);

/// `NVME_IOCTL_ADMIN_CMD`, `_IOWR('N', 0x41, struct nvme_passthru_cmd)`.
const ADMIN_COMMAND: u64 = 0xc048_4e41;

fn smart_log(path: &str) -> Result<Vec<u8>, Errno> {
    let errno = |error: std::io::Error| Errno::from_io_error(&error).unwrap_or(Errno::IO);
    let device = File::open(path).map_err(errno)?;
    let mut log = vec![0_u8; LENGTH];
    let mut command = Command {
        // Get Log Page of all namespaces: page 2, and its length in words less one.
        opcode: 0x02,
        namespace: u32::MAX,
        address: log.as_mut_ptr() as u64,
        length: LENGTH as u32,
        words_10_to_15: [((LENGTH as u32 / 4 - 1) << 16) | 0x02, 0, 0, 0, 0, 0],
        timeout_ms: 2000,
        ..Command::default()
    };
    // SAFETY: the kernel reads and writes a structure of the size that the number of the call states, and writes at most
    // `length` bytes to the buffer, which is that long; both outlive the call.
    match unsafe { libc::ioctl(device.as_raw_fd(), ADMIN_COMMAND as _, &raw mut command) } {
        0 => Ok(log),
        -1 => Err(errno(std::io::Error::last_os_error())),
        // A status of NVMe: the controller refuses.
        _ => Err(Errno::IO),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_found_at_their_place_in_the_log() {
        let mut log = vec![0_u8; LENGTH];
        log[0] = 0b1001;
        log[3..6].copy_from_slice(&[4, 10, 103]);
        log[160..168].copy_from_slice(&7_u64.to_le_bytes());
        let health = NvmeHealth::parse(&log).expect("whole");
        assert_eq!((health.spare, health.spare_threshold, health.used, health.media_errors), (4, 10, 103, 7));
        assert!(health.warnings().eq(["few spare blocks are left", "it has become read-only"]));
        log[170] = 1;
        assert_eq!(NvmeHealth::parse(&log).map(|health| health.media_errors), Some(u64::MAX));
        assert_eq!(NvmeHealth::parse(&log[..511]), None);
    }

    #[test]
    fn what_is_no_controller_does_not_answer() {
        assert_eq!(smart_log("/dev/null"), Err(Errno::NOTTY));
        assert_eq!(smart_log("/dev/nvme-none"), Err(Errno::NOENT));
    }
}
