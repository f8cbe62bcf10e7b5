//! Fewer NVLinks than the GPUs of the others have.

use super::super::rule::CauseRule;
use super::super::sign::Sign;

pub const RULE: CauseRule = CauseRule {
    id: "lost-nvlink",
    title: "NVLinks down",
    families: &["gpu", "nccl", "mpi"],
    seen: &[Sign::Lower(&["NVLinks"])],
    cause: "NVLinks of a GPU of {node} are down: {seen}",
    action: "look at the links and reset the GPU: `nvidia-smi nvlink --status`, `nvidia-smi --gpu-reset -i INDEX`; if they stay down, have GPU or board replaced",
    ..CauseRule::NEW
};
