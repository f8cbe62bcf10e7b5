//! Parameters of the RDMA benchmarks, each defined once.

use seatrial_model::{Bytes, Kind, ParamSpec};

use crate::common::Direction;

/// The port of the first node.
pub const DEVICE: ParamSpec = ParamSpec {
    name: "device",
    doc: "The port of the first node, such as mlx5_0/1, or a device of one port; auto measures each active port.",
    kind: Kind::Text,
    word: Some("auto"),
    default: "auto",
};

/// The port at the other end.
pub const PEER: ParamSpec = ParamSpec {
    name: "peer_device",
    doc: "The port at the other end; auto is the one of the same name, on one node that of another card if there is one \
          and else the port itself; other-card is a physically distinct card and nothing else.",
    kind: Kind::Text,
    word: Some("auto"),
    default: "auto",
};

/// The same where data may go over several ports at once.
pub const DEVICES: ParamSpec = ParamSpec {
    doc: "The port of the first node, such as mlx5_0/1, or a device of one port; several such as mlx5_0/1+mlx5_1/1 are one \
          case, with queue_pairs and threads for each; auto measures each active port.",
    ..DEVICE
};

/// The same where one message at a time goes over each of several ports.
pub const DEVICES_AT_ONCE: ParamSpec = ParamSpec {
    doc: "The port of the first node, such as mlx5_0/1, or a device of one port; several such as mlx5_0/1+mlx5_1/1 are one \
          case, with one message at a time over each, from a thread of its own; auto measures each active port.",
    ..DEVICE
};

/// The same of several ports.
pub const PEERS: ParamSpec = ParamSpec {
    doc: "The port at the other end, or as many as device has, in their order; auto is the one of the same name, on one \
          node that of another card if there is one and else the port itself; other-card is a physically distinct card \
          and nothing else.",
    ..PEER
};

/// Reliable, unreliable.
pub const TRANSPORT_RC_UC: ParamSpec = ParamSpec {
    name: "transport",
    doc: "Reliable connection, or unreliable connection, where lost messages stay lost.",
    kind: Kind::Choice(&["rc", "uc"]),
    word: None,
    default: "rc",
};

/// Reliable, unreliable, datagrams.
pub const TRANSPORT_ALL: ParamSpec = ParamSpec {
    name: "transport",
    doc: "Reliable connection, unreliable connection, or unreliable datagrams of at most one packet.",
    kind: Kind::Choice(&["rc", "uc", "ud"]),
    word: None,
    default: "rc",
};

/// One peer, or a group.
pub const MULTICAST: ParamSpec = ParamSpec {
    name: "multicast",
    doc: "Datagrams go to a group that the other end's queue pairs are in, one group for each (transport=ud, RoCE only: on \
          InfiniBand groups are the subnet manager's).",
    kind: Kind::Flag,
    word: None,
    default: "false",
};

pub const DIRECTION: ParamSpec = Direction::parameter(
    "Which node posts the requests: the first (forward), the second (reverse), or both at once.",
);

/// Bytes of a message.
pub const SIZE: ParamSpec = ParamSpec {
    name: "size",
    doc: "Bytes of a message.",
    kind: Kind::Size(Bytes(1), Bytes::mib(256)),
    word: None,
    default: "64 KiB",
};

/// The end of a sweep of sizes.
pub const UP_TO: ParamSpec = ParamSpec {
    name: "up_to",
    doc: "The largest message of a sweep that doubles from size; none measures size alone.",
    kind: Kind::Size(Bytes(1), Bytes::mib(256)),
    word: Some("none"),
    default: "none",
};

pub const QUEUE_PAIRS: ParamSpec = ParamSpec {
    name: "queue_pairs",
    doc: "Connections in each direction, dealt out to the threads.",
    kind: Kind::Load(1, 1024),
    word: None,
    default: "1",
};

pub const THREADS: ParamSpec = ParamSpec {
    name: "threads",
    doc: "Threads of each end, each with a completion queue of its own.",
    kind: Kind::Load(1, 128),
    word: None,
    default: "1",
};

pub const DEPTH: ParamSpec = ParamSpec {
    name: "depth",
    doc: "Messages that are under way on a queue pair at most.",
    kind: Kind::Load(1, 8192),
    word: None,
    default: "128",
};

