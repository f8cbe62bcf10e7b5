//! What both ends of a case know from its parameters.

use seatrial_model::{Binding, Bytes, Case, Cause, Params, PartPlacement, Reason, Value};
use seatrial_sys::verbs::{Mtu, Transport, VerbKind};

use super::params::{
    BUFFERS, COMPLETION, DEPTH, FENCE_PUT, GID_INDEX, INLINE, MODERATION, MTU, MULTICAST, OUTSTANDING,
    PKEY_INDEX, POST_LIST, QUEUE_PAIRS, RECEIVES, SERVICE_LEVEL, SIZE, THREADS, TRAFFIC_CLASS, TRANSPORT_ALL,
    UP_TO, WORDS,
};
use super::system::System;
use super::{Method, RemoteCompletion, port_list, transport};
use crate::Direction;

/// Below this a completion costs so much beside the message that not every message asks for one.
const SMALL: u64 = 8 << 10;

/// What atomics work on.
const WORD: u64 = 8;

/// Messages for each completion of small ones.
const FEW: u64 = 64;

/// The parameters of a case for one port of an end.
#[derive(Clone, Debug)]
pub struct RdmaConfig {
    /// What the benchmark does.
    pub method: Method,
    pub transport: Transport,
    /// Whether datagrams go to a group.
    pub multicast: bool,
    pub directions: &'static [Direction],
    /// Sizes of messages, rising; at least one.
    pub sizes: Vec<u64>,
    /// Queue pairs in each direction.
    pub queue_pairs: usize,
    /// Threads, no more than queue pairs.
    pub threads: usize,
    /// Messages under way on a queue pair.
    pub depth: usize,
    /// Words of atomic operations on a queue pair.
    pub words: u64,
    /// Messages a list.
    pub post_list: usize,
    pub receives: usize,
    /// Largest message that is put into the request; none takes what the device grants.
    pub inline: Option<u64>,
    /// Whether ends sleep until an event.
    pub event: bool,
    /// The path MTU, where one is asked for.
    pub mtu: Option<Mtu>,
    pub service_level: u8,
    pub traffic_class: u8,
    /// Index into the table of partition keys.
    pub pkey_index: u16,
    /// Index into the table of GIDs, where one is asked for.
    pub gid_index: Option<u32>,
    /// Reads on the wire, where a number is asked for.
    pub outstanding: Option<u8>,
    /// Whether requests wait for those before them.
    pub fence: bool,
    /// Whether the memory of a message is registered for it, and given back after it.
    pub fresh: bool,
    /// Bytes that the messages of one side walk through; 0 keeps each in its place.
    pub region: u64,
    /// Bytes of memory, where the layout is somebody else's.
    pub memory: Option<u64>,
    /// The device of this end.
    pub device: String,
    pub port: u8,
    /// 0 for the first end, 1 for the second.
    pub index: u32,
    /// Where its threads run.
    pub bindings: Vec<Binding>,
    /// Where the library and the kernel's files are.
    pub system: System,
    moderation: Option<u64>,
}

impl RdmaConfig {
    /// Those of the end at `place`, on the first of its ports.
    ///
    /// # Errors
    /// When the case was not planned by the same version.
    pub fn of(method: Method, case: &Case, place: &PartPlacement) -> Result<Self, Reason> {
        Ok(Self::all(method, case, place)?.swap_remove(0))
    }

    /// Those of the end at `place`, for each of its ports; at least one. They share the bindings.
    pub fn all(method: Method, case: &Case, place: &PartPlacement) -> Result<Vec<Self>, Reason> {
        let missing = || Reason::new(Cause::Protocol, "the case carries no port");
        let labels = port_list::ports_of(case, place.index).ok_or_else(missing)?;
        let each = place.bindings.len() / labels.len().max(1);
        let one = |(at, label): (usize, &str)| {
            let bindings = place.bindings[at * each..(at + 1) * each].to_vec();
            Self::of_port(method, case, place.index, label, bindings)
        };
        labels.into_iter().enumerate().map(one).collect()
    }

