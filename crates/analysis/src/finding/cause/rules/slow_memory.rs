//! Memory that runs at a lower speed.

use super::super::rule::CauseRule;
use super::super::sign::Sign;

pub const RULE: CauseRule = CauseRule {
    id: "slow-memory",
    title: "slower memory",
    families: &["mem", "cpu", "mpi", "gpu"],
    seen: &[Sign::Lower(&["memory speed"])],
    cause: "the memory runs at a lower speed: {seen}",
    action: "compare firmware settings and modules with those of a sound node: `dmidecode -t memory`, memory frequency in the firmware setup",
    ..CauseRule::NEW
};