pub const MODERATION: ParamSpec = ParamSpec {
    name: "moderation",
    doc: "Every so many messages one completion is asked for; auto is 1 from 8 KiB on, below it 64 or a quarter of depth.",
    kind: Kind::Count(1, 4096),
    word: Some("auto"),
    default: "auto",
};

/// Messages handed over with one call.
pub const POST_LIST: ParamSpec = ParamSpec {
    name: "post_list",
    doc: "Messages that are handed to the card with one call, as a list.",
    kind: Kind::Count(1, 1024),
    word: None,
    default: "1",
};

pub const RECEIVES: ParamSpec = ParamSpec {
    name: "receives",
    doc: "Receive requests that are kept posted on each queue pair.",
    kind: Kind::Count(1, 8192),
    word: None,
    default: "512",
};

/// Payload in the request.
pub const INLINE: ParamSpec = ParamSpec {
    name: "inline",
    doc: "Messages up to this size are copied into the request, which spares the card a read of memory.",
    kind: Kind::Size(Bytes(0), Bytes::kib(4)),
    word: None,
    default: "0 B",
};

/// The same where one message at a time goes, to which it matters most.
pub const INLINE_AUTO: ParamSpec = ParamSpec {
    word: Some("auto"),
    default: "auto",
    doc: "Messages up to this size are copied into the request; auto is the most that the device grants, up to 220 B.",
    ..INLINE
};

/// How an end learns of completions.
pub const COMPLETION: ParamSpec = ParamSpec {
    name: "completion",
    doc: "Whether the ends ask for completions again and again, or sleep until an interrupt tells of one.",
    kind: Kind::Choice(&["polled", "event"]),
    word: None,
    default: "polled",
};

pub const MTU: ParamSpec = ParamSpec {
    name: "mtu",
    doc: "Path MTU in bytes of payload; auto is the smaller of what both ports have active.",
    kind: Kind::Choice(&["256", "512", "1024", "2048", "4096"]),
    word: Some("auto"),
    default: "auto",
};

pub const SERVICE_LEVEL: ParamSpec = ParamSpec {
    name: "service_level",
    doc: "Service level of the packets, which switches map to a virtual lane, or on Ethernet to a priority.",
    kind: Kind::Count(0, 15),
    word: None,
    default: "0",
};

pub const TRAFFIC_CLASS: ParamSpec = ParamSpec {
    name: "traffic_class",
    doc: "Traffic class of the global header: on RoCE the byte with DSCP and ECN.",
    kind: Kind::Count(0, 255),
    word: None,
    default: "0",
};

pub const PKEY_INDEX: ParamSpec = ParamSpec {
    name: "pkey_index",
    doc: "Which entry of the port's table of partition keys the queue pairs belong to.",
    kind: Kind::Count(0, 65_535),
    word: None,
    default: "0",
};

pub const GID_INDEX: ParamSpec = ParamSpec {
    name: "gid_index",
    doc: "Which entry of the port's table of GIDs both ends use; auto chooses, and the record says why.",
    kind: Kind::Count(0, 255),
    word: Some("auto"),
    default: "auto",
};

pub const OUTSTANDING: ParamSpec = ParamSpec {
    name: "outstanding",
    doc: "Reads and atomics that a queue pair has on the wire at most; auto is what both devices can.",
    kind: Kind::Count(1, 128),
    word: Some("auto"),
    default: "auto",
};

/// Same memory, or other.
pub const BUFFERS: ParamSpec = ParamSpec {
    name: "buffers",
    doc: "Every message from and into the same memory, which caches hold; each from and into other memory than the last; or \
          each from or into memory that its end registers for it and gives back after it.",
    kind: Kind::Choice(&["same", "different", "fresh"]),
    word: None,
    default: "same",
};

/// Fence of a put.
pub const FENCE_PUT: ParamSpec = ParamSpec {
    name: "fence",
    doc: "Each message is followed by a read that proves its arrival, and the next waits for that read (over rc only).",
    kind: Kind::Flag,
    word: None,
    default: "false",
};

/// Fence of a get.
pub const FENCE_GET: ParamSpec = ParamSpec {
    name: "fence",
    doc: "Each read waits at its queue pair until all reads before it have come.",
    kind: Kind::Flag,
    word: None,
    default: "false",
};
