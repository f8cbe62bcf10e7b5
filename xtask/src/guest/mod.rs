//! `cargo xtask guest`: virtual machines with what no namespace has: NUMA nodes, disks, RDMA, bonding.
//!
//! A guest boots Debian's kernel under emulation and has the host's own files as its root, read-only, with its changes in
//! memory. So every program that is here is there, and the project's binaries are at the same paths. Nothing of a guest
//! outlives its command.

mod disk;
mod initramfs;
mod kernel;
mod keys;
mod machine;
mod nic;
mod session;

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use clap::Subcommand;

use self::disk::Disks;
use self::nic::Nics;
use crate::packages;

/// Virtual machines with NUMA nodes, disks, and soft-RoCE on their network cards, for one command.
///
/// `lab/README.md` tells what is real in them and what is not.
#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    Run(RunArgs),
}

/// Boot, run a command in the first guest, print what it prints, end with its exit status.
#[derive(Clone, Debug, clap::Args)]
struct RunArgs {
    /// How many guests: with two, card N of one is wired to card N of the other, and ssh leads from g1 to g2.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=2))]
    guests: u32,
    /// NUMA nodes of each guest, with two CPUs and 1 GiB each. Node N from 1 on has a PCI device too, at 0000:N0:00.0.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=4))]
    numa: u32,
    /// Disks of each guest, all 1 GiB: sata:2,scsi:1,nvme:1. Those of sata and scsi say that they rotate.
    #[arg(long, default_value = "", value_name = "KIND:COUNT")]
    disks: Disks,
    /// Network cards of each guest, a number or kinds: virtio:1,e1000e:2. Those of e1000e have a rate, 1 Gbit/s.
    #[arg(long, default_value = "1", value_name = "KIND:COUNT")]
    nics: Nics,
    /// The guests deny that they are virtual, so that what is imitated passes for real: cards of e1000e have a limit then.
    #[arg(long)]
    bare: bool,
    /// A folder of the host that the guests may write to, at the same path.
    #[arg(long, value_name = "FOLDER")]
    writable: Option<PathBuf>,
    /// Seconds until the guests are ended.
    #[arg(long, default_value_t = 300, value_name = "SECONDS")]
    limit: u64,
    /// The command, in the folder where you are.
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<String>,
}

impl RunArgs {
    /// The same, with a path that guest and emulator understand alike.
    fn with_whole_path(&self) -> Result<Self> {
        let whole = |folder: &PathBuf| {
            folder.canonicalize().with_context(|| format!("no folder {}", folder.display()))
        };
        Ok(Self { writable: self.writable.as_ref().map(whole).transpose()?, ..self.clone() })
    }
}

/// Does what is asked for; the exit status of the command.
///
/// # Errors
/// When packages are missing, the kernel cannot be had, or a guest does not come up or does not end in time.
pub fn run(args: &Args) -> Result<u8> {
    let Action::Run(args) = &args.action;
    packages::require(packages::GUEST)?;
    ensure!(cfg!(target_arch = "x86_64"), "guests are x86-64 machines with the files of one");
    let kernel = kernel::get()?;
    session::run(args, &kernel, Duration::from_secs(args.limit))
}
