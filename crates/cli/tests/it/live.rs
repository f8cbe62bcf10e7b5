//! The live view on a terminal of 80 columns: the real binary under script(1), with its output on a virtual screen.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::json;

use crate::rig::{ENDLESS, Home, SMALL, Script, assert_nothing_runs, is_installed, wait_until};

const ROWS: u16 = 24;
const COLUMNS: u16 = 80;

/// A command on a terminal, ended on drop.
struct Terminal {
    child: Child,
    keys: Option<std::process::ChildStdin>,
    out: PathBuf,
}

impl Terminal {
    /// Starts a command line of Seatrial on a terminal that shows a shell prompt.
    fn start(home: &Home, line: &str, kind: &str) -> Self {
        let out = home.folder().join("screen");
        let command = format!(
            "stty cols {COLUMNS} rows {ROWS}; echo prompt; exec {} {line}",
            env!("CARGO_BIN_EXE_seatrial")
        );
        let mut script = Command::new("script");
        script.args(["--quiet", "--flush", "--return", "--command", &command, "/dev/null"]);
        script.env("SEATRIAL_HOME", home.path()).env("TERM", kind).env("SHELL", "/bin/sh");
        script.env_remove("NO_COLOR").env_remove("SEATRIAL_LOG");
        script.stdin(Stdio::piped()).stdout(File::create(&out).expect("a file")).stderr(Stdio::null());
        let mut child = script.spawn().expect("started");
        let keys = child.stdin.take();
        Self { child, keys, out }
    }

    fn bytes(&self) -> Vec<u8> {
        fs::read(&self.out).expect("read")
    }

    fn screen(&self) -> vt100::Parser {
        let mut screen = vt100::Parser::new(ROWS, COLUMNS, 0);
        screen.process(&self.bytes());
        screen
    }

    fn rows(&self) -> Vec<String> {
        self.screen().screen().rows(0, COLUMNS).map(|row| row.trim_end().to_owned()).collect()
    }

    /// Waits until a row of the screen holds `text`; returns all rows.
    #[track_caller]
    fn wait_for(&mut self, text: &str) -> Vec<String> {
        let mut rows = Vec::new();
        wait_until(text, || {
            rows = self.rows();
            let is_there = rows.iter().any(|row| row.contains(text));
            let is_over = self.child.try_wait().expect("looked").is_some();
            if is_there || !is_over {
                return is_there;
            }
            // It ended in between: the recorded output has what the screen showed.
            rows = self.ever(text).unwrap_or_else(|| panic!("{text} was never there: {:#?}", self.rows()));
            true
        });
        rows
    }

    /// Rows of the screen when one first held `text`.
    fn ever(&self, text: &str) -> Option<Vec<String>> {
        let mut screen = vt100::Parser::new(ROWS, COLUMNS, 0);
        let rows = |screen: &vt100::Parser| -> Vec<String> {
            screen.screen().rows(0, COLUMNS).map(|row| row.trim_end().to_owned()).collect()
        };
        self.bytes().split_inclusive(|byte| *byte == b'\n').find_map(|line| {
            screen.process(line);
            Some(rows(&screen)).filter(|rows| rows.iter().any(|row| row.contains(text)))
        })
    }

    fn press(&mut self, key: u8) {
        self.keys.as_mut().expect("a keyboard").write_all(&[key]).expect("pressed");
    }