    /// Those of the end of this index over the port of this label.
    ///
    /// # Errors
    /// When the case was not planned by the same version.
    pub fn of_port(
        method: Method,
        case: &Case,
        index: u32,
        label: &str,
        bindings: Vec<Binding>,
    ) -> Result<Self, Reason> {
        let params = &case.params;
        let missing = |what: &str| Reason::new(Cause::Protocol, format!("the case carries no {what}"));
        let (device, port) = port_list::parse(label).ok_or_else(|| missing("device and port"))?;
        let queue_pairs = count(params, QUEUE_PAIRS.name).unwrap_or(1) as usize;
        let depth = count(params, DEPTH.name).unwrap_or(64) as usize;
        Ok(Self {
            method,
            transport: params.text(TRANSPORT_ALL.name).map_or(Transport::Rc, transport),
            multicast: params.flag(MULTICAST.name).unwrap_or(false),
            directions: Direction::asked(params),
            sizes: sizes(params)?,
            queue_pairs,
            threads: (count(params, THREADS.name).unwrap_or(1) as usize).min(queue_pairs),
            depth,
            words: count(params, WORDS.name).unwrap_or(1),
            post_list: (count(params, POST_LIST.name).unwrap_or(1) as usize).min(depth),
            receives: count(params, RECEIVES.name).unwrap_or(64) as usize,
            inline: params.bytes(INLINE.name).unwrap_or(Some(Bytes(0))).map(Bytes::get),
            event: params.text(COMPLETION.name) == Ok("event"),
            mtu: params.text(MTU.name).ok().and_then(|word| word.parse().ok()).and_then(Mtu::of_bytes),
            service_level: count(params, SERVICE_LEVEL.name).unwrap_or(0) as u8,
            traffic_class: count(params, TRAFFIC_CLASS.name).unwrap_or(0) as u8,
            pkey_index: count(params, PKEY_INDEX.name).unwrap_or(0) as u16,
            gid_index: count(params, GID_INDEX.name).map(|index| index as u32),
            outstanding: count(params, OUTSTANDING.name).map(|reads| reads as u8),
            fence: params.flag(FENCE_PUT.name).unwrap_or(false),
            fresh: params.text(BUFFERS.name) == Ok("fresh"),
            region: case.planned.bytes("region").ok().flatten().map_or(0, Bytes::get),
            memory: None,
            device: device.to_owned(),
            port,
            index,
            bindings,
            system: System::live(),
            moderation: count(params, MODERATION.name),
        })
    }

    /// The direction whose requests this end posts.
    pub fn own_direction(&self) -> Direction {
        if self.index == 0 { Direction::Forward } else { Direction::Reverse }
    }

    /// Whether this end posts requests.
    pub fn initiates(&self) -> bool {
        self.directions.contains(&self.own_direction())
    }

    /// Whether the other end does.
    pub fn answers(&self) -> bool {
        self.directions.iter().any(|direction| *direction != self.own_direction())
    }

    pub fn largest(&self) -> u64 {
        self.sizes.last().copied().unwrap_or(1)
    }

    /// Whether the far end counts the messages, by its completions.
    pub fn is_counted_there(&self) -> bool {
        self.remote_completion() == RemoteCompletion::Cqe
    }

    /// How the far end learns of a message. Over an unreliable connection nothing tells the near end what came of a
    /// write, so that each of them carries an immediate value, which the far end sees.
    pub fn remote_completion(&self) -> RemoteCompletion {
        match (self.method.remote_completion, self.method.verb, self.transport) {
            (RemoteCompletion::None, VerbKind::Write, Transport::Uc) => RemoteCompletion::Cqe,
            (remote_completion, ..) => remote_completion,
        }
    }

    /// Messages of this size for each completion.
    pub fn moderation(&self, size: u64) -> usize {
        if self.fresh {
            // Each completion gives the memory of its message back.
            return 1;
        }
        let auto = if size >= SMALL { 1 } else { FEW.min(self.depth as u64 / 4).max(1) };
        // A queue that has no room for another list before a completion was asked for would stand still.
        let most = self.depth + 1 - self.post_list;
        (self.moderation.unwrap_or(auto) as usize).min(most)
    }

    /// The place of a thread; none where nobody is pinned.
    pub fn cpu(&self, thread: usize) -> Option<u32> {
        (!self.bindings.is_empty()).then(|| self.bindings[thread % self.bindings.len()].cpu)
    }

    /// Port and device in one word.
    pub fn label(&self) -> String {
        format!("{}/{}", self.device, self.port)
    }
}

/// The whole number in `name`; none when there is a word in its place, or nothing.
fn count(params: &Params, name: &str) -> Option<u64> {
    match params.get(name) {
        Some(Value::Count(count)) => Some(*count),
        _ => None,
    }
}

/// The sizes that a case asks for: one, or a sweep that doubles and ends with its largest. Where none can be asked for
/// it is that of a word.
pub fn sizes(params: &Params) -> Result<Vec<u64>, Reason> {
    if params.get(SIZE.name).is_none() {
        return Ok(vec![WORD]);
    }
    let missing = || Reason::new(Cause::Protocol, "the case carries no size of a message");
    let first = params.bytes(SIZE.name)?.ok_or_else(missing)?.get();
    let last = params.bytes(UP_TO.name).ok().flatten().map_or(first, Bytes::get);
    let doubled = std::iter::successors(Some(first), |size| size.checked_mul(2));
    let mut sizes: Vec<u64> = doubled.take_while(|size| *size < last).collect();
    sizes.push(last);
    Ok(sizes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ladder_doubles_and_ends_with_its_largest() {
        let of = |size: &str, up_to: &str| {
            let params = [("size".to_owned(), size.into()), ("up_to".to_owned(), up_to.into())];
            sizes(&params.into_iter().collect()).expect("sizes")
        };
        assert_eq!(of("64 KiB", "none"), [65_536]);
        assert_eq!(of("2 B", "16 B"), [2, 4, 8, 16]);
        assert_eq!(of("3 B", "20 B"), [3, 6, 12, 20]);
    }
}
