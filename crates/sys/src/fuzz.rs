//! Parsers of what the kernel answers, without the kernel: for the fuzz targets, and for nothing else.

use crate::net::TcpInfo;
use crate::net::datagram::qdisc;
use crate::probe::kernel_log;
use crate::{ethtool, memory, netlink, shaping};

/// Reads `bytes` as the answer to every question that is answered in bytes.
pub fn answers(bytes: &[u8]) {
    let _ = qdisc::read(bytes, &mut Vec::new());
    let mut messages = Vec::new();
    let _ = netlink::read(bytes, &mut messages);
    let _ = shaping::all(&|_, _| Ok(messages.clone()), &|index| Some(index.to_string()));
    TcpInfo::parse(bytes);
    let words: Vec<u32> = bytes.chunks_exact(4).filter_map(|word| netlink::number(word, 0)).collect();
    let _ = ethtool::named(&words, words.get(2..).unwrap_or_default());
}

/// Reads `bytes` as the kernel's log, and as its account of a process's memory.
pub fn texts(bytes: &[u8]) {
    kernel_log::read(bytes);
    let _ = memory::residency::parse(&String::from_utf8_lossy(bytes), 0, usize::MAX);
}
