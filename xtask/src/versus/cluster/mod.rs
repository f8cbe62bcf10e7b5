//! `versus cluster`: what it takes to have an agent on every node, and what a large cluster costs its controller.
//!
//! The nodes are those of the lab: one kernel, whose processors they share with the controller, and links that are
//! memory copies. So the figures show what the work itself takes, not what a network adds. The peers do less: they run
//! an empty command on every node, where ours also finds its binary there, describes the machine, and compares clocks.

mod controller;
mod journal;
mod scale;

use std::rc::Rc;

use anyhow::Result;
use seatrial_model::Unit;
use seatrial_stats::Better;

use self::journal::DAY;
use super::{Alone, Area, Figure, Hardware, Row, ours};
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
    machine: Hardware::here,
};

/// Sizes of the lab.
const SIZES: [u32; 2] = [4, 16];

/// All of it is other work than the peer's, with both figures side by side.
fn rows() -> Vec<Row> {
    let seatrial = ours::binary().display().to_string();
    let mut rows = Vec::new();
    for size in SIZES {
        let nodes = Rc::new(Nodes::new(size));
        rows.push(row(
            size,
            "ssh vs xargs -P 64 ssh true",
            None,
            timed(&nodes, format!("{seatrial} inventory -w n[1-{size}] -o json"), Left::Kept),
            timed(&nodes, format!("seq {size} | xargs -P 64 -I% ssh n% true"), Left::Kept),
        ));
        let copy = format!("srun -N{size} --bcast=/tmp/versus-copy --mpi=none {seatrial} --version");
        let peer = || Left::Removed(format!("srun -N{size} rm -f /tmp/versus-copy"));
        let slurm = format!("{CACHE} {seatrial} inventory -N {size} -o json");
        rows.push(row(
            size,
            "Slurm, copy there already vs srun hostname",
            None,
            timed(&nodes, slurm.clone(), Left::Expected),
            timed(&nodes, format!("srun -N{size} hostname"), Left::Kept),
        ));
        rows.push(row(
            size,
            "Slurm, first start vs srun --bcast of the same file",
            None,
            timed(&nodes, slurm, Left::Removed(remove_copies(size))),
            timed(&nodes, copy.clone(), peer()),
        ));
        let connected = Rc::clone(&nodes);
        rows.push(row(
            size,
            "a group's parts connected under Slurm, first start vs two srun true and the copy",
            Some(1.0),
            move || {
                connected.on("head", &remove_copies(size))?;
                until_connected(&connected, size)
            },
            // The second `srun true` is the one that runs the copy.
            timed(&nodes, format!("srun -N{size} --mpi=none true && {copy}"), peer()),
        ));
    }
    rows
}

fn row(
    size: u32,
    name: &str,
    goal: Option<f64>,
    ours: impl FnMut() -> Result<f64> + 'static,
    peer: impl FnMut() -> Result<f64> + 'static,
) -> Row {
    let name = format!("{size} nodes, {name}");
    Row::one(Figure { name, unit: Unit::Second, better: Better::Lower, goal }, ours, peer)
}

/// What a line leaves on the nodes for the next time.
enum Left {
    Kept,
    /// As `Kept`, and it is there the first time too: the line runs once before, outside of any time.
    Expected,
    /// This line removes it, outside of the time.
    Removed(String),
}

/// Seconds that a line takes on the head.
fn timed(nodes: &Rc<Nodes>, line: String, left: Left) -> impl FnMut() -> Result<f64> + use<> {
    let nodes = Rc::clone(nodes);
    let mut is_first = true;
    move || {
        if std::mem::take(&mut is_first) && matches!(left, Left::Expected) {
            nodes.on("head", &line)?;
        }
        let took = nodes.time("head", &line);
        if let Left::Removed(remove) = &left {
            nodes.on("head", remove)?;
        }
        took
    }
}

/// Keeps Slurm's tasks from the copy that ssh leaves in the home, which the nodes of the lab share.
const CACHE: &str = "XDG_CACHE_HOME=/tmp/versus-cache";

/// The line that removes the copies of the binary which a start under Slurm leaves.
fn remove_copies(size: u32) -> String {
    format!("srun -N{size} sh -c 'rm -rf /tmp/seatrial-*'")
}

/// Seconds from the command to the moment when all parts of a case of all nodes are connected and may start at one time.
fn until_connected(nodes: &Nodes, size: u32) -> Result<f64> {
    let (binary, size) = (ours::binary().display().to_string(), size.to_string());
    // Noted on the head, as the peer's time is: how long it takes to get there is in neither.
    let noted = r#"mkdir -p "$SEATRIAL_HOME" && date +%s.%N >"$SEATRIAL_HOME/start" && exec env "$@""#;
    let command = nodes.command(&["sh", "-c", noted, "sh", CACHE, &binary, "run", "-N", &size])?;
    ours::trial(command, "net.all_to_all", ["time=50ms"], |_, home| {
        let start: f64 = std::fs::read_to_string(home.join("start"))?.trim().parse()?;
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
