//! Entry points of the fuzz targets: parsers of kernel answers, without the kernel.

use crate::net::TcpInfo;
use crate::net::datagram::qdisc;
use crate::probe::kernel_log;
use crate::{ethtool, memory, netlink, shaping};

pub fn answers(bytes: &[u8]) {
    let mut messages = Vec::new();
    let _ = netlink::read(bytes, &mut messages);
    messages.iter().for_each(|message| drop(qdisc::discipline(&message.body)));
    let _ = shaping::all(&|_, _| Ok(messages.clone()), &|index| Some(index.to_string()));
    TcpInfo::parse(bytes);
    let words: Vec<u32> = bytes.chunks_exact(4).filter_map(|word| netlink::number(word, 0)).collect();
    let _ = ethtool::named(&words, words.get(2..).unwrap_or_default());
}

pub fn texts(bytes: &[u8]) {
    kernel_log::read(bytes);
    let _ = memory::residency::parse(&String::from_utf8_lossy(bytes), 0, usize::MAX);
}
