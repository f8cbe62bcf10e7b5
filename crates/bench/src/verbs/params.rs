//! Parameters of the RDMA benchmarks, each defined once.

use seatrial_model::{Bytes, Kind, ParamSpec};

use crate::Direction;

/// The port of the first node.
pub const DEVICE: ParamSpec = ParamSpec::new("device", Kind::Text, "auto").word("auto").doc(
    "The port of the first node, such as mlx5_0/1, or a device of one port; auto measures each active \
     port.",
);

/// The port at the other end.
pub const PEER: ParamSpec = ParamSpec::new("peer_device", Kind::Text, "auto").word("auto").doc(
    "The port at the other end; auto is the one of the same name, on one node that of another card if \
     there is one and else the port itself; other-card is a physically distinct card and nothing \
     else.",
);

/// The same where data may go over several ports at once.
pub const DEVICES: ParamSpec = ParamSpec {
    doc: "Port of the first node, such as mlx5_0/1, or a device of one port. Several ports (mlx5_0/1+mlx5_1/1) are \
          measured together, with queue_pairs and threads for each. auto: each active port in turn.",
    ..DEVICE
};

/// The same where one message at a time goes over each of several ports.
pub const DEVICES_AT_ONCE: ParamSpec = ParamSpec {
    doc: "Port of the first node, such as mlx5_0/1, or a device of one port. Several ports (mlx5_0/1+mlx5_1/1) are \
          measured together, with one thread and one message in flight per port. auto: each active port in turn.",
    ..DEVICE
};

/// The same of several ports.
pub const PEERS: ParamSpec = ParamSpec {
    doc: "The port at the other end, or as many ports as device has, in their order. auto: the port of the same name on \
          the other node; on one node a port of another card, or else the same port. other-card: only a port of a \
          physically different card. cross: each of several ports to that of the next one.",
    ..PEER
};

/// Reliable, unreliable.
pub const TRANSPORT_RC_UC: ParamSpec = ParamSpec::new("transport", Kind::Choice(&["rc", "uc"]), "rc")
    .doc("Reliable connection, or unreliable connection, where lost messages stay lost.");

/// Reliable, unreliable, datagrams.
pub const TRANSPORT_ALL: ParamSpec = ParamSpec::new("transport", Kind::Choice(&["rc", "uc", "ud"]), "rc")
    .doc("Reliable connection, unreliable connection, or unreliable datagrams of at most one packet.");

/// One peer, or a group.
pub const MULTICAST: ParamSpec = ParamSpec::new("multicast", Kind::Flag, "false").doc(
    "Datagrams go to a group that the other end's queue pairs are in, one group for each \
     (transport=ud, RoCE only: on InfiniBand groups are the subnet manager's).",
);

pub const DIRECTION: ParamSpec = Direction::parameter(
    "Which node posts the requests: the first (forward), the second (reverse), or both at once.",
);

/// Bytes of a message.
pub const SIZE: ParamSpec =
    ParamSpec::new("size", Kind::Size(Bytes(1), Bytes::mib(256)), "64 KiB").doc("Bytes of a message.");

/// The end of a sweep of sizes.
pub const UP_TO: ParamSpec = ParamSpec::new("up_to", Kind::Size(Bytes(1), Bytes::mib(256)), "none")
    .word("none")
    .doc("The largest message of a sweep that doubles from size; none measures size alone.");

pub const QUEUE_PAIRS: ParamSpec = ParamSpec::new("queue_pairs", Kind::Load(1, 1024), "1")
    .doc("Connections in each direction, dealt out to the threads.");

pub const THREADS: ParamSpec = ParamSpec::new("threads", Kind::Load(1, 128), "1")
    .doc("Threads of each end, each with a completion queue of its own.");

pub const DEPTH: ParamSpec =
    ParamSpec::new("depth", Kind::Load(1, 8192), "128").doc("Maximum outstanding messages per queue pair.");

