//! Multipath TCP (networking/mptcp-sysctl.rst).

use seatrial_model::Kind;
use seatrial_model::setting::SettingAbout;

use crate::sysctl::{ROW, Sysctl};

pub static ENABLED: Sysctl = Sysctl(&SettingAbout {
    id: "net.mptcp.enabled",
    title: "multipath TCP",
    doc: "Whether programs may open connections that use several paths at once. Without it, or with a peer that has none, \
          such a connection fails or falls back to plain TCP, which then is what was measured.",
    kind: Kind::Flag,
    source: "/proc/sys/net/mptcp/enabled",
    traps: "Of each network namespace by itself. More paths than one also need `ip mptcp endpoint`. Lost at the next boot \
            unless a file in /etc/sysctl.d sets it.",
    ..ROW
});
