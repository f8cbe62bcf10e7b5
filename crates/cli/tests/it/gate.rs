//! `seatrial gate`: one line and an exit code, in time.

use std::process::Command;
use std::time::{Duration, Instant};

use crate::rig::{Ended, Home, Script, profile};

const COPY_AND_TRIAD: [(&str, &str); 2] =
    [("copy", "at_least = \"50 GB/s\""), ("triad", "at_least = \"50 GB/s\"")];

fn gate(home: &Home, options: &str, script: &Script) -> Ended {
    let file = home.file("profile.toml", profile(&COPY_AND_TRIAD));
    home.seatrial(&format!("gate {options}")).word(file).script(script).run()
}

fn line(ended: &Ended) -> &str {
    let line = ended.out.trim_end();
    assert!(line.lines().count() == 1 && line.chars().count() <= 200, "{line}");
    line
}

#[test]
fn a_sound_node_passes_and_nothing_is_kept_unless_asked_for() {
    let home = Home::new();
    let ended = gate(&home, "--within 60s", &Script::measuring(60.0)).exits(0);
    assert_eq!(line(&ended), "pass: all 2 criteria met");
    assert!(home.runs().is_empty(), "{:?}", home.runs());
    gate(&home, "--within 60s --keep", &Script::measuring(60.0)).exits(0);
    home.seatrial("report last").run().exits(0).shows("all 2 criteria met");
}

#[test]
fn a_node_that_falls_short_fails_with_the_reason() {
    let script = Script::measuring(60.0).case("*[kernel=copy]", 40.0);
    let ended = gate(&Home::new(), "--within 60s", &script).exits(1);
    let line = line(&ended);
    assert!(line.starts_with("fail: copy ") && line.contains("40"), "{line}");
}

#[test]
fn what_hangs_is_ended_in_time_and_the_result_is_unknown_or_what_the_site_wants() {
    for (option, code) in [("", 3), ("--unknown pass", 0), ("--unknown fail", 1)] {
        let home = Home::new();
        // A profile that nobody writes: reading it never ends, as on a server that does not answer.
        let file = home.folder().join("profile.toml");
        let made = Command::new("mkfifo").arg(&file).status().expect("mkfifo is started");
        assert!(made.success(), "{made}");
        let began = Instant::now();
        let ended = home.seatrial(&format!("gate --within 2s {option}")).word(file).run().exits(code);
        assert_eq!(line(&ended), "unknown: no result within 2 s");
        assert!(began.elapsed() >= Duration::from_secs(2), "{:?}", began.elapsed());
    }
}

#[test]
fn a_real_node_has_a_line_whatever_it_is() {
    let ended = Home::new().seatrial("gate --within 6s").run();
    let text = line(&ended);
    assert!(["pass", "fail", "unknown"].iter().any(|word| text.starts_with(word)), "{text}");
}

#[test]
fn cases_without_time_are_left_out() {
    let ended = gate(&Home::new(), "--within 2s", &Script::measuring(60.0));
    assert!(line(&ended).starts_with("unknown: "), "{}", ended.out);
}
