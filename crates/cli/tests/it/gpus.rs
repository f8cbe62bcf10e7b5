//! Nodes with GPUs, with the real binary on imitated driver libraries.

use seatrial_model::Outcome;

use crate::rig::Home;

#[path = "../../../sys/tests/fake_gpu/compile.rs"]
mod fake;

use fake::Fake;

fn folder(fake: &Fake) -> String {
    fake.library().parent().expect("a folder").display().to_string()
}

fn seconds(plan: &str) -> f64 {
    let line = plan.lines().next().expect("a line");
    let told = line.split_once("about ").and_then(|(_, rest)| rest.split_once(';')).expect("a time").0;
    let told = told.split(" to ").next().expect("the least");
    let words: Vec<&str> = told.split_whitespace().collect();
    let of = |pair: &[&str]| {
        let unit = match pair[1] {
            "ms" => 0.001,
            "s" => 1.0,
            "min" => 60.0,
            other => panic!("{other}: {line}"),
        };
        pair[0].parse::<f64>().expect("a number") * unit
    };
    words.chunks(2).map(of).sum()
}

#[test]
fn the_profile_of_this_machine_takes_as_much_longer_for_each_gpu_as_it_says() {
    let plan = |gpus: u32| {
        let fake = Fake::new(&format!("devices={gpus} memory=150754820096"));
        let folder = folder(&fake);
        let home = Home::new();
        seconds(&home.seatrial("check host --plan").env("LD_LIBRARY_PATH", Some(&folder)).run().exits(0).out)
    };
    let (without, eight) = (plan(0), plan(8));
    // See the comment on GPUs in profiles/host.toml.
    let each = (eight - without) / 8.0;
    assert!(each > 1.0 && each <= 12.0, "{each} s for each GPU");
}

#[test]
fn a_gpu_that_somebody_has_to_himself_is_not_measured_and_the_other_is() {
    let fake = Fake::new("devices=2 fail=cuDevicePrimaryCtxRetain@0:46");
    let folder = folder(&fake);
    let home = Home::new();
    let brief = "-p size=1MiB -p direction=h2d -p time=50ms -p trials=1 -p max_trials=1 -o json";
    let call = home.seatrial(&format!("run gpu.host_copy {brief}"));
    let document = call.env("LD_LIBRARY_PATH", Some(&folder)).run().document();
    let found: Vec<_> = document.results.iter().map(|case| (case.subject.as_str(), case.outcome)).collect();
    assert_eq!(found, [("gpu:0", Outcome::Unmeasured), ("gpu:1", Outcome::Measured)]);
    let why = document.results[0].reason.as_deref().expect("a reason");
    assert!(why.contains("another process uses the GPU in exclusive mode"), "{why}");
}
