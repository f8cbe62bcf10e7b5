//! An NFS server that answers late.

use seatrial_model::Actor;

use super::super::rule::CauseRule;
use super::super::sign::Sign;

pub const RULE: CauseRule = CauseRule {
    id: "slow-nfs-server",
    title: "slow NFS server",
    families: &["storage"],
    seen: &[Sign::SlowNfsServer],
    refuted_by: &[Sign::NfsRetransmissions],
    cause: "the NFS server answers slowly: {seen}",
    actor: Actor::Administrator,
    action: "on the server look at its disks and nfsd: `iostat -x 1`, `cat /proc/fs/nfsd/threads`; with too few threads, `rpc.nfsd 64` and /etc/nfs.conf",
    ..CauseRule::NEW
};
