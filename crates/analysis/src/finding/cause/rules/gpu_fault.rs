//! Faults that the driver of a GPU reports.

use super::super::rule::CauseRule;
use super::super::sign::Sign;

pub const RULE: CauseRule = CauseRule {
    id: "gpu-fault",
    title: "GPU fault",
    families: &["gpu", "nccl", "mpi"],
    seen: &[Sign::KernelLog(&["NVRM: Xid"]), Sign::Finding(&["gpu-xid", "ecc-uncorrected"])],
    cause: "the driver reports a fault of a GPU of {node}: {seen}",
    action: "look the number up in NVIDIA's list of Xid errors and reset the GPU: `nvidia-smi --gpu-reset -i INDEX`; if the fault comes back, have the GPU replaced",
    ..CauseRule::NEW
};
