//! Exit codes, as `--help` documents them.

use serde_json::json;

use crate::rig::{Ended, Home, Script, bound, profile, shares_of_the_limit};

fn check(text: &str, script: &Script) -> Ended {
    check_with("", text, script)
}

fn check_with(options: &str, text: &str, script: &Script) -> Ended {
    let home = Home::new();
    let file = home.file("profile.toml", text);
    home.seatrial(&format!("check {options}")).word(file).script(script).run()
}

#[test]
fn every_criterion_met_exits_0() {
    let text = profile(&[("copy", "at_least = \"50 GB/s\""), ("triad", "at_least = \"59 GB/s\"")]);
    check(&text, &Script::measuring(60.0)).exits(0).shows("all 2 criteria met");
}

#[test]
fn a_criterion_that_is_not_met_exits_1() {
    let text = profile(&[("copy", "at_least = \"50 GB/s\""), ("triad", "at_least = \"50 GB/s\"")]);
    let script = Script::measuring(60.0).case("*[kernel=copy]", 49.0);
    check(&text, &script).exits(1).shows("1 of 2 criteria not met: copy)");
}

#[test]
fn a_criterion_that_cannot_be_judged_exits_3() {
    let text = profile(&[
        ("copy", "at_least = \"50 GB/s\""),
        ("triad", "at_least = { percent_of = \"limit\", value = 50 }"),
    ]);
    let script = Script::measuring(60.0);
    check(&text, &script).exits(0);
    check(&text, &script.without_limit())
        .exits(3)
        .shows("memory could not be judged (1 of 2 criteria, 1 met)");
}

#[test]
fn a_criterion_not_met_outweighs_one_that_could_not_be_judged() {
    let text = profile(&[
        ("copy", "at_least = \"90 GB/s\""),
        ("triad", "at_least = { percent_of = \"limit\", value = 50 }"),
    ]);
    check(&text, &Script::measuring(60.0).without_limit())
        .exits(1)
        .shows("1 of 2 criteria not met: copy; 1 could not");
}

#[test]
fn a_warning_exits_0_and_with_strict_1() {
    let noisy = Script::measuring(60.0).spread("*", 60.0, &[1.0, 0.98, 1.02]);
    let text = bound("at_least = \"59.5 GB/s\"");
    check(&text, &noisy).exits(0).shows("! WARN").shows("too close to tell");
    check_with("--strict", &text, &noisy).exits(1).shows("! WARN");
    check_with("--strict", &text, &Script::measuring(60.0)).exits(0);
}

#[test]
fn a_check_in_which_nothing_could_be_judged_exits_3_and_says_how_to_supply_limits() {
    let home = Home::new();
    let shares = home.file("shares.toml", shares_of_the_limit());
    home.seatrial("check")
        .word(&shares)
        .script(&Script::measuring(60.0).without_limit())
        .run()
        .exits(3)
        .says("nothing could be judged")
        .says("no table of memory modules")
        .says(&format!("extends = [\"{}\"]", shares.display()))
        .says("[[limit]] test = \"memory\" metric = \"bandwidth\" value = \"... GB/s\"");
}

#[test]
fn following_the_advice_to_the_letter_makes_the_check_judge() {
    let script = Script::measuring(60.0).without_limit();
    let home = Home::new();
    let shares = home.file("shares.toml", shares_of_the_limit());
    let advice = home.seatrial("check").word(shares).script(&script).run().exits(3).err;
    let start = advice.find("  extends").expect("a profile to copy");
    let text = advice[start..]
        .replace("\"... GB/s\"", "\"80 GB/s\"")
        .replace("where it is known from", "data sheet");
    check_with("--details", &text, &script).exits(0).shows("criteria met").shows("data sheet");
    check(&text, &script.case("*kernel=read*", 40.0)).exits(1);
}

#[test]
fn the_advice_extends_the_profile_as_typed() {
    let home = Home::new();
    let file = home.file("mine.toml", bound("at_least = { percent_of = \"limit\", value = 50 }"));
    let ended = home.seatrial("check").word(&file).script(&Script::measuring(60.0).without_limit()).run();
    ended.exits(3).says(&format!("extends = [\"{}\"]", file.display()));
}

#[test]
fn the_system_failing_is_a_fail_and_our_failing_to_look_is_unknown() {
    let text = bound("at_least = \"50 GB/s\"");
    let crashes = json!({ "crashes": { "phase": "measure", "signal": 11 } });
    let denied =
        json!({ "fails": { "phase": "prepare", "reason": { "cause": "denied", "text": "no right to" } } });
    let script = Script::measuring(60.0);
    check(&text, &script.clone().fault("*", crashes)).exits(1).shows("✗ FAIL").shows("SIGSEGV");
    check(&text, &script.fault("*", denied)).exits(3).shows("? UNKNOWN").shows("no right to");
}

#[test]
fn a_run_exits_by_what_became_of_its_cases() {
    let good = Script::measuring(60.0);
    let crashes = json!({ "crashes": { "phase": "measure", "signal": 11 } });
    let not_started = json!({ "not_started": { "why": "fork: no more processes" } });
    let run = |params: &str, script: &Script| {
        Home::new().seatrial(&format!("run mem.bandwidth {params}")).script(script).run()
    };
    run("-p kernel=copy,triad", &good).exits(0).shows("2 cases measured");
    run("-p kernel=copy,triad", &good.clone().fault("*kernel=copy*", crashes.clone())).exits(1);
    run("-p kernel=copy,triad", &good.clone().fault("*kernel=copy*", not_started.clone())).exits(3);
    let both = good.clone().fault("*kernel=copy*", not_started).fault("*kernel=add*", crashes);
    run("-p kernel=copy,triad,add", &both)
        .exits(1)
        .shows("1 of 3 cases measured, 1 failed, 1 could not be measured");
    run("-p kernel=copy,read -p store=nt", &good).exits(0).shows("1 of 2 cases measured, 1 skipped");
    run("-p kernel=read -p store=nt", &good).exits(3).shows("1 of 1 case skipped");
}

#[test]
fn a_command_that_does_not_exist_exits_2_with_the_way_to_the_help() {
    for line in ["rnu", "run", "check --nonsense", "run mem.bandwidth -o yaml", "compare last"] {
        Home::new().seatrial(line).run().exits(2).says("try '--help'");
    }
}
