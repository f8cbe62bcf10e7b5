//! Other programs on a GPU.

use seatrial_model::Actor;

use super::super::rule::CauseRule;
use super::super::sign::Sign;

pub const RULE: CauseRule = CauseRule {
    id: "gpu-shared",
    title: "GPU in use by others",
    families: &["gpu", "nccl"],
    seen: &[Sign::Finding(&["gpu-shared"])],
    cause: "{seen}",
    actor: Actor::User,
    action: "find whose programs they are and end them: PIDs from `nvidia-smi`, then `ps -o user,args -p PID`",
    ..CauseRule::NEW
};
