//! Fewer NVLinks than the GPUs of the others have.

use seatrial_model::Actor;

use super::super::rule::CauseRule;
use super::super::sign::Sign;

pub const RULE: CauseRule = CauseRule {
    id: "lost-nvlink",
    title: "NVLinks down",
    families: &["gpu", "nccl", "mpi"],
    seen: &[Sign::Lower(&["NVLinks"])],
    cause: "NVLinks of a GPU of {node} are down: {seen}",
    actor: Actor::Vendor,
    action: "reset the GPU; have it or its board replaced if links stay down: `nvidia-smi nvlink --status`, `nvidia-smi --gpu-reset`",
    ..CauseRule::NEW
};
