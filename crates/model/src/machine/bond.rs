//! Bonds of network interfaces, and queueing disciplines (qdiscs).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Known;

/// Mode and members of a bond (Linux Documentation/networking/bonding.rst).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Bond {
    /// `balance-rr`, `active-backup`, `balance-xor`, `broadcast`, `802.3ad`, `balance-tlb` or `balance-alb`.
    pub mode: Known<String>,
    /// Transmit hash policy: `layer2`, `layer2+3`, `layer3+4`, `encap2+3`, `encap3+4`, `vlan+srcmac`. Also set in
    /// modes that do not hash.
    pub hash_policy: Known<String>,
    /// Link monitoring interval in milliseconds (`miimon`); at 0 a failed link is not noticed.
    pub miimon_ms: Known<u64>,
    /// The active member, in modes that have one.
    pub active: Option<String>,
    /// Names of the members.
    pub members: Vec<BondMember>,
}

/// A member interface of a bond.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct BondMember {
    /// Name of the member interface.
    pub name: String,
    /// State: `active` or `backup`.
    pub state: Known<String>,
    /// MII status of the link: `up`, `going down`, `down`, `going back`.
    pub link: Known<String>,
    /// Link failure count.
    pub link_failures: Known<u64>,
    /// Aggregator id, in mode `802.3ad`: members with links to one switch share it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub aggregator: Option<u64>,
}

/// A queueing discipline (qdisc) of an interface.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Queueing {
    /// Kind of the qdisc: `fq`, `fq_codel`, `mq`, `tbf`, `noqueue`.
    pub kind: String,
    /// Whether it is the root qdisc.
    pub root: bool,
    /// Rate that the qdisc shapes to, in bytes a second, of packets with link-layer header but without preamble,
    /// check sequence and gap. Of a classful qdisc: the rate of unclassified packets, or of all classes together
    /// where filters classify. Null for a qdisc that does not shape all traffic.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_bytes_per_second: Option<u64>,
    /// Rate limit of each flow, in bytes a second (`maxrate` of fq).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flow_rate_bytes_per_second: Option<u64>,
    /// Bytes that a shaper adds to the size of each packet.
    #[serde(skip_serializing_if = "is_zero")]
    pub overhead_bytes: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}
