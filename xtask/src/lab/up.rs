//! `lab up`: makes the lab, one recorded step after the other.

use std::fs;
use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};

use super::state::{Lab, Lock};
use super::{config, daemons, disk, down, net, space};
use crate::packages;

/// The most nodes. They share the CPUs of one machine: of more of them nothing could be learned.
const MOST_NODES: u32 = 64;

/// Make a lab: as many nodes as wanted and a head, with a network, Slurm, sshd and file systems of their own.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// How many nodes; they are called n1, n2 and so on.
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST_NODES)))]
    pub nodes: u32,
    /// How many links each node has: eth0, eth1 and so on, each on a bridge and in a network of its own.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=i64::from(net::MOST_RAILS)))]
    pub rails: u32,
    /// Size of the file system that each node has at /scratch, in MiB; its file is sparse.
    #[arg(long, value_name = "MIB", default_value_t = 256, value_parser = clap::value_parser!(u64).range(16..))]
    pub scratch: u64,
    /// Replace a lab of that name.
    #[arg(long)]
    pub fresh: bool,
}

/// Makes the lab in `folder`.
///
/// # Errors
/// When packages or privileges are missing, another lab is in the way, or a step fails: what was made until then stays
/// for a look at its logs, and `lab down` ends it.
pub fn run(name: &str, folder: &Path, args: &Args) -> Result<()> {
    packages::require(packages::LAB)?;
    let text = folder.to_str().filter(|text| !text.contains([' ', '\t', '"', '\\', '#', '%', '{']));
    ensure!(text.is_some(), "{} has signs that Slurm or ssh would not take in a path", folder.display());
    let started = Instant::now();
    let _lock = Lock::take(folder)?;
    if let Some(lab) = Lab::load(folder)? {
        if !args.fresh {
            return stands(&lab, args);
        }
        down::end(&lab)?;
    } else {
        let is_empty = fs::read_dir(folder)?.next().is_none();
        ensure!(is_empty, "{} holds something that is no lab", folder.display());
    }

    let mut lab = Lab::new(name, folder, args.nodes, args.rails)?;
    lab.save()?;
    make(&mut lab, args.scratch << 20).with_context(|| {
        format!("the lab '{name}' was not made; look at {}, then `cargo xtask lab down`", folder.display())
    })?;
    println!(
        "lab '{name}': head and {} are up after {:.1} s; {}",
        nodes(&lab),
        started.elapsed().as_secs_f64(),
        folder.display()
    );
    println!("for example: cargo xtask lab run -- srun -N{} hostname", args.nodes);
    Ok(())
}

fn make(lab: &mut Lab, scratch_bytes: u64) -> Result<()> {
    config::write(lab)?;
    space::start(lab, "head")?;
    let names: Vec<String> = lab.nodes.iter().map(|node| node.name.clone()).collect();
    for name in &names {
        if let Some(scratch) = &lab.host(name)?.scratch {
            disk::make(scratch, scratch_bytes)?;
        }
        space::start(lab, name)?;
        if let Some(scratch) = &mut lab.node_mut(name)?.scratch {
            scratch.device = disk::devices(scratch)?.into_iter().next();
        }
        lab.save()?;
    }
    net::connect(lab)?;
    daemons::start(lab, "head")?;
    for name in &names {
        daemons::start(lab, name)?;
    }
    daemons::wait_ready(lab)?;
    lab.is_complete = true;
    lab.save()
}

/// A lab of that name is there already: fine when it is whole and what was asked for.
fn stands(lab: &Lab, wanted: &Args) -> Result<()> {
    let gone = lab.gone();
    if lab.is_of_an_earlier_boot() {
        bail!("the lab '{}' is of an earlier boot of this machine; add --fresh", lab.name);
    }
    ensure!(gone.is_empty(), "the lab '{}' is not whole; add --fresh: {}", lab.name, gone.join(", "));
    let count = lab.nodes.len();
    let is_so = count == wanted.nodes as usize;
    ensure!(is_so, "the lab '{}' has {count} nodes; add --fresh to replace it", lab.name);
    let (name, rails) = (&lab.name, lab.rails);
    ensure!(rails == wanted.rails, "a node of the lab '{name}' has {rails} links; add --fresh to replace it");
    println!("lab '{}': head and {} are up already; {}", lab.name, nodes(lab), lab.folder.display());
    Ok(())
}

fn nodes(lab: &Lab) -> String {
    match lab.nodes.len() {
        1 => "n1".to_owned(),
        count => format!("n1 to n{count}"),
    }
}
