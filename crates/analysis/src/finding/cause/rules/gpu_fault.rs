//! Faults that the driver of a GPU reports.

use seatrial_model::Actor;

use super::super::rule::CauseRule;
use super::super::sign::Sign;

pub const RULE: CauseRule = CauseRule {
    id: "gpu-fault",
    title: "GPU fault",
    families: &["gpu", "nccl", "mpi"],
    seen: &[Sign::KernelLog(&["NVRM: Xid"]), Sign::Finding(&["gpu-xid", "ecc-uncorrected"])],
    cause: "the driver reports a fault of a GPU of {node}: {seen}",
    actor: Actor::Vendor,
    action: "look the number up in NVIDIA's list of Xid errors, reset the GPU, replace it if the fault comes back: `nvidia-smi -q`",
    ..CauseRule::NEW
};
