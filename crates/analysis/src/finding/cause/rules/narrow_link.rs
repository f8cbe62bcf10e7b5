//! A PCI Express link with fewer lanes or of an older generation.

use seatrial_model::Actor;

use super::super::rule::CauseRule;
use super::super::sign::Sign;

pub const RULE: CauseRule = CauseRule {
    id: "narrow-link",
    title: "slower PCIe link",
    families: &["gpu", "nccl", "net", "rdma", "mpi", "storage"],
    seen: &[
        Sign::Lower(&["PCIe lanes", "PCIe speed"]),
        Sign::Finding(&["pcie-link-reduced", "pcie-way-reduced"]),
    ],
    cause: "a PCI Express link of {node} is slower than it can be: {seen}",
    actor: Actor::Vendor,
    action: "reseat the card, check riser, slot and firmware settings: `lspci -vv -s ADDRESS`, line LnkSta",
    ..CauseRule::NEW
};
