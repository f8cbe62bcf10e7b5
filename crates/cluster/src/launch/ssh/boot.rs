//! Copies the binary to a node: a line of shell looks for the same build in the [`cache`], requests the binary if
//! missing, and executes it.
//!
//! Any login shell works: the line is an argument of `sh -c` in single quotes, without single quotes or line feeds
//! (csh(1) allows none inside quotes).

use std::fs::File;
use std::io::{self, Read, Write};

use seatrial_model::Bytes;

use crate::launch::SILENCE;
use crate::launch::cache::{self, ALL, MARK, TOUCH, word};
use crate::launch::copying::Copying;
use crate::own_program::RUNNING;

/// Bytes of the binary between two notes of progress: the capacity of a pipe.
const PIECE: usize = 64 << 10;

/// Bytes of a login script's output that are skipped.
const MOST_CHATTER: usize = 64 << 10;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Agent,
    Relay,
    /// The receiver of a copy.
    Receiver,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Boot<'a> {
    pub(super) build: &'a str,
    pub(super) size: u64,
    pub(super) node: &'a str,
    pub(super) sysroot: Option<&'a str>,
    pub(super) role: Role,
    /// Whether to replace existing copies.
    pub(super) is_fresh: bool,
}

impl Boot<'_> {
    /// The line of shell that becomes the agent of `node`.
    pub(super) fn script(&self) -> String {
        let Self { size, role, .. } = *self;
        let node = word(self.node);
        let sysroot = self.sysroot.map(|tree| format!(" --sysroot {}", word(tree))).unwrap_or_default();
        let silence = SILENCE.as_secs();
        let agent = match role {
            Role::Agent => format!("agent --node {node}{sysroot} --silence {silence}"),
            Role::Relay => format!("agent --node {node}{sysroot} --silence {silence} --relay"),
            Role::Receiver => "copy-receiver".to_owned(),
        };
        let found = if self.is_fresh {
            cache::remove_copies()
        } else {
            cache::for_each_copy(size, &format!("{TOUCH}echo $k have; exec \"$d/$f\" {agent};"))
        };
        // head(1) may read more than requested; nothing follows before we say "got".
        let send = format!(
            "echo $k send; if head -c {size} >\"$t\" && [ $(wc -c <\"$t\") -eq {size} ] && mv -f \"$t\" \"$d/$f\"; \
             then echo $k got; exec \"$d/$f\" {agent}; fi; \
             rm -f \"$t\"; echo $k fail \"the copy in $d is incomplete: is the disk full?\"; exit 1;"
        );
        let opening = cache::opening("", self.build);
        format!("exec sh -c '{opening}{found}{}'", cache::place(ALL, size, &send))
    }
}

/// Follows the node's lines until its agent runs, and sends the binary on request; progress goes to `copying`.
pub(super) fn exchange(from: &mut dyn Read, to: &mut dyn Write, copying: &Copying) -> Result<(), String> {
    let mut chatter = 0;
    // A node that cannot store the copy stops reading and then says why; report that instead of the broken pipe.
    let mut unsent = None;
    loop {
        let line = line(from, &mut chatter).map_err(|ended| unsent.take().unwrap_or(ended))?;
        let Some(said) = line.split_once(MARK).map(|(_, said)| said) else { continue };
        match said.split_once(' ').unwrap_or((said, "")) {
            ("have", _) => {
                copying.found();
                return Ok(());
            }
            ("got", _) => {
                copying.arrived();
                return Ok(());
            }
            ("send", _) => {
                unsent = send(to, copying).err();
            }
            ("fail", why) => return Err(why.to_owned()),
            _ => return Err(format!("the node says '{said}'")),
        }
    }
}

