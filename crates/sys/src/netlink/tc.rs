//! Messages about traffic control: queueing disciplines, classes and filters (linux/rtnetlink.h, `struct tcmsg`).

// Of linux/rtnetlink.h and linux/pkt_sched.h: the numbers are the kernel's interface and do not change.
pub(crate) const RTM_GETQDISC: u16 = 38;
pub(crate) const TCA_KIND: u16 = 1;
pub(crate) const TCA_OPTIONS: u16 = 2;
pub(crate) const TC_H_ROOT: u32 = 0xffff_ffff;

/// Bytes of `struct tcmsg`: family, padding, interface, handle, parent, info.
const TCMSG: usize = 20;

/// The body of a request about the interface of this index; 0 asks about all.
pub(crate) fn tcmsg(index: u32) -> Vec<u8> {
    let mut body = vec![0; 4];
    body.extend_from_slice(&index.to_ne_bytes());
    body.resize(TCMSG, 0);
    body
}

/// The attributes in the body of an answer, behind its `struct tcmsg`.
pub(crate) fn own(body: &[u8]) -> &[u8] {
    body.get(TCMSG..).unwrap_or_default()
}
