//! Requests to an NFS server that are sent again.

use seatrial_model::Actor;

use super::super::rule::CauseRule;
use super::super::sign::Sign;

pub const RULE: CauseRule = CauseRule {
    id: "nfs-retransmissions",
    title: "NFS requests sent again",
    families: &["storage"],
    seen: &[Sign::NfsRetransmissions],
    cause: "requests to the NFS server are sent again: {seen}",
    actor: Actor::NetworkTeam,
    action: "look for lost packets, broken connections, a restarted server: `nfsstat -rc`, `nstat -az TcpRetransSegs`, `dmesg`",
    ..CauseRule::NEW
};
