//! Bonds: several interfaces that pass for one.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Known;

/// How a bond uses its members (Linux Documentation/networking/bonding.rst).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Bond {
    /// `balance-rr`, `active-backup`, `balance-xor`, `broadcast`, `802.3ad`, `balance-tlb` or `balance-alb`.
    pub mode: Known<String>,
    /// What decides over the member that a packet goes out on: `layer2`, `layer2+3`, `layer3+4`, `encap2+3`,
    /// `encap3+4`, `vlan+srcmac`. Modes that do not hash have one all the same.
    pub hash_policy: Known<String>,
    /// How often the links are looked at, in milliseconds; at 0 a link that fails is not noticed.
    pub miimon_ms: Known<u64>,
    /// The member that carries everything, in modes that have one.
    pub active: Option<String>,
    /// Its members, by name.
    pub members: Vec<BondMember>,
}

/// An interface as a member of a bond.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct BondMember {
    /// Name of the member interface.
    pub name: String,
    /// State of the member: `active` or `backup`.
    pub state: Known<String>,
    /// What the bond makes of its link: `up`, `going down`, `down`, `going back`.
    pub link: Known<String>,
    /// How often the link has failed.
    pub link_failures: Known<u64>,
    /// Which group of links with one switch it belongs to, in mode `802.3ad`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub aggregator: Option<u64>,
}

/// A queueing discipline of an interface.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Queueing {
    /// Its name: `fq`, `fq_codel`, `mq`, `tbf`, `noqueue`.
    pub kind: String,
    /// Whether packets come to it first, and not from another discipline.
    pub root: bool,
    /// The rate that it shapes to, in bytes a second, of packets with the header of their link layer but without
    /// preamble, check sequence and gap. Of one with classes what they let through of packets that nobody sorts into them,
    /// or of all together where somebody may. None for one that does not shape, or does not hold everything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_bytes_per_second: Option<u64>,
    /// The same of each flow by itself (`maxrate` of fq).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flow_rate_bytes_per_second: Option<u64>,
    /// Bytes that a shaper counts each packet larger by than it is.
    #[serde(skip_serializing_if = "is_zero")]
    pub overhead_bytes: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}
