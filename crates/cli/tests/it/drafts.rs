//! Profiles made from runs, and runs judged against others.

use seatrial_model::Verdict;

use crate::rig::{Home, Script, bound, shares_of_the_limit};

#[test]
fn a_criterion_on_a_reference_is_held_against_the_run_that_is_named() {
    let home = Home::new();
    let profile = home.file("p.toml", bound("at_least = { percent_of = \"reference\", value = 95 }"));
    home.seatrial("check")
        .word(&profile)
        .script(&Script::measuring(60.0))
        .run()
        .exits(3)
        .shows("--reference RUN");
    let against = |rate: f64, code: i32| {
        let check = home.seatrial("check --reference").word(&home.runs()[0]).word("-o").word("json");
        check.word(&profile).script(&Script::measuring(rate)).run().exits(code).document()
    };
    let good = against(59.0, 0);
    assert_eq!(good.verdict, Some(Verdict::Pass));
    assert_eq!(good.verdicts[0].bound, "at least 95 % of the reference (57 GB/s)");
    assert_eq!(against(50.0, 1).verdict, Some(Verdict::Fail));
    let kept = home.runs().last().expect("a run").join("reference.json");
    let kept: serde_json::Value = serde_json::from_slice(&std::fs::read(kept).expect("kept")).expect("JSON");
    assert_eq!(kept["run"], home.runs()[0].file_name().and_then(|name| name.to_str()).expect("an id"));
}

#[test]
fn a_reference_that_nothing_asks_for_is_refused() {
    let home = Home::new();
    let shares = home.file("shares.toml", shares_of_the_limit());
    home.seatrial("check").word(&shares).script(&Script::measuring(60.0)).run().exits(0);
    let refused =
        home.seatrial("check host --reference last").script(&Script::measuring(60.0)).run().exits(2);
    refused.says("no criterion of profile host is a percentage of a reference");
    let profile = home.file("p.toml", bound("at_least = { percent_of = \"reference\", value = 95 }"));
    let missing =
        home.seatrial("check --reference nosuch").word(profile).script(&Script::measuring(60.0)).run();
    missing.exits(2).says("no run 'nosuch'");
}

#[test]
fn a_draft_is_a_profile_that_its_own_run_passes() {
    let home = Home::new();
    let script = Script::measuring(60.0).nodes(3).spread("*@n2/*", 58.0, &[1.0, 1.01, 0.99]);
    home.seatrial("run mem.bandwidth -p kernel=copy,triad -p store=nt").script(&script).run().exits(0);
    let draft = home.seatrial("profile draft").run().exits(0);
    let text =
        draft.shows("[[criterion]]").shows("median absolute deviations").shows("# - mem.bandwidth:").out;
    let profile = home.file("site.toml", &text);
    let check = home.seatrial("check -o json").word(&profile).script(&script).run().exits(0).document();
    assert_eq!(check.verdict, Some(Verdict::Pass));
    assert_eq!(check.verdicts.len(), 6, "two kernels on three nodes: {text}");
    // A node that lost a tenth of its bandwidth fails.
    let slow = script.case("*@n3/*", 50.0);
    home.seatrial("check").word(&profile).script(&slow).run().exits(1).shows("n3");
}

#[test]
fn a_draft_keeps_the_tests_of_the_profile_that_its_runs_were_judged_by() {
    let home = Home::new();
    let profile = home.file("p.toml", bound("at_least = \"10 GB/s\""));
    for rate in [60.0, 61.0] {
        home.seatrial("check").word(&profile).script(&Script::measuring(rate)).run().exits(0);
    }
    let draft = home.seatrial("profile draft last~1 last --all-metrics").run().exits(0);
    let text = draft.shows("id = \"memory\"").shows("metric = \"traffic\"").shows("2 values").out;
    let site = home.file("site.toml", &text);
    home.seatrial("check").word(&site).script(&Script::measuring(60.0)).run().exits(0);
}

#[test]
fn what_is_no_ground_for_a_profile_says_why() {
    let home = Home::new();
    let crash = serde_json::json!({ "crashes": { "phase": "measure", "signal": 11 } });
    let script = Script::measuring(60.0).fault("*", crash);
    home.seatrial("run mem.bandwidth").script(&script).run().exits(1);
    home.seatrial("profile draft").run().exits(2).says("no bound can be derived from").says("SIGSEGV");
    home.seatrial("profile draft nosuch").run().exits(2).says("no run 'nosuch'");
}
