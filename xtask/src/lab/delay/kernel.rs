//! TAP devices: what the kernel sends by the interface is read from a file, and what is written there has been received.
//! (Documentation/networking/tuntap.rst of the kernel)
#![expect(unsafe_code, reason = "the ioctl TUNSETIFF")]

use std::ffi::c_int;
use std::fs::{File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;

use anyhow::{Context, Result, ensure};
use rustix::fs::OFlags;
use rustix::ioctl::{Opcode, Updater, ioctl, opcode};

/// linux/if_tun.h.
const TUNSETIFF: Opcode = opcode::write::<c_int>(b'T', 202);
const IFF_TAP: u16 = 0x0002;
const IFF_NO_PI: u16 = 0x1000;

/// `struct ifreq` of linux/if.h: the name, which a zero ends, then a union, here with the flags in front.
const REQUEST: usize = 40;
const FLAGS: usize = 16;

/// A new TAP device, which goes when the file is closed. A read gives one frame, or `WouldBlock`.
///
/// # Errors
/// When the kernel has no TAP devices, or there is one of that name already.
pub fn tap(name: &str) -> Result<File> {
    let path = "/dev/net/tun";
    let flags = OFlags::NONBLOCK.bits().cast_signed();
    let file = OpenOptions::new().read(true).write(true).custom_flags(flags).open(path);
    let file = file.with_context(|| format!("cannot open {path}"))?;
    ensure!(name.len() < FLAGS, "'{name}' is too long for an interface");
    let mut request = [0; REQUEST];
    request[..name.len()].copy_from_slice(name.as_bytes());
    request[FLAGS..FLAGS + 2].copy_from_slice(&(IFF_TAP | IFF_NO_PI).to_ne_bytes());
    // SAFETY: TUNSETIFF reads and writes a `struct ifreq`, which has this many bytes.
    unsafe { ioctl(&file, Updater::<TUNSETIFF, [u8; REQUEST]>::new(&mut request)) }
        .with_context(|| format!("cannot make the TAP device {name}"))?;
    Ok(file)
}