/// Sends the binary, or tells how far it came and why no further.
fn send(to: &mut dyn Write, copying: &Copying) -> Result<(), String> {
    let own = |error: io::Error| format!("reading the binary to copy it to the node: {error}");
    let mut binary = File::open(RUNNING).map_err(own)?;
    let all = binary.metadata().map_err(own)?.len();
    let (mut piece, mut sent) = (vec![0; PIECE], 0);
    let ended = |error: io::Error, sent: u64| {
        let (sent, all) = (Bytes(sent).rounded(), Bytes(all).rounded());
        match error.kind() {
            io::ErrorKind::BrokenPipe => {
                format!("the connection ended when {sent} of {all} of the binary were sent to the node")
            }
            _ => format!("copying the binary to the node, after {sent} of {all}: {error}"),
        }
    };
    loop {
        copying.sent(sent, all);
        match binary.read(&mut piece) {
            Ok(0) => return to.flush().map_err(|error| ended(error, sent)),
            Ok(bytes) => {
                to.write_all(&piece[..bytes]).map_err(|error| ended(error, sent))?;
                sent += bytes as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(own(error)),
        }
    }
}

/// The next line, read byte by byte: frames follow the last line.
fn line(from: &mut dyn Read, chatter: &mut usize) -> Result<String, String> {
    let mut line = Vec::new();
    loop {
        let mut byte = [0];
        match from.read(&mut byte) {
            Ok(0) => return Err("the connection ended before an agent was started".to_owned()),
            Ok(_) if byte[0] == b'\n' => return Ok(String::from_utf8_lossy(&line).into_owned()),
            Ok(_) => line.push(byte[0]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(format!("the connection broke before an agent was started: {error}")),
        }
        *chatter += 1;
        if *chatter > MOST_CHATTER {
            return Err(format!("the node printed {MOST_CHATTER} bytes and no agent was started"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;
    use std::process::{Command, Stdio};

    const BOOT: Boot<'_> =
        Boot { build: "1.0+abc", size: 0, node: "n1", sysroot: None, role: Role::Agent, is_fresh: false };

    /// Runs the script in a shell with its own home, with the test binary as the agent; returns our lines.
    fn play(home: &Path, size: u64, body: &[u8]) -> Vec<String> {
        play_as(home, Boot { size, ..BOOT }, body)
    }

    fn play_as(home: &Path, boot: Boot<'_>, body: &[u8]) -> Vec<String> {
        let script = boot.script().replace("/dev/shm/", "/proc/nowhere/");
        let mut child = Command::new("sh")
            .args(["-c", &script])
            .env("HOME", home)
            .env("TMPDIR", home.join("tmp"))
            .env_remove("XDG_CACHE_HOME")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("a shell");
        let mut stdin = child.stdin.take().expect("a pipe");
        let body = body.to_vec();
        let writer = std::thread::spawn(move || {
            // The script reads nothing when it has the file.
            let _ = stdin.write_all(&body);
        });
        let out = child.wait_with_output().expect("it ends");
        writer.join().expect("joined");
        let text = String::from_utf8_lossy(&out.stdout).into_owned();
        text.lines().map(str::to_owned).collect()
    }

    const AGENT: &[u8] = b"#!/bin/sh\necho I am \"$@\"\n";

    #[test]
    fn the_binary_is_asked_for_once_and_found_again() {
        let home = tempfile::tempdir().expect("a folder");
        let first = play(home.path(), AGENT.len() as u64, AGENT);
        assert_eq!(first, ["seatrial-boot send", "seatrial-boot got", "I am agent --node n1 --silence 50"]);
        let again = play(home.path(), AGENT.len() as u64, b"");
        assert_eq!(again, ["seatrial-boot have", "I am agent --node n1 --silence 50"]);
        let names = || std::fs::read_dir(home.path().join(".cache/seatrial")).expect("made");
        assert_eq!(names().count(), 1, "nothing but the binary is left");
    }

    #[test]
    fn a_copy_that_lost_its_content_is_asked_for_again() {
        let home = tempfile::tempdir().expect("a folder");
        play(home.path(), AGENT.len() as u64, AGENT);
        std::fs::write(home.path().join(".cache/seatrial/1.0+abc"), "").expect("emptied");
        let again = play(home.path(), AGENT.len() as u64, AGENT);
        assert_eq!(again, ["seatrial-boot send", "seatrial-boot got", "I am agent --node n1 --silence 50"]);
    }

    #[test]
    fn a_copy_that_is_not_trusted_is_replaced_wherever_it_lies() {
        let home = tempfile::tempdir().expect("a folder");
        let size = AGENT.len() as u64;
        play(home.path(), size, AGENT);
        let (first, second) = (home.path().join(".cache/seatrial"), home.path().join("tmp"));
        let user = rustix::process::geteuid().as_raw();
        let second = second.join(format!("seatrial-{user}"));
        std::fs::create_dir_all(&second).expect("made");
        std::fs::copy(first.join("1.0+abc"), second.join("1.0+abc")).expect("copied");
        let other = String::from_utf8_lossy(AGENT).replace("I am", "I as");
        let lines = play_as(home.path(), Boot { size, is_fresh: true, ..BOOT }, other.as_bytes());
        assert_eq!(lines, ["seatrial-boot send", "seatrial-boot got", "I as agent --node n1 --silence 50"]);
        assert_eq!(std::fs::read(first.join("1.0+abc")).expect("there"), other.as_bytes());
        assert!(
            !second.join("1.0+abc").exists(),
            "a copy is left that would be found when the first cannot be read"
        );
    }

    #[test]
    fn a_link_in_the_place_of_the_folder_is_passed_over_and_what_it_leads_to_stays_as_it_is() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let home = tempfile::tempdir().expect("a folder");
        let (cache, elsewhere) = (home.path().join(".cache"), home.path().join("elsewhere"));
        for folder in [&cache, &elsewhere, &home.path().join("tmp")] {
            std::fs::create_dir(folder).expect("made");
        }
        std::fs::set_permissions(&elsewhere, PermissionsExt::from_mode(0o755)).expect("set");
        // A copy there is not used either.
        std::fs::write(elsewhere.join("1.0+abc"), AGENT).expect("written");
        std::fs::set_permissions(elsewhere.join("1.0+abc"), PermissionsExt::from_mode(0o755)).expect("set");
        symlink(&elsewhere, cache.join("seatrial")).expect("linked");
        let lines = play(home.path(), AGENT.len() as u64, AGENT);
        assert_eq!(lines, ["seatrial-boot send", "seatrial-boot got", "I am agent --node n1 --silence 50"]);
        let mode = std::fs::metadata(&elsewhere).expect("there").permissions().mode();
        assert_eq!(mode & 0o777, 0o755);
    }

    #[test]
    fn copies_that_nobody_used_for_a_month_go_when_a_new_one_comes() {
        let home = tempfile::tempdir().expect("a folder");
        let folder = home.path().join(".cache/seatrial");
        std::fs::create_dir_all(&folder).expect("made");
        let day = std::time::Duration::from_secs(24 * 3600);
        for (name, days) in [("0.9+old", 32), ("0.9+old.n7.123", 32), ("0.9+used", 28), ("notes", 400)] {
            let file = File::create(folder.join(name)).expect("made");
            file.set_modified(std::time::SystemTime::now() - day * days).expect("made older");
        }
        let names = || {
            let entries = std::fs::read_dir(&folder).expect("there").flatten();
            let mut names: Vec<_> =
                entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
            names.sort();
            names
        };
        play(home.path(), AGENT.len() as u64, AGENT);
        assert_eq!(names(), ["0.9+used", "1.0+abc", "notes"]);
        // A copy in use stays.
        let copy = File::open(folder.join("1.0+abc")).expect("there");
        copy.set_modified(std::time::SystemTime::now() - day * 40).expect("made older");
        play(home.path(), AGENT.len() as u64, b"");
        let age = copy.metadata().expect("there").modified().expect("known").elapsed().unwrap_or_default();
        assert!(age < day, "{age:?}");
    }

    #[test]
    fn a_copy_that_is_not_whole_is_refused_and_removed() {
        let home = tempfile::tempdir().expect("a folder");
        let lines = play(home.path(), 4096, AGENT);
        assert_eq!(lines[0], "seatrial-boot send");
        assert!(lines[1].starts_with("seatrial-boot fail the copy in "), "{lines:?}");
        assert_eq!(std::fs::read_dir(home.path().join(".cache/seatrial")).expect("made").count(), 0);
    }

    #[test]
    fn where_nothing_can_be_written_the_reason_is_told() {
        let home = tempfile::tempdir().expect("a folder");
        // A file in place of the folders, which not even root can change.
        std::fs::write(home.path().join(".cache"), "").expect("written");
        std::fs::write(home.path().join("tmp"), "").expect("written");
        let lines = play(home.path(), 10, b"");
        assert!(lines[0].starts_with("seatrial-boot fail no folder to put the binary in"), "{lines:?}");
    }

    #[test]
    fn where_no_folder_has_room_that_is_told() {
        let home = tempfile::tempdir().expect("a folder");
        let lines = play(home.path(), 1 << 60, b"");
        let told = "seatrial-boot fail no folder to put the binary in";
        assert!(lines[0].starts_with(told) && lines[0].contains(" free in none of "), "{lines:?}");
        let left = std::fs::read_dir(home.path().join(".cache/seatrial")).expect("made").count();
        assert_eq!(left, 0, "the file to try is gone");
    }

    #[test]
    fn chatter_is_read_over_and_what_follows_is_left_for_the_frames() {
        let exchanged = |from: &mut dyn Read| exchange(from, &mut io::sink(), &Copying::default());
        let mut from = &b"Welcome!\nseatrial-boot have\nFRAMES"[..];
        assert_eq!(exchanged(&mut from), Ok(()));
        assert_eq!(from, b"FRAMES");
        let mut failing = &b"seatrial-boot fail the node is riscv64\n"[..];
        assert_eq!(exchanged(&mut failing), Err("the node is riscv64".to_owned()));
        let mut silent = &b"bash: no such file\n"[..];
        assert!(exchanged(&mut silent).unwrap_err().contains("ended before"));
        let endless = exchanged(&mut io::repeat(b'x')).unwrap_err();
        assert!(endless.contains("65536 bytes"), "{endless}");
    }

    #[test]
    fn how_far_the_copy_is_and_whether_there_was_one_is_noted() {
        let found = Copying::default();
        exchange(&mut &b"seatrial-boot have\n"[..], &mut io::sink(), &found).expect("there");
        assert!(found.was_there() && found.moved().is_none());
        let quiet = std::time::Duration::from_secs(1);
        let sent = Copying::default();
        exchange(&mut &b"seatrial-boot send\nseatrial-boot got\n"[..], &mut io::sink(), &sent).expect("sent");
        assert!(!sent.was_there() && sent.moved().is_some() && sent.complaint(quiet).is_none());
        // A node that takes the first bytes and then breaks.
        let mut room = [0; 3 * PIECE];
        let cut = Copying::default();
        let error = exchange(&mut &b"seatrial-boot send\n"[..], &mut &mut room[..], &cut).unwrap_err();
        assert!(error.contains("copying the binary to the node"), "{error}");
        let told = cut.complaint(quiet).expect("under way");
        assert!(
            told.contains(&format!("after {} of {} B", 3 * PIECE, cache::size().expect("known"))),
            "{told}"
        );
    }

    #[test]
    fn the_line_holds_nothing_that_would_end_its_quotes() {
        let (build, node, sysroot) = ("1.0+a'b\n", "n1; rm $HOME", Some("/tree with'quote"));
        let boot = Boot { build, node, sysroot, ..BOOT };
        for script in [boot, Boot { is_fresh: true, role: Role::Relay, ..boot }].map(|boot| boot.script()) {
            assert_eq!(script.matches('\'').count(), 2);
            assert!(!script.contains('\n') && script.contains("n1rmHOME"), "{script}");
            // csh(1) expands its history at every other `!`, in single quotes too.
            let marks = script.match_indices('!').filter(|(at, _)| script.is_char_boundary(at + 1));
            assert!(marks.map(|(at, _)| &script[at + 1..at + 2]).all(|next| [" ", "=", "/"].contains(&next)));
        }
    }
}
