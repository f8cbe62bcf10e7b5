//! `versus cluster`: what it takes to have an agent on every node, and what a large cluster costs its controller.
//!
//! The nodes are those of the lab: one kernel, whose processors they share with the controller, and links that are
//! memory copies. So the figures show what the work itself takes, not what a network adds. The peers do less: they run
//! an empty command on every node, where ours also finds its binary there, describes the machine, and compares clocks.

mod controller;
mod journal;
mod scale;

use std::rc::Rc;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::Result;
use seatrial_model::Unit;
use seatrial_stats::Better;

use self::journal::DAY;
use super::{Alone, Area, Figure, Row, ours};
use crate::nodes::Nodes;
use crate::packages;

pub const CLUSTER: Area = Area {
    name: "cluster",
    about: "from the command to its end, with an agent on every node in between, against an empty command on each",
    packages: packages::LAB,
    peers: &[],
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
        // The second `srun true` is the one that runs the copy.
        let peer = format!("srun -N{size} --mpi=none true && {copy}");
        let name =
            format!("{size} nodes, a group's parts connected under Slurm vs two srun true and the copy");
        let figure = Figure { name, unit: Unit::Second, better: Better::Lower, goal: Some(1.0) };
        let [ours, of_peer] = [(); 2].map(|()| Rc::clone(&nodes));
        rows.push(Row::one(figure, move || until_connected(&ours, size), move || of_peer.time(&peer)));
    }
    rows
}

/// Seconds from the command to the moment when all parts of a case of all nodes are connected and may start at one time.
fn until_connected(nodes: &Nodes, size: u32) -> Result<f64> {
    let (binary, size) = (ours::binary().display().to_string(), size.to_string());
    let command = nodes.command(&[&binary, "run", "-N", &size])?;
    let start = SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs_f64() % DAY;
    ours::trial(command, "net.all_to_all", ["time=50ms"], |_, home| {
        let connected = journal::moment(home, |event| event["phase"] == "warm_up")?;
        Ok((connected - start).rem_euclid(DAY))
    })
}

/// What has no peer: the controller's own cost, and clusters that no lab could hold.
fn alone() -> Result<String> {
    let mut text = String::from("The controller's own cost, medians of five runs:\n\n");
    text += &controller::table(&SIZES)?;
    text += "\n\nSimulated nodes (hidden option `--script`), medians of three runs:\n\n";
    text += &scale::table()?;
    Ok(text)
}