pub const WORDS: ParamSpec = ParamSpec::new("words", Kind::Count(1, 1024), "1").doc(
    "Adjacent 8-byte words of each queue pair, which its operations take in turn; qperf's ver_ tests take up to 1024.",
);

pub const MODERATION: ParamSpec = ParamSpec::new("moderation", Kind::Count(1, 4096), "auto")
    .word("auto")
    .doc("Messages per completion request; auto: 1 for messages of 8 KiB and more, else 64, but at most a quarter of depth.");

/// Messages handed over with one call.
pub const POST_LIST: ParamSpec = ParamSpec::new("post_list", Kind::Count(1, 1024), "1")
    .doc("Messages that are handed to the card with one call, as a list.");

pub const RECEIVES: ParamSpec = ParamSpec::new("receives", Kind::Count(1, 8192), "512")
    .doc("Receive requests that are kept posted on each queue pair.");

/// Payload in the request.
pub const INLINE: ParamSpec = ParamSpec::new("inline", Kind::Size(Bytes(0), Bytes::kib(4)), "0 B")
    .doc("Messages up to this size are copied into the request, which spares the card a read of memory.");

/// The same where one message at a time goes, to which it matters most.
pub const INLINE_AUTO: ParamSpec = ParamSpec {
    word: Some("auto"),
    default: "auto",
    doc: "Messages up to this size are copied into the request; auto is the most that the device grants, up to 220 B.",
    ..INLINE
};

/// How an end learns of completions.
pub const COMPLETION: ParamSpec = ParamSpec::new("completion", Kind::Choice(&["polled", "event"]), "polled")
    .doc("Whether the ends poll for completions, or sleep until an interrupt signals one.");

pub const MTU: ParamSpec =
    ParamSpec::new("mtu", Kind::Choice(&["256", "512", "1024", "2048", "4096"]), "auto")
        .word("auto")
        .doc("Path MTU in bytes of payload; auto is the smaller of what both ports have active.");

pub const SERVICE_LEVEL: ParamSpec = ParamSpec::new("service_level", Kind::Count(0, 15), "0")
    .doc("Service level of the packets, which switches map to a virtual lane, or on Ethernet to a priority.");

pub const TRAFFIC_CLASS: ParamSpec = ParamSpec::new("traffic_class", Kind::Count(0, 255), "0")
    .doc("Traffic class of the global header: on RoCE the byte with DSCP and ECN.");

pub const PKEY_INDEX: ParamSpec = ParamSpec::new("pkey_index", Kind::Count(0, 65_535), "0")
    .doc("Index into the port's P_Key table, used by the queue pairs.");

pub const GID_INDEX: ParamSpec = ParamSpec::new("gid_index", Kind::Count(0, 255), "auto")
    .word("auto")
    .doc("Index into the port's GID table, for both ends; auto: chosen, with the reason in the evidence.");

pub const OUTSTANDING: ParamSpec = ParamSpec::new("outstanding", Kind::Count(1, 128), "auto")
    .word("auto")
    .doc("Maximum outstanding reads and atomics per queue pair; auto: the maximum of both devices.");

/// Same memory, or other.
pub const BUFFERS: ParamSpec =
    ParamSpec::new("buffers", Kind::Choice(&["same", "different", "fresh"]), "same").doc(
        "same: one buffer, which stays in cache; different: another buffer per message; fresh: a buffer \
         that is registered and deregistered per message.",
    );

/// Fence of a put.
pub const FENCE_PUT: ParamSpec = ParamSpec::new("fence", Kind::Flag, "false").doc(
    "Each message is followed by a read that proves its arrival, and the next waits for that read \
     (over rc only).",
);

/// Fence of a get.
pub const FENCE_GET: ParamSpec = ParamSpec::new("fence", Kind::Flag, "false")
    .doc("Each read waits at its queue pair until all reads before it have come.");
