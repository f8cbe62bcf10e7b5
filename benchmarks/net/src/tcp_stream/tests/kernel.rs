//! A TUN interface, which takes an unsafe ioctl.
#![expect(unsafe_code, reason = "ioctl of TUNSETIFF")]

use std::fs::{File, OpenOptions};
use std::os::fd::AsFd;

use rustix::ioctl::{Setter, ioctl, opcode};

/// `struct ifreq` of linux/if.h, as far as TUNSETIFF reads it.
#[repr(C)]
struct Request {
    name: [u8; 16],
    flags: u16,
    rest: [u8; 22],
}

const _: () = assert!(size_of::<Request>() == 40);

/// IFF_TUN and IFF_NO_PI of linux/if_tun.h: packets without a header.
const FLAGS: u16 = 0x1001;

/// `TUNSETIFF`, `_IOW('T', 202, int)`.
const TUNSETIFF: rustix::ioctl::Opcode = opcode::write::<i32>(b'T', 202);

/// Makes an interface of this name in the network namespace of the calling thread. Each read returns a packet that
/// the interface sends, each write is one that it receives; closing the file removes the interface.
pub fn tun(name: &str) -> File {
    let file = OpenOptions::new().read(true).write(true).open("/dev/net/tun").expect("/dev/net/tun opens");
    let mut request = Request { name: [0; 16], flags: FLAGS, rest: [0; 22] };
    request.name[..name.len()].copy_from_slice(name.as_bytes());
    // SAFETY: the kernel reads a structure of this size and layout, and writes the name back into it.
    let made = unsafe { ioctl(file.as_fd(), Setter::<{ TUNSETIFF }, Request>::new(request)) };
    made.expect("an interface is made");
    file
}
