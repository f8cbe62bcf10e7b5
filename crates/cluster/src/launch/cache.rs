//! The place of a node's copies of the binary, and the shell that finds one and makes room for one: the same for ssh and
//! Slurm, so that each uses what the other left.
//!
//! The name of a copy is the build id, which contains the hash of the content. A copy is written below another name and
//! renamed when it is complete. A directory is trusted when it is ours, no link, and open to nobody else. A copy
//! is removed when one of another build is placed beside it and it was not used for [`UNUSED_DAYS`].

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;

use seatrial_model::Bytes;

use crate::own_program::RUNNING;

/// Prefix of our lines. Login scripts and prologues may print before.
pub(super) const MARK: &str = "seatrial-boot ";

/// Days without use after which a copy is removed.
const UNUSED_DAYS: u32 = 30;

/// Directories on the node itself.
pub(super) const LOCAL: &str = "\"$l/seatrial-$u\" \"/dev/shm/seatrial-$u\"";

/// All directories: first the user's cache directory, which nodes may share.
pub(super) const ALL: &str = "\"$c/seatrial\" \"$l/seatrial-$u\" \"/dev/shm/seatrial-$u\"";

pub(super) fn size() -> io::Result<u64> {
    Ok(fs::metadata(RUNNING)?.len())
}

/// Quotes a word inside single quotes that are already open: only characters without meaning to the shell.
pub(super) fn word(text: &str) -> String {
    text.chars().filter(|c| c.is_ascii_alphanumeric() || "-_.+/@:".contains(*c)).collect()
}

/// The first commands: `$k` begins each of our lines with `from`, `$f` is the name of the copy of `build`.
pub(super) fn opening(from: &str, build: &str) -> String {
    let (machine, build) = (std::env::consts::ARCH, word(build));
    format!(
        "umask 077; k=\"{MARK}{from}\"; m=$(uname -m); \
         if [ \"$m\" != {machine} ]; then echo $k fail \"the node is $m, this binary is {machine}\"; exit 1; fi; \
         u=$(id -u); c=${{XDG_CACHE_HOME:-$HOME/.cache}}; l=${{TMPDIR:-/tmp}}; f={build}; \
         case $c in /*) ;; *) c=$HOME/.cache;; esac; case $l in /*) ;; *) l=/tmp;; esac; "
    )
}

/// Runs `then` for each copy `$d/$f` of `size` bytes. After a power loss a file may be empty, so the size is compared.
pub(super) fn for_each_copy(size: u64, then: &str) -> String {
    format!(
        "for d in {ALL}; do \
         if [ -O \"$d/$f\" ] && [ ! -L \"$d/$f\" ] && [ -x \"$d/$f\" ] && [ $(wc -c <\"$d/$f\") -eq {size} ] \
         && [ -n \"$(find \"$d\" -prune -type d -user $u {OURS_ALONE} </dev/null)\" ]; then \
         {then} fi; done; "
    )
}

/// Tests of find(1): nobody else may read, write or search. A folder below one with the setgid bit has that bit as well.
const OURS_ALONE: &str = "-perm -700 ! -perm -40 ! -perm -20 ! -perm -10 ! -perm -4 ! -perm -2 ! -perm -1";

/// Commands that record the use of `$d/$f`.
pub(super) const TOUCH: &str = "touch -c \"$d/$f\" 2>/dev/null; ";

/// Removes all copies `$d/$f`, whatever their state.
pub(super) fn remove_copies() -> String {
    format!(
        "for d in {ALL}; do \
         if [ -O \"$d\" ] && [ ! -L \"$d\" ] && [ -O \"$d/$f\" ]; then rm -f \"$d/$f\"; fi; done; "
    )
}

/// Runs `then`, which ends the loop, in the first of `folders` where files can be written and executed (a home may be
/// mounted noexec) and that has `room` bytes, with `$t` as a temporary name; else tells that there is none.
///
/// Homes are shared, so the temporary name has the host name (PIDs repeat between nodes). Unused copies of other builds,
/// and interrupted ones, are removed; their names are version, plus sign and hash. Files of this build stay: a broadcast
/// gives them the age of the binary that it sends.
pub(super) fn place(folders: &str, room: u64, then: &str) -> String {
    let (kib, room) = (room.div_ceil(1024), Bytes(room).rounded());
    format!(
        "for d in {folders}; do \
         [ -L \"$d\" ] && continue; mkdir -p \"$d\" 2>/dev/null; t=\"$d/$f.$(uname -n).$$\"; \
         if [ -O \"$d\" ] && [ ! -L \"$d\" ] && chmod 700 \"$d\" 2>/dev/null && {{ echo \"#!/bin/sh\" >\"$t\"; }} 2>/dev/null && chmod 700 \"$t\" \
         && \"$t\" 2>/dev/null; then \
         find \"$d\" -type f -name \"*+*\" ! -name \"$f*\" -mtime +{UNUSED_DAYS} -exec rm -f {{}} + </dev/null 2>/dev/null; \
         a=$(df -Pk \"$d\" 2>/dev/null | {{ read -r x; read -r x x x a x; echo $a; }}); \
         if ! [ \"$a\" -lt {kib} ] 2>/dev/null; then {then} fi; fi; \
         rm -f \"$t\" 2>/dev/null; done; \
         echo $k fail \"no folder to put the binary in: it can be written and executed and has {room} free in none of\" {folders}; exit 1"
    )
}

/// Gives the running file, a copy below a temporary name whose content has the id `own`, the name of the build
/// `wanted`. Nothing is done where it runs below that name already.
///
/// # Errors
/// Why the file is no copy of that build, or is not renamed.
pub fn keep_copy(own: &str, wanted: &str) -> Result<(), String> {
    if own != wanted {
        return Err(format!("this file is build {own}, not {wanted}"));
    }
    let path = std::env::current_exe().map_err(|error| format!("finding the copy of the binary: {error}"))?;
    match path.file_name().and_then(|name| name.to_str()).and_then(|name| name.strip_prefix(wanted)) {
        // The second: another run has just put its own copy in its place (proc(5), /proc/pid/exe).
        Some("" | " (deleted)") => Ok(()),
        Some(rest) if rest.starts_with('.') => fs::set_permissions(&path, Permissions::from_mode(0o700))
            .and_then(|()| fs::rename(&path, path.with_file_name(wanted)))
            .map_err(|error| format!("renaming {} to {wanted}: {error}", path.display())),
        // Never an installed file.
        _ => Err(format!("{} does not have the name of a copy of {wanted}", path.display())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_copy_of_the_wanted_build_is_renamed() {
        let own = std::env::current_exe().expect("known");
        let name = own.file_name().and_then(|name| name.to_str()).expect("a name");
        assert_eq!(
            keep_copy("1.0+abd", "1.0+abc"),
            Err("this file is build 1.0+abd, not 1.0+abc".to_owned())
        );
        assert_eq!(keep_copy(name, name), Ok(()), "it has its name already");
        // The name of this file begins with that build, as that of another program may.
        for other in ["1.0+abc", &name[..name.len() - 1]] {
            let why = keep_copy(other, other).expect_err("no copy");
            assert!(why.contains("does not have the name of a copy"), "{why}");
        }
        assert!(own.exists());
    }
}
