//! `versus cluster`: what it takes to have an agent on every node, and what a large cluster costs its controller.
//!
//! The nodes are those of the lab: one kernel, whose processors they share with the controller, and links that are
//! memory copies. So the figures show what the work itself takes, not what a network adds. The peers do less: they run
//! an empty command on every node, where ours also finds its binary there, describes the machine, and compares clocks.

mod controller;
mod scale;

use std::rc::Rc;

use anyhow::Result;
use seatrial_model::Unit;
use seatrial_stats::Better;

use super::{Alone, Area, Figure, Row, ours};
use crate::nodes::Nodes;
use crate::packages;

pub const CLUSTER: Area = Area {
    name: "cluster",
    about: "from the command to its end, with an agent on every node in between, against an empty command on each",
    packages: packages::LAB,
    rows,
    prepare: ours::build,
    alone: Some(Alone { name: "controller, scripted fleet", table: alone }),
};

/// Sizes of the lab.
const SIZES: [u32; 2] = [4, 16];

/// All of it is other work than the peer's, with both figures side by side.
fn rows() -> Vec<Row> {
    let mut rows = Vec::new();
    for size in SIZES {
        let nodes = Rc::new(Nodes::new(size));
        let row = |name: &str, goal: Option<f64>, ours: String, peer: String| {
            let name = format!("{size} nodes, {name}");
            let figure = Figure { name, unit: Unit::Second, better: Better::Lower, goal };
            let [ours, peer] = [ours, peer].map(|line| {
                let nodes = Rc::clone(&nodes);
                move || nodes.time(&line)
            });
            Row::one(figure, ours, peer)
        };
        let seatrial = ours::binary().display().to_string();
        rows.push(row(
            "ssh vs xargs -P 64 ssh true",
            None,
            format!("{seatrial} inventory -w n[1-{size}] -o json"),
            format!("seq {size} | xargs -P 64 -I% ssh n% true"),
        ));
        let copy = format!("srun -N{size} --bcast=/tmp/versus-copy --mpi=none {seatrial} --version");
        let slurm = format!("{seatrial} inventory -N {size} -o json");
        rows.push(row("Slurm vs srun hostname", None, slurm.clone(), format!("srun -N{size} hostname")));
        rows.push(row(
            "Slurm vs srun --bcast of the same file",
            None,
            slurm,
            format!("{copy}; code=$?; srun -N{size} rm -f /tmp/versus-copy; exit $code"),
        ));
        // From the command to the end of a case of all nodes that measures next to nothing. The second `srun true` is the
        // one that runs the copy.
        rows.push(row(
            "a group's case under Slurm vs two srun true and the copy",
            Some(1.0),
            format!(
                "{seatrial} run net.all_to_all -N {size} -p time=50ms -p trials=1 -p max_trials=1 -o json"
            ),
            format!("srun -N{size} --mpi=none true && {copy}"),
        ));
    }
    rows
}

/// What has no peer: the controller's own cost, and clusters that no lab could hold.
fn alone() -> Result<String> {
    let mut text = String::from("The controller's own cost, medians of five runs:\n\n");
    text += &controller::table(&SIZES)?;
    text += "\n\nSimulated nodes (hidden option `--script`), medians of three runs:\n\n";
    text += &scale::table()?;
    Ok(text)
}
