//! Source and destination of a message as a work request.

use seatrial_bench::verbs::{Pair, QKEY, RdmaEndpoint, RemoteCompletion, Side};
use seatrial_sys::verbs::{MemoryRegion, Remote, UdTarget, Verb, VerbKind, Work};
use std::sync::Arc;

pub fn message<'a>(
    endpoint: &RdmaEndpoint,
    pair: &'a Pair,
    bytes: u32,
    memory: &'a Arc<MemoryRegion>,
    offset: usize,
) -> Work<'a> {
    let config = &endpoint.config;
    let verb = match (config.method.verb, config.remote_completion()) {
        (VerbKind::Write, RemoteCompletion::Cqe) => Verb::WriteImmediate(0),
        (VerbKind::Write, _) => Verb::Write,
        (VerbKind::Read, _) => Verb::Read,
        _ => Verb::Send,
    };
    let (_, far) = sides(config.method.verb);
    let is_local = matches!(config.method.verb, VerbKind::Send);
    let to = pair.handle.as_ref().map(|(handle, qp_number)| UdTarget {
        handle,
        qp_number: *qp_number,
        qkey: QKEY,
    });
    let inline = config.method.verb != VerbKind::Read
        && bytes <= pair.qp.inline_bytes()
        && config.inline.is_none_or(|most| u64::from(bytes) <= most);
    Work {
        remote: (!is_local).then(|| far_at(endpoint, pair, far, 0)),
        to,
        inline,
        signalled: false,
        fence: config.fence,
        solicited: config.event,
        ..Work::new(verb, memory, offset, bytes)
    }
}

pub fn sides(verb: VerbKind) -> (Side, Side) {
    match verb {
        VerbKind::Read => (Side::In, Side::Out),
        _ => (Side::Out, Side::In),
    }
}

pub fn far_at(endpoint: &RdmaEndpoint, pair: &Pair, side: Side, slot: u64) -> Remote {
    let at = endpoint.layout.at(pair.far.number, side, slot);
    Remote { address: pair.far.memory.address + at, key: pair.far.memory.key }
}
