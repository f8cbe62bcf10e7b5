//! A name for each operation, such as `nccl.all_reduce`.

use seatrial_model::Alias;

const fn of(
    id: &'static str,
    params: &'static [(&'static str, &'static str)],
    title: &'static str,
    doc: &'static str,
) -> Alias {
    Alias { id, bench: "nccl.collective", pattern: None, params, title, doc }
}

/// In the order of the table of operations.
pub const ALIASES: &[Alias] = &[
    of(
        "nccl.all_reduce",
        &[("operation", "all_reduce")],
        "NCCL: sums over all GPUs, on every GPU",
        "Each GPU gets the sums of what all have: what training does with gradients.",
    ),
    of(
        "nccl.all_gather",
        &[("operation", "all_gather")],
        "NCCL: what all GPUs have, on every GPU",
        "Each GPU gets what every other one has.",
    ),
    of(
        "nccl.reduce_scatter",
        &[("operation", "reduce_scatter")],
        "NCCL: sums over all GPUs, a part on each",
        "Each GPU gets its part of the sums of what all have.",
    ),
    of(
        "nccl.all_to_all",
        &[("operation", "all_to_all")],
        "NCCL: a part of each GPU to each GPU",
        "Each GPU sends a part of its data to every other one, as mixtures of experts do.",
    ),
    of(
        "nccl.broadcast",
        &[("operation", "broadcast")],
        "NCCL: what the first GPU has, on every GPU",
        "Every GPU gets what the first one has.",
    ),
    of(
        "nccl.reduce",
        &[("operation", "reduce")],
        "NCCL: sums over all GPUs, on the first one",
        "The first GPU gets the sums of what all have.",
    ),
    of(
        "nccl.send_receive",
        &[("operation", "send_receive")],
        "NCCL: each GPU to the next in a ring",
        "Each GPU sends to the next one and receives from the one before.",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collective::operation::OPERATIONS;

    #[test]
    fn every_operation_has_a_name() {
        let named: Vec<_> = ALIASES.iter().map(|alias| (alias.id, alias.params)).collect();
        let wanted: Vec<_> =
            OPERATIONS.iter().map(|name| (format!("nccl.{name}"), [("operation", *name)])).collect();
        let wanted: Vec<_> = wanted.iter().map(|(id, params)| (id.as_str(), params.as_slice())).collect();
        assert_eq!(named, wanted);
    }
}