    fn ended(&mut self) -> (Option<i32>, Vec<String>) {
        let mut status = None;
        wait_until("the command to end", || {
            status = self.child.try_wait().expect("looked");
            status.is_some()
        });
        let screen = self.screen();
        assert!(!screen.screen().hide_cursor(), "the cursor can be seen");
        assert_eq!(
            screen.screen().cursor_position().1,
            0,
            "the next prompt begins a line: {:#?}",
            self.rows()
        );
        (status.and_then(|status| status.code()), self.rows())
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // Closing the keyboard hangs up the terminal, which ends its processes.
        drop(self.keys.take());
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[track_caller]
fn assert_clean(rows: &[String]) {
    let left: Vec<_> = rows.iter().filter(|row| row.contains('━') || row.contains("  trial ")).collect();
    assert!(left.is_empty(), "{left:#?} in {rows:#?}");
}

#[test]
fn what_runs_stands_on_whole_lines_with_bars_and_is_gone_at_the_end() {
    if !is_installed("script") {
        return;
    }
    let home = Home::new();
    let line = format!("run mem.bandwidth -p kernel=read,copy,triad {SMALL}").replace("300ms", "2s");
    let mut terminal = Terminal::start(&home, &line, "xterm");
    let rows = terminal.wait_for("measuring");
    let head =
        rows.iter().position(|row| row.contains("/3 · ") || row.contains("/3 ·")).expect("the bar over all");
    assert!(rows[head].starts_with(['━', '─']) && rows[head].contains(" left"), "{rows:#?}");
    assert!(
        rows[head + 1].starts_with("mem.bandwidth@") && rows[head + 1].contains("  trial 1/1 "),
        "{rows:#?}"
    );
    assert_eq!(rows[head - 1], "prompt", "nothing scrolled and nothing is left behind: {rows:#?}");
    let rows = terminal.wait_for("done  mem.bandwidth@");
    assert!(rows.iter().any(|row| row.contains("GB/s")), "the last result: {rows:#?}");
    let (code, rows) = terminal.ended();
    assert_eq!(code, Some(0), "{rows:#?}");
    assert_clean(&rows);
    assert!(rows.iter().any(|row| row.contains("page: ")), "the last line of the report: {rows:#?}");
    assert_nothing_runs(home.path());
}

#[test]
fn ctrl_c_leaves_a_clean_screen_and_the_way_to_go_on() {
    if !is_installed("script") {
        return;
    }
    let home = Home::new();
    let mut terminal = Terminal::start(&home, ENDLESS, "xterm");
    terminal.wait_for("measuring");
    terminal.press(3);
    let (code, rows) = terminal.ended();
    assert_eq!(code, Some(130), "{rows:#?}");
    assert_clean(&rows);
    assert_eq!(rows[0], "prompt", "{rows:#?}");
    assert!(rows[1].starts_with("stopped by SIGINT"), "{rows:#?}");
    assert!(rows.iter().any(|row| row.contains("seatrial run --resume")), "{rows:#?}");
    assert!(!rows.iter().any(|row| row.contains("^C")), "what the terminal echoed is drawn over: {rows:#?}");
    assert_nothing_runs(home.path());
}

fn written(home: &Home, script: &Script) -> PathBuf {
    home.file("script.json", serde_json::to_vec(&script.to_json()).expect("JSON"))
}

fn scripted(home: &Home, kind: &str) -> (Option<i32>, Vec<String>) {
    let fault = json!({ "crashes": { "phase": "measure", "signal": 11 } });
    let script = written(home, &Script::measuring(60.0).fault("*kernel=copy*", fault));
    let line = format!(
        "run mem.bandwidth -p kernel=read,copy -o csv --script {} > /dev/null",
        Path::display(&script)
    );
    Terminal::start(home, &line, kind).ended()
}

#[test]
fn a_failure_is_said_at_once_and_stays() {
    if !is_installed("script") {
        return;
    }
    let (code, rows) = scripted(&Home::new(), "xterm");
    assert_eq!(code, Some(1), "{rows:#?}");
    assert_clean(&rows);
    let told =
        rows.iter().find(|row| row.starts_with("FAIL mem.bandwidth@n1/node[kernel=copy")).expect("told");
    assert!(!told.contains("in 0."), "{told}");
}

#[test]
fn a_terminal_that_cannot_move_its_cursor_gets_plain_lines() {
    if !is_installed("script") {
        return;
    }
    let home = Home::new();
    let (_, rows) = scripted(&home, "dumb");
    assert!(rows.iter().any(|row| row.starts_with("2 cases, about ")), "{rows:#?}");
    assert!(rows.iter().any(|row| row.starts_with("1/2 mem.bandwidth@n1")), "{rows:#?}");
    assert!(!fs::read(home.folder().join("screen")).expect("read").contains(&0x1b), "no control sequence");
}
