//! `lab status`: what runs, what is broken on purpose, and what the faults counted.

use std::path::Path;

use anyhow::{Result, ensure};
use comfy_table::Table;
use comfy_table::presets::NOTHING;

use super::daemons::sinfo;
use super::fault::{self, counters};
use super::state::{Host, Lab};

/// Prints the lab in `folder`.
///
/// # Errors
/// When there is none, or something that should run does not.
pub fn run(folder: &Path) -> Result<()> {
    let lab = Lab::existing(folder)?;
    println!("lab '{}' in {}", lab.name, folder.display());
    // Without slurmctld it would take its time to say so.
    let has_slurm =
        lab.head.daemons.iter().any(|daemon| daemon.program == "slurmctld" && daemon.process.is_alive());
    let slurm = if has_slurm { sinfo(&lab).unwrap_or_default() } else { String::new() };
    let mut table = Table::new();
    table.load_style(NOTHING);
    table.set_header(["host", "address", "pid", "slurm", "clock", "scratch", "daemons"]);
    for host in lab.hosts() {
        let state =
            slurm.lines().filter_map(|line| line.split_once(' ')).find(|(name, _)| *name == host.name);
        let device = host.scratch.as_ref().and_then(|scratch| scratch.device.as_ref());
        table.add_row([
            host.name.clone(),
            host.address.clone(),
            host.init.filter(|_| host.is_alive()).map_or("gone".to_owned(), |init| init.pid.to_string()),
            state.map_or("-", |(_, state)| state).to_owned(),
            format!("+{} s", host.clock_ahead_s),
            device.map_or("-".to_owned(), |device| device.display().to_string()),
            daemons(host),
        ]);
    }
    println!("{table}");
    for node in &lab.nodes {
        for applied in &node.faults {
            let counted = counters(&lab, node, applied.fault).ok().flatten();
            let counted = counted.map_or_else(String::new, |both| format!(": {}", fault::describe(both)));
            println!("fault of {}: {}{counted}", node.name, applied.fault);
        }
    }
    let gone = lab.gone();
    ensure!(gone.is_empty(), "the lab is not whole: {}", gone.join(", "));
    Ok(())
}

fn daemons(host: &Host) -> String {
    let word = |daemon: &super::state::Daemon| {
        let state = if daemon.process.is_alive() { "" } else { " (gone)" };
        format!("{}{state}", daemon.program)
    };
    host.daemons.iter().map(word).collect::<Vec<_>>().join(", ")
}
