//! Time budget of a run, on a simulated machine that others use all the time.

use crate::rig::{Ended, Home, Script, profile};

/// Checks a profile with the time budget `top` and criteria that are missed, unknown (other processes), and met.
fn check(top: &str, options: &str) -> Ended {
    let home = Home::new();
    let criteria = [("copy", "at_least = \"70 GB/s\""), ("triad", "at_least = \"50 GB/s\"")];
    let file = home.file("profile.toml", format!("{top}\n{}", profile(&criteria)));
    home.seatrial(&format!("check {options}"))
        .word(file)
        .script(&Script::measuring(60.0).disturbed(60.0))
        .run()
}

fn flat(ended: &Ended) -> String {
    ended.out.split_whitespace().collect::<Vec<_>>().join(" ")
}

const NOT_REPEATED: &str = "disturbed trials were not repeated: the time for the run";

#[test]
fn where_the_time_is_spent_one_line_says_what_was_not_repeated_and_what_gives_more() {
    let text = flat(&check("", "--time-budget 1s").exits(3));
    let line = format!(
        "4 {NOT_REPEATED} (1 s a node) was used up do (user): give the run more time with --time-budget"
    );
    assert_eq!(text.matches(&line).count(), 1, "{text}");
}

#[test]
fn with_time_enough_everything_that_was_disturbed_is_repeated() {
    let ended = check("time_budget = \"1 s\"", "--time-budget 3600s").exits(3);
    assert!(!flat(&ended).contains(NOT_REPEATED), "{}", ended.out);
    for top in ["", "time_budget = \"3600 s\""] {
        let ended = check(top, "").exits(3);
        assert!(!flat(&ended).contains(NOT_REPEATED), "{}", ended.out);
    }
}

#[test]
fn a_time_that_cannot_be_read_is_refused_with_its_place() {
    check("time_budget = \"soon\"", "").exits(2);
    check("", "--time-budget 90").exits(2);
}
