//! Interrupts of a network card on CPUs of another NUMA node.

use super::super::rule::CauseRule;
use super::super::sign::Sign;
use super::NETWORK;

pub const RULE: CauseRule = CauseRule {
    id: "far-interrupts",
    title: "interrupts on far CPUs",
    families: NETWORK,
    seen: &[Sign::Differs(&["nic.irq_local"])],
    cause: "interrupts of a network card go to CPUs far from it: {seen}",
    action: "on {node}, as on its peers: {command}; keep irqbalance from moving them: `systemctl stop irqbalance`",
    ..CauseRule::NEW
};
