//! `cargo xtask lab`: a real cluster on one machine, of namespaces, with Slurm, sshd, Open MPI and faults on demand.
//!
//! Everything of a lab hangs on one process a host: with it go its PID namespace, its network and its mounts. Nothing
//! is made on the machine itself but that process, loop devices, and the folder that holds the record, `lab.json`.

mod call;
mod config;
mod daemons;
mod delay;
mod disk;
mod down;
mod enter;
mod fault;
mod log;
mod net;
pub mod process;
mod space;
mod state;
mod status;
mod up;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use clap::Subcommand;
use rustix::fs::Mode;

pub use fault::{Counter, Fault, counters};
pub use state::{Applied, Daemon, Host, Lab, Scratch};

use crate::workspace;

/// A real cluster on one machine: network namespaces with Slurm, sshd and Open MPI, and faults on demand.
///
/// It needs root. `lab/README.md` tells what is real in it and what is not.
#[derive(clap::Args)]
pub struct Args {
    /// The name of the lab; several can be up at once.
    #[arg(long, global = true, default_value = "default")]
    name: String,
    /// The folder that holds the folders of labs, one a name [default: target/lab].
    #[arg(long, global = true, value_name = "DIR")]
    state: Option<PathBuf>,
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    Up(up::Args),
    Run(enter::Args),
    /// Show what runs, the faults, and what they counted.
    Status,
    /// End the lab and remove everything of it, in whatever state it is.
    Down,
    /// Give a node faults: rate=200mbit, drop=1%, delay=10ms, down, mtu=1500, cpu-hog[=CPU], freeze-fs; -to and -from of one direction.
    Fault {
        /// The node.
        node: String,
        /// The faults; one of each kind at a time.
        #[arg(required = true, value_name = "FAULT")]
        faults: Vec<Fault>,
    },
    /// Carry the frames of a long link; `fault NODE delay=10ms` starts it.
    #[command(hide = true)]
    Carry(delay::Args),
    /// Take the faults of a node away and start its dead daemons again; of all nodes without a name.
    Heal {
        /// The node.
        node: Option<String>,
    },
}

/// Does what is asked for.
///
/// # Errors
/// When we are not root, there is no such lab or node, or the system refuses something.
pub fn run(args: &Args) -> Result<()> {
    ensure!(
        rustix::process::geteuid().is_root(),
        "the lab needs root: it makes namespaces, mounts and loop devices"
    );
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    ensure!(
        (1..=32).contains(&args.name.len()) && args.name.bytes().all(is_plain),
        "'{}' is no name for a lab: up to 32 of a to z, 0 to 9 and -",
        args.name
    );
    if matches!(args.action, Action::Up(_)) {
        // All users in the lab have to read what we write, except for the keys.
        rustix::process::umask(Mode::from_raw_mode(0o022));
    }
    let folder = folder(args.state.as_deref(), &args.name)?;
    match &args.action {
        Action::Carry(args) => delay::run(args),
        Action::Up(args_of_up) => up::run(&args.name, &folder, args_of_up),
        Action::Run(args) => enter::run(&folder, args),
        Action::Status => status::run(&folder),
        Action::Down => down::run(&folder),
        Action::Fault { node, faults } => {
            let (mut lab, _lock) = taken(&folder)?;
            faults.iter().try_for_each(|fault| {
                fault::apply(&mut lab, node, *fault)?;
                println!("{node}: {fault}");
                Ok(())
            })
        }
        Action::Heal { node } => {
            let (mut lab, _lock) = taken(&folder)?;
            let done = match node {
                Some(node) => fault::heal(&mut lab, node)?,
                None => fault::heal_all(&mut lab)?,
            };
            done.iter().for_each(|line| println!("{line}"));
            Ok(())
        }
    }
}

/// The lab in `folder`, for us alone.
fn taken(folder: &Path) -> Result<(Lab, state::Lock)> {
    // Looked at first, because taking a folder makes it.
    Lab::existing(folder)?;
    let lock = state::Lock::take(folder)?;
    Ok((Lab::existing(folder)?, lock))
}

/// The folder of the lab `name`, without symbolic links: it has to be found from inside the lab, too.
fn folder(state: Option<&Path>, name: &str) -> Result<PathBuf> {
    let own = workspace::root().join("target/lab");
    let state = std::path::absolute(state.unwrap_or(&own))?;
    std::fs::create_dir_all(&state).with_context(|| format!("cannot make {}", state.display()))?;
    Ok(state.canonicalize()?.join(name))
}
