//! TCP and UDP (networking/ip-sysctl.rst, tcp(7), udp(7)).

use seatrial_model::setting::SettingAbout;
use seatrial_model::{Bytes, Kind};

use crate::sysctl::{ROW, Sysctl};

const TCP_BUFFER: Kind = Kind::Size(Bytes(1), Bytes(i32::MAX as u64));

pub static UDP_MEM: Sysctl = Sysctl(&SettingAbout {
    id: "net.ipv4.udp_mem",
    title: "memory limits of all UDP sockets",
    doc: "When all UDP sockets together use `max`, datagrams are dropped, whatever the buffer size of each \
          socket; above `min` the kernel begins to moderate, and `pressure` exists for the same format as \
          tcp_mem. The defaults depend on the memory size.",
    // A `long` in the kernel; no machine has more than 2^52 pages.
    kind: Kind::Count(0, 1 << 52),
    unit: "pages",
    fields: &["min", "pressure", "max"],
    source: "/proc/sys/net/ipv4/udp_mem",
    traps: "In pages, not bytes; a page is 4 KiB on x86-64 and up to 64 KiB elsewhere. Lost at the next boot \
            unless a file in /etc/sysctl.d sets it.",
    ..ROW
});

pub static TCP_RMEM: Sysctl = Sysctl(&SettingAbout {
    id: "net.ipv4.tcp_rmem",
    title: "TCP receive buffer: min, default, max",
    doc: "TCP autotuning grows the receive buffer of a connection from `default` up to `max`, which limits \
          the unacknowledged data of one stream: `max` must be at least twice the bandwidth-delay product \
          (rate times round trip), since the kernel uses a part of it. A program that sets SO_RCVBUF \
          disables autotuning and is limited by net.core.rmem_max.",
    kind: TCP_BUFFER,
    fields: &["min", "default", "max"],
    source: "/proc/sys/net/ipv4/tcp_rmem",
    ..ROW
});

pub static TCP_WMEM: Sysctl = Sysctl(&SettingAbout {
    id: "net.ipv4.tcp_wmem",
    title: "TCP send buffer: min, default, max",
    doc: "The sender keeps data until it is acknowledged, so one stream never has more than `max` \
          unacknowledged: the counterpart of net.ipv4.tcp_rmem. A program that sets SO_SNDBUF disables \
          autotuning.",
    kind: TCP_BUFFER,
    fields: &["min", "default", "max"],
    source: "/proc/sys/net/ipv4/tcp_wmem",
    ..ROW
});

pub static TCP_CONGESTION_CONTROL: Sysctl = Sysctl(&SettingAbout {
    id: "net.ipv4.tcp_congestion_control",
    title: "TCP congestion control algorithm",
    doc: "cubic and reno slow down on packet loss, bbr by its estimate of the path. On a clean local link \
          they hardly differ; on long paths and with losses they differ by factors, and they share a link \
          between streams differently. Only the sender's algorithm counts.",
    kind: Kind::Text,
    source: "/proc/sys/net/ipv4/tcp_congestion_control",
    traps: "Holds for new connections. /proc/sys/net/ipv4/tcp_available_congestion_control lists the loaded \
            algorithms; `modprobe tcp_NAME` loads others. Lost at the next boot unless a file in \
            /etc/sysctl.d sets it.",
    ..ROW
});

pub static TCP_TIMESTAMPS: Sysctl = Sysctl(&SettingAbout {
    id: "net.ipv4.tcp_timestamps",
    title: "TCP timestamps",
    doc: "They take 12 B of every segment (0.8 % at an MTU of 1500), and give better round trip times and \
          protection against old segments at high rates. Both ends must enable them: 0 is off, 1 on with a \
          random offset per connection, 2 on without. The derived limit of a TCP stream depends on this \
          setting.",
    kind: Kind::Count(0, 2),
    source: "/proc/sys/net/ipv4/tcp_timestamps",
    traps: "Holds for new connections. Lost at the next boot unless a file in /etc/sysctl.d sets it.",
    ..ROW
});

pub static TCP_SACK: Sysctl = Sysctl(&SettingAbout {
    id: "net.ipv4.tcp_sack",
    title: "TCP selective acknowledgments (SACK)",
    doc: "The receiver tells which segments after a gap have arrived, so that only lost segments are sent \
          again. Without SACK, one lost segment of a full window costs several round trips or a \
          retransmission of the whole window. Both ends must enable it.",
    kind: Kind::Flag,
    source: "/proc/sys/net/ipv4/tcp_sack",
    traps: "Holds for new connections. Lost at the next boot unless a file in /etc/sysctl.d sets it.",
    ..ROW
});

pub static TCP_WINDOW_SCALING: Sysctl = Sysctl(&SettingAbout {
    id: "net.ipv4.tcp_window_scaling",
    title: "TCP window scaling",
    doc: "Without it a connection has at most 64 KiB of unacknowledged data, whatever its buffers: 0.5 \
          Gbit/s at a round trip of 1 ms. Both ends must enable it.",
    kind: Kind::Flag,
    source: "/proc/sys/net/ipv4/tcp_window_scaling",
    traps: "Holds for new connections. Lost at the next boot unless a file in /etc/sysctl.d sets it.",
    ..ROW
});
