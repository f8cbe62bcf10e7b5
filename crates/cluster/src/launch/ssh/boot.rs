//! How the binary gets to a node: a line of shell looks for the same build in a cache, asks for it where it is missing,
//! and becomes the agent.
//!
//! The file's name carries the hash of its content, so a copy is found again, and one of another build is never taken
//! for ours; the agent's hello is checked all the same. The cache is a folder of our own in the user's cache folder, or
//! where that cannot be written or executed, in one for temporary files; only the user can write there.
//!
//! The shell may be any: the line is handed to `sh -c` in single quotes, holds none itself and no line feed, which
//! csh(1) would not allow inside quotes.

use std::fs::File;
use std::io::{self, Read, Write};

/// The file that runs, even if another one has taken its name meanwhile.
const RUNNING: &str = "/proc/self/exe";

/// What the node's lines for us begin with. Login scripts may print before.
const MARK: &str = "seatrial-boot ";

/// Bytes of a login script's chatter that are read over.
const MOST_CHATTER: usize = 64 << 10;

/// Size of the running binary in bytes.
pub(super) fn size() -> io::Result<u64> {
    Ok(std::fs::metadata(RUNNING)?.len())
}

/// The line of shell that becomes the agent of `node`.
pub(super) fn script(build: &str, size: u64, node: &str, sysroot: Option<&str>) -> String {
    let machine = std::env::consts::ARCH;
    let (build, node) = (word(build), word(node));
    let sysroot = sysroot.map(|tree| format!(" --sysroot {}", word(tree))).unwrap_or_default();
    // Homes are shared, so the file that is being written has a name of its own: process ids repeat from node to node.
    // A folder is good when it is ours, nobody else may write to it, and what lies in it may be executed: a home may be
    // mounted noexec. A node that lost its power may keep the name of a copy and nothing of its content; such a copy is
    // sent anew. head(1) reads no further than told, or does not matter: nothing follows before we say "got".
    let line = format!(
        "umask 077; m=$(uname -m); \
         if [ \"$m\" != {machine} ]; then echo {MARK}fail \"the node is $m, this binary is {machine}\"; exit 1; fi; \
         u=$(id -u); c=${{XDG_CACHE_HOME:-$HOME/.cache}}; f={build}; \
         for d in \"$c/seatrial\" \"${{TMPDIR:-/tmp}}/seatrial-$u\" \"/dev/shm/seatrial-$u\"; do \
         if [ -O \"$d\" ] && [ -O \"$d/$f\" ] && [ -x \"$d/$f\" ] && [ $(wc -c <\"$d/$f\") -eq {size} ]; then \
         echo {MARK}have; \
         exec \"$d/$f\" agent --node {node}{sysroot}; fi; done; \
         for d in \"$c/seatrial\" \"${{TMPDIR:-/tmp}}/seatrial-$u\" \"/dev/shm/seatrial-$u\"; do \
         mkdir -p \"$d\" 2>/dev/null; chmod 700 \"$d\" 2>/dev/null; t=\"$d/$f.$(uname -n).$$\"; \
         if [ -O \"$d\" ] && [ ! -L \"$d\" ] && {{ echo \"#!/bin/sh\" >\"$t\"; }} 2>/dev/null && chmod 700 \"$t\" \
         && \"$t\" 2>/dev/null; then \
         echo {MARK}send; if head -c {size} >\"$t\" && [ $(wc -c <\"$t\") -eq {size} ] && mv -f \"$t\" \"$d/$f\"; then \
         echo {MARK}got; exec \"$d/$f\" agent --node {node}{sysroot}; fi; \
         rm -f \"$t\"; echo {MARK}fail \"the copy in $d is not whole: is the disk full?\"; exit 1; fi; \
         rm -f \"$t\" 2>/dev/null; done; \
         echo {MARK}fail \"no folder to put the binary in: $c, /tmp and /dev/shm cannot be written or executed\"; exit 1"
    );
    format!("exec sh -c '{line}'")
}

