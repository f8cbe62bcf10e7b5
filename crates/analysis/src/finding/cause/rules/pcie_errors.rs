//! Errors on PCI Express links.

use seatrial_model::Actor;

use super::super::rule::CauseRule;
use super::super::sign::Sign;

pub const RULE: CauseRule = CauseRule {
    id: "pcie-errors",
    title: "PCIe errors",
    families: &["gpu", "nccl", "net", "rdma", "storage"],
    seen: &[
        Sign::KernelLog(&["AER: Corrected error", "AER: Uncorrected", "AER: Multiple", "PCIe Bus Error"]),
        Sign::Counted(&["state.pcie_fatal", "state.pcie_nonfatal", "state.pcie_correctable"]),
        Sign::Finding(&["pcie-replays"]),
    ],
    cause: "a PCI Express link of {node} has errors: {seen}",
    actor: Actor::Vendor,
    action: "reseat the card at that address, then its riser or cable; compare the speed of the link: `lspci -vv -s ADDRESS`",
    ..CauseRule::NEW
};
