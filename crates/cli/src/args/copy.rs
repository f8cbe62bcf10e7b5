//! `seatrial copy`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;
use seatrial_mover::{STREAMS, Window};

/// Copy files and directories to another host or within this one; a copy that was interrupted continues
///
/// The data goes over TCP connections that prove a key which only ssh carries, not through ssh itself: in the clear, unless
/// --encrypt is given.
///
/// As with rsync, DIR is copied as a directory into TARGET, and DIR/ stands for what is in it.
#[derive(Clone, Debug, Args)]
#[command(after_help = crate::exit::COPY_HELP)]
pub struct CopyArgs {
    /// Files and directories of this host
    #[arg(required = true, value_name = "SOURCE")]
    pub sources: Vec<PathBuf>,
    /// Where they go: a directory, or the new path of one file; HOST: before it is a host of ssh
    #[arg(value_name = "[HOST:]TARGET")]
    pub target: OsString,
    /// Data connections, or threads within this host
    #[arg(long, value_name = "N", default_value_t = STREAMS as u16, value_parser = clap::value_parser!(u16).range(1..=128))]
    pub streams: u16,
    /// Buffers of each data connection: auto: the kernel's; bdp: (speed of the interface in bit/s) x (round trip in s) / 8 bytes; or a size
    #[arg(long, value_name = "auto|bdp|SIZE", default_value = "auto")]
    pub window: Window,
    /// Compare the content of files that have the same size, whatever their time says
    #[arg(long)]
    pub checksum: bool,
    /// Also owners and extended attributes (access control lists too); modes and times always come along
    #[arg(long)]
    pub preserve: bool,
    /// Encrypt the data: AES-256-GCM, or ChaCha20-Poly1305 on a CPU without AES instructions
    #[arg(long)]
    pub encrypt: bool,
    /// Print which files would be copied, and write nothing
    #[arg(long)]
    pub dry_run: bool,
    /// ssh command with its options: 'ssh -F cluster.conf'
    #[arg(long, value_name = "COMMAND", default_value = "ssh")]
    pub ssh: String,
}