/// A word for the shell inside single quotes that are open already: only characters that mean nothing to it.
fn word(text: &str) -> String {
    text.chars().filter(|c| c.is_ascii_alphanumeric() || "-_.+/@:".contains(*c)).collect()
}

/// Follows the node's lines until its agent runs, and sends the binary if it is asked for.
///
/// # Errors
/// What the node answered, or what became of the connection.
pub(super) fn exchange(from: &mut dyn Read, to: &mut dyn Write) -> Result<(), String> {
    let mut chatter = 0;
    loop {
        let line = line(from, &mut chatter)?;
        let Some(said) = line.split_once(MARK).map(|(_, said)| said) else { continue };
        match said.split_once(' ').unwrap_or((said, "")) {
            ("have" | "got", _) => return Ok(()),
            ("send", _) => send(to).map_err(|error| format!("copying the binary to the node: {error}"))?,
            ("fail", why) => return Err(why.to_owned()),
            _ => return Err(format!("the node says '{said}'")),
        }
    }
}

fn send(to: &mut dyn Write) -> io::Result<()> {
    io::copy(&mut File::open(RUNNING)?, to)?;
    to.flush()
}

/// The next line, read byte by byte: what follows the last one belongs to the frames.
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

    /// Plays the script in a shell with a home of its own, in which the running test binary is the agent; returns the
    /// lines meant for us, without what a program prints that is no agent.
    fn play(home: &Path, size: u64, body: &[u8]) -> Vec<String> {
        let script = script("1.0+abc", size, "n1", None).replace("/dev/shm/", "/proc/nowhere/");
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
            // A script that has the file already reads nothing.
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
        assert_eq!(first, ["seatrial-boot send", "seatrial-boot got", "I am agent --node n1"]);
        let again = play(home.path(), AGENT.len() as u64, b"");
        assert_eq!(again, ["seatrial-boot have", "I am agent --node n1"]);
        let names = || std::fs::read_dir(home.path().join(".cache/seatrial")).expect("made");
        assert_eq!(names().count(), 1, "nothing but the binary is left");
    }

    #[test]
    fn a_copy_that_lost_its_content_is_asked_for_again() {
        let home = tempfile::tempdir().expect("a folder");
        play(home.path(), AGENT.len() as u64, AGENT);
        std::fs::write(home.path().join(".cache/seatrial/1.0+abc"), "").expect("emptied");
        let again = play(home.path(), AGENT.len() as u64, AGENT);
        assert_eq!(again, ["seatrial-boot send", "seatrial-boot got", "I am agent --node n1"]);
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
        // A file stands where the folders would be made, which not even root can change.
        std::fs::write(home.path().join(".cache"), "").expect("written");
        std::fs::write(home.path().join("tmp"), "").expect("written");
        let lines = play(home.path(), 10, b"");
        assert!(lines[0].starts_with("seatrial-boot fail no folder to put the binary in"), "{lines:?}");
    }

    #[test]
    fn chatter_is_read_over_and_what_follows_is_left_for_the_frames() {
        let mut from = &b"Welcome!\nseatrial-boot have\nFRAMES"[..];
        exchange(&mut from, &mut io::sink()).expect("begun");
        assert_eq!(from, b"FRAMES");
        let mut failing = &b"seatrial-boot fail the node is riscv64\n"[..];
        assert_eq!(exchange(&mut failing, &mut io::sink()), Err("the node is riscv64".to_owned()));
        let mut silent = &b"bash: no such file\n"[..];
        assert!(exchange(&mut silent, &mut io::sink()).unwrap_err().contains("ended before"));
        let endless = exchange(&mut io::repeat(b'x'), &mut io::sink()).unwrap_err();
        assert!(endless.contains("65536 bytes"), "{endless}");
    }

    #[test]
    fn the_line_holds_nothing_that_would_end_its_quotes() {
        let script = script("1.0+a'b\n", 5, "n1; rm $HOME", Some("/tree with'quote"));
        assert_eq!(script.matches('\'').count(), 2);
        assert!(!script.contains('\n') && script.contains("n1rmHOME"), "{script}");
    }
}
