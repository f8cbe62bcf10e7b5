//! What the kernel answers in bytes: netlink, `TCP_INFO`, ethtool.

use crate::Target;

pub const TARGET: Target =
    Target { name: "netlink", run: seatrial_sys::fuzz::answers, longest: 4096, most_allocated: 1 << 20 };
