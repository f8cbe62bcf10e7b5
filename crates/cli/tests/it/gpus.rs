//! Nodes with GPUs, with the real binary on imitated driver libraries.

use seatrial_model::{Cause, Outcome};

use rustix::process::Pid;

use crate::rig::{Home, Started, assert_nothing_runs, kill, wait_until};

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

#[test]
fn a_load_of_the_run_on_the_same_gpu_is_no_other_process_and_a_stranger_is() {
    let fake = Fake::new("devices=1 memory=8000000 tflops=0.00001 others=1");
    let folder = folder(&fake);
    let home = Home::new();
    let text = r#"
title = "copies beside products"

[[test]]
id = "burn"
use = "gpu.burn"
params = { shape = 128, memory = 20, time = "200 ms" }

[[test]]
id = "copy"
use = "gpu.host_copy"
params = { size = "64 KiB", direction = "h2d", time = "200 ms", trials = 1, max_trials = 1 }
beside = "burn"
"#;
    let profile = home.file("beside.toml", text);
    let call = home.seatrial("check -o json").word(profile).env("LD_LIBRARY_PATH", Some(&folder));
    let results = call.run().document().results;
    let found = results.into_iter().filter(|case| case.group == "copy").map(|case| {
        assert_eq!(case.outcome, Outcome::Measured, "{:?}", case.reason);
        let others = case.evidence["watch"]["0000:10:00.0"]["others"].clone();
        let shared = case.findings.iter().find(|one| one.kind == "gpu-shared").map(|one| one.text.clone());
        assert!(shared.expect("the stranger is told").starts_with("1 other processes compute"));
        (case.origin.beside.expect("a load").percent, others)
    });
    let stranger = serde_json::json!([4_000_001]);
    assert_eq!(found.collect::<Vec<_>>(), [(0, stranger.clone()), (100, stranger)]);
}

#[test]
fn an_operation_of_nccl_is_run_by_its_own_name() {
    let fake = Fake::new("devices=2");
    let folder = folder(&fake);
    let home = Home::new();
    let call = |line: &str| home.seatrial(line).env("LD_LIBRARY_PATH", Some(&folder)).run();
    let plan = call("run nccl.all_gather nccl.broadcast --plan").exits(0);
    plan.shows("nccl.all_gather").shows("operation=all_gather").shows("operation=broadcast");
    let said = "nccl.all_gather is nccl.collective with operation=all_gather: leave out -p operation=";
    call("run nccl.all_gather -p operation=reduce --plan").exits(2).says(said);
    call("run nccl.all_gahter --plan").exits(2).says("did you mean 'nccl.all_gather'?");
    call("list nccl.send_receive").exits(0).shows("operation=send_receive");
    call("list nccl.send_recieve").exits(2).says("nccl.send_receive");
    call("history nccl.reduce").exits(2).says("`seatrial history nccl.collective` shows its runs");
    let text = "title = \"t\"\n[[test]]\nid = \"sums\"\nuse = \"nccl.reduce_scatter\"\n";
    let profile = home.file("sums.toml", text);
    let planned = home.seatrial("check --plan").word(profile).env("LD_LIBRARY_PATH", Some(&folder)).run();
    planned.exits(0).shows("operation=reduce_scatter");
}

/// A run of two ranks on an imitated NCCL, each a process.
struct Ranks {
    fake: Fake,
    home: Home,
    run: Started,
}

impl Ranks {
    fn start(words: &str) -> Self {
        let fake = Fake::new(&format!("devices=2 processes=1 busbw=0.1 {words}"));
        for end in ["", ".conf"] {
            let name = |name: &str| fake.library().with_file_name(name.to_owned() + end);
            std::fs::hard_link(name("libcuda.so.1"), name("libnccl.so.2")).expect("linked");
        }
        let home = Home::new();
        let call = home.seatrial("run nccl.all_reduce -p size=64KiB -p trials=1 -p max_trials=1 -o json");
        let run = call.env("LD_LIBRARY_PATH", Some(&folder(&fake))).start();
        Self { fake, home, run }
    }

    /// The ranks that have left their mark in the folder `at`.
    fn pids(&self, at: &str) -> Vec<i32> {
        let entries =
            std::fs::read_dir(self.fake.library().with_file_name(at)).into_iter().flatten().flatten();
        entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
    }

    /// Kills a rank once every rank has left its mark.
    fn kill_at(&self, at: &str) {
        wait_until("both ranks to get there", || self.pids(at).len() == 2);
        kill(Pid::from_raw(self.pids(at)[1]).expect("a process"));
    }

    /// How the case ended; nothing of it runs then.
    fn ended(self) -> (Outcome, Option<Cause>, String) {
        let case = self.run.ended().case();
        assert_nothing_runs(self.home.path());
        (case.outcome, case.cause, case.reason.unwrap_or_default())
    }
}

#[test]
fn ranks_that_are_processes_measure_and_their_log_is_read() {
    let ranks = Ranks::start("");
    let case = ranks.run.ended().exits(0).case();
    assert_eq!(case.outcome, Outcome::Measured, "{:?}", case.reason);
    assert_eq!(case.evidence["nccl_log"]["network"], "Socket", "{}", case.evidence["nccl_log"]);
    assert_nothing_runs(ranks.home.path());
}

#[test]
fn a_rank_that_is_killed_ends_the_case_with_its_name_in_each_phase() {
    for at in ["contexts", "joining", "operating"] {
        // The others wait for it.
        let mut ranks = Ranks::start("patience=600");
        if at == "operating" {
            ranks.run.wait_for_event("measuring", |event| event["phase"] == "measure");
        }
        ranks.kill_at(at);
        let (outcome, cause, reason) = ranks.ended();
        assert_eq!((outcome, cause), (Outcome::Failed, Some(Cause::Crash)), "{at}: {reason}");
        let is_named = reason.starts_with("rank 0 on ") || reason.starts_with("rank 1 on ");
        assert!(is_named && reason.contains("SIGKILL (signal 9)"), "{at}: {reason}");
        let phase = if at == "operating" { "during measure" } else { "during " };
        assert!(reason.contains(phase), "{at}: {reason}");
    }
}

#[test]
fn ranks_that_hang_end_the_case_in_bounded_time_with_their_names() {
    let ended = |words: &str| Ranks::start(&format!("patience=600 {words}")).ended();
    std::thread::scope(|scope| {
        let joining = scope.spawn(|| ended("fail=ncclCommInitRank@1:hang"));
        // The first operations are those of the warm-up.
        let operating = scope.spawn(|| ended("fail=ncclOperation@1:hang:5"));
        for (found, within) in [(joining, "connect within 75 s"), (operating, "warm-up within 11 s")] {
            let (outcome, cause, reason) = found.join().expect("it ended");
            assert_eq!((outcome, cause), (Outcome::Failed, Some(Cause::Hang)), "{reason}");
            let words = format!(" did not finish to {within}; they may wait for one of them");
            assert!(reason.starts_with("rank 0 on ") && reason.contains(", rank 1 on "), "{reason}");
            assert!(reason.ends_with(&words), "{reason}");
        }
    });
}
