//! `versus cluster`: what it takes to have an agent on every node, and what a large cluster costs its controller.
//!
//! The nodes are those of the lab: one kernel, whose processors they share with the controller, and links that are
//! memory copies. So the figures show what the work itself takes, not what a network adds. The peers do less: they run
//! an empty command on every node, where ours also finds its binary there, describes the machine, and compares clocks.

mod controller;
mod nodes;
mod scale;

use std::path::PathBuf;
use std::rc::Rc;

use anyhow::Result;
use seatrial_model::Unit;
use seatrial_stats::Better;

use self::nodes::Nodes;
use super::{Alone, Area, Row, Work};
use crate::{packages, workspace};

/// The area.
pub const CLUSTER: Area = Area {
    name: "cluster",
    about: "from the command to its end, with an agent on every node in between, against an empty command on each",
    packages: packages::LAB,
    rows,
    alone: Some(Alone { name: "controller, scripted fleet", table: alone }),
};

/// Other work, with both figures side by side.
const NO_GOAL: f64 = 0.0;

/// Sizes of the lab.
const SIZES: [u32; 2] = [4, 16];

/// The release binary.
fn binary() -> PathBuf {
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| workspace::root().join("target"), PathBuf::from);
    target.join("release/seatrial")
}

fn build() -> Result<()> {
    workspace::run(&mut workspace::cargo(["build", "--release", "--locked", "--package", "seatrial"]))
}

fn rows() -> Result<Vec<Row>> {
    build()?;
    let mut rows = Vec::new();
    for size in SIZES {
        let nodes = Rc::new(Nodes::new(size));
        let row = |name: &str, ours: String, peer: String| Row {
            name: format!("{size} nodes, {name}"),
            unit: Unit::Second,
            better: Better::Lower,
            goal: NO_GOAL,
            ours: timed(&nodes, ours),
            peer: timed(&nodes, peer),
        };
        let seatrial = binary().display().to_string();
        rows.push(row(
            "ssh vs xargs -P 64 ssh true",
            format!("{seatrial} inventory -w n[1-{size}] -o json"),
            format!("seq {size} | xargs -P 64 -I% ssh n% true"),
        ));
        let slurm = format!("{seatrial} inventory -N {size} -o json");
        rows.push(row("Slurm vs srun hostname", slurm.clone(), format!("srun -N{size} hostname")));
        rows.push(row(
            "Slurm vs srun --bcast of the same file",
            slurm,
            format!(
                "srun -N{size} --bcast=/tmp/versus-copy --mpi=none {seatrial} --version; code=$?; \
                     srun -N{size} rm -f /tmp/versus-copy; exit $code"
            ),
        ));
    }
    Ok(rows)
}

/// The time that a line of shell takes on the head, in seconds.
fn timed(nodes: &Rc<Nodes>, line: String) -> Work {
    let nodes = Rc::clone(nodes);
    Box::new(move || nodes.time(&line))
}

/// What has no peer: the controller's own cost, and clusters that no lab could hold.
fn alone() -> Result<String> {
    build()?;
    let mut text = String::from("The controller's own cost, medians of five runs:\n\n");
    text += &controller::table(&SIZES)?;
    text += "\n\nSimulated nodes (hidden option `--script`), 10 cases each, medians of three runs:\n\n";
    text += &scale::table()?;
    Ok(text)
}
