//! Runs that leave checks or probes out say so, in the record and on the first screen.

use serde_json::json;

use crate::rig::{Home, Script, TIMES, profile, small};

#[test]
fn a_run_that_checks_nothing_and_reads_no_probe_says_so_in_the_record_and_first() {
    let home = Home::new();
    // On a busy machine the test may get no CPU during the shorter times.
    let measured = |options: &str| {
        let mut ended = TIMES
            .map(|time| format!("run mem.bandwidth -p kernel=copy {} {options} -o json", small(time)))
            .into_iter()
            .map(|line| home.seatrial(&line).run());
        ended.find(|ended| ended.code == Some(0)).expect("measured")
    };
    let document = measured("-p verify=none --no-probes").document();
    let case = &document.results[0];
    let unverified = json!({ "unverified": { "why": "contents were not checked (verify=none)" } });
    assert_eq!((case.params.text("verify"), &case.evidence["integrity"]), (Ok("none"), &unverified));
    assert!(!case.has_probes() && !case.evidence.contains_key("probes"), "{:?}", case.evidence);
    let told = |kind: &str| document.findings.iter().any(|finding| finding.kind == kind);
    assert!(told("not-verified") && told("probes-left-out"), "{:?}", document.findings);
    home.seatrial("report last")
        .run()
        .exits(0)
        .shows("contents were not checked (verify=none)")
        .shows("probes were left out (--no-probes)");
    let whole = measured("");
    let case = whole.case();
    assert!(case.evidence["integrity"]["verified"]["checked"].as_u64() > Some(0), "{:?}", case.evidence);
    assert!(case.has_probes() && case.evidence.contains_key("probes"), "{:?}", case.evidence);
    let kinds: Vec<String> = whole.document().findings.into_iter().map(|finding| finding.kind).collect();
    assert!(!kinds.iter().any(|kind| kind == "not-verified" || kind == "probes-left-out"), "{kinds:?}");
    // Neither stands in for the other.
    home.seatrial("compare last~1 last").run().shows("verify");
}

#[test]
fn a_verdict_on_numbers_without_verification_stays_and_says_so() {
    let home = Home::new();
    let bounds = profile(&[("copy", "at_least = \"50 GB/s\"")]);
    let text = bounds.replacen("kernel = ", "verify = \"none\", kernel = ", 1);
    assert_ne!(text, bounds);
    let file = home.file("p.toml", text);
    home.seatrial("check")
        .word(file)
        .script(&Script::measuring(60.0))
        .run()
        .exits(0)
        .shows("contents were not checked (verify=none)");
}
