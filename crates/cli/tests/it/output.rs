//! One document on standard output, all else on standard error.

use std::process::{Command, Stdio};

use seatrial_model::record::{Document, schema};
use seatrial_model::{Cause, Outcome, Verdict};
use serde_json::Value;

use crate::rig::{Home, SMALL, Script, bound, is_installed, shares_of_the_limit};

#[track_caller]
fn assert_valid(document: &str) {
    let schema = serde_json::to_value(schema()).expect("a schema");
    let document = serde_json::from_str(document).expect("one document of JSON and nothing else");
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    let faults: Vec<_> = validator.iter_errors(&document).map(|fault| format!("{fault}")).collect();
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn the_published_form_is_what_a_run_of_this_machine_prints() {
    let home = Home::new();
    let line = format!("run mem.bandwidth -p kernel=copy,triad -p store=regular,nt -o json {SMALL}");
    let run = home.seatrial(&line).run().exits(0);
    assert_valid(&run.out);
    let document = run.document();
    assert_eq!(document.results.len(), 4);
    for record in &document.results {
        assert_eq!(record.outcome, Outcome::Measured, "{record:#?}");
        assert!(record.metrics["bandwidth"].median > 0.0);
    }
    for done in 1..=4 {
        assert!(
            run.err.contains(&format!("{done}/4 mem.bandwidth@")),
            "progress is on standard error: {}",
            run.err
        );
    }
}

#[test]
fn the_published_form_is_what_every_outcome_and_verdict_prints() {
    let crash = serde_json::json!({ "crashes": { "phase": "measure", "signal": 11 } });
    let script = Script::measuring(60.0).fault("*kernel=copy*", crash);
    let home = Home::new();
    let check = home.seatrial("check -o json").script(&script).run().exits(1);
    assert_valid(&check.out);
    assert_eq!(check.document().verdict, Some(Verdict::Fail));
    let run = home
        .seatrial("run mem.bandwidth -p kernel=copy,read,triad -p store=nt -o json")
        .script(&script)
        .run();
    assert_valid(&run.out);
    let check = home.seatrial("check -o json").script(&script.without_limit()).run();
    assert_valid(&check.out);
    home.seatrial("report -o json").run().exits(0);
}

#[test]
fn a_report_prints_the_document_that_the_run_printed() {
    let home = Home::new();
    let shares = home.file("shares.toml", shares_of_the_limit());
    let check = home.seatrial("check -o json").word(shares).script(&Script::measuring(60.0)).run().exits(0);
    let report = home.seatrial("report last -o json").run().exits(0);
    assert_eq!(report.document(), check.document());
}

#[test]
fn a_report_and_an_export_of_a_stored_run_have_the_limits_of_its_profile() {
    let home = Home::new();
    let stated = "\n[[limit]]\ntest = \"memory\"\nmetric = \"bandwidth\"\nvalue = \"80 GB/s\"\nsource = \"data sheet\"\n";
    let shares = home.file("shares.toml", shares_of_the_limit() + stated);
    let script = Script::measuring(60.0).without_limit();
    let check = home.seatrial("check -o json").word(shares).script(&script).run().exits(0).document();
    assert!(
        check.results.iter().any(|case| case.metrics["bandwidth"].limit.value == Some(80.0)),
        "{check:#?}"
    );
    assert_eq!(home.seatrial("report last -o json").run().exits(0).document(), check);
    home.seatrial("export last --csv -").run().exits(0).shows("data sheet");
}

#[test]
fn csv_has_the_same_number_of_columns_in_every_line() {
    let run = Home::new().seatrial("run mem.bandwidth -p kernel=copy,triad -o csv");
    let run = run.script(&Script::measuring(60.0)).run().exits(0);
    let mut reader = csv::Reader::from_reader(run.out.as_bytes());
    let column = |name: &str| {
        let mut reader = csv::Reader::from_reader(run.out.as_bytes());
        reader.headers().expect("a head").iter().position(|head| head == name).expect("such a column")
    };
    let (name, median, unit) = (column("name"), column("median"), column("unit"));
    let rows: Vec<csv::StringRecord> =
        reader.records().collect::<Result<_, _>>().expect("lines of equal length");
    let bandwidths: Vec<_> = rows.iter().filter(|row| &row[name] == "bandwidth").collect();
    assert_eq!(bandwidths.len(), 2);
    for row in bandwidths {
        assert_eq!((&row[median], &row[unit]), ("60", "GB/s"));
    }
}

#[test]
fn a_plan_is_printed_and_nothing_is_run() {
    let home = Home::new();
    home.seatrial("run mem.bandwidth -p kernel=copy,read -p store=nt --plan")
        .script(&Script::measuring(60.0))
        .run()
        .exits(0)
        .shows("nothing was run")
        .shows("1 case, about 2 s")
        .shows("store=nt")
        .shows("store= does not apply to kernel read");
    home.seatrial("check --plan").run().exits(0).shows("nothing was run").shows("kernel=");
    home.seatrial("run mem.bandwidth --plan").run().exits(0).shows("1 case,");
    assert!(!home.path().exists(), "a plan leaves no folder");
}

#[test]
fn a_reader_that_has_seen_enough_is_no_failure() {
    let home = Home::new();
    let shares = home.file("shares.toml", shares_of_the_limit());
    home.seatrial("check").word(shares).script(&Script::measuring(60.0)).run().exits(0);
    for line in
        ["report", "report -o json", "report -o csv", "list", "list mem.bandwidth", "history", "--help"]
    {
        assert_eq!(read_by_nobody(&home, line), (Some(0), String::new()), "{line}");
    }
}

/// Exit code and messages of a command whose output was closed before it started.
fn read_by_nobody(home: &Home, line: &str) -> (Option<i32>, String) {
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let mut command = Command::new(env!("CARGO_BIN_EXE_seatrial"));
    command.args(line.split(' ')).env("SEATRIAL_HOME", home.path()).stdin(Stdio::null());
    let output = command.current_dir(home.folder()).stdout(writer).output().expect("run");
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn a_reader_that_has_seen_enough_turns_no_finding_into_a_pass() {
    let home = Home::new();
    home.seatrial("run mem.bandwidth").script(&Script::measuring(60.0)).run().exits(0);
    let profile = home.file("p.toml", bound("at_least = \"90 GB/s\""));
    home.seatrial("check").word(profile).script(&Script::measuring(50.0)).run().exits(1);
    home.file("changed.tar.gz", "no evidence at all");
    for (line, code) in [
        ("verify changed.tar.gz", 1),
        ("verify changed.tar.gz -o json", 1),
        ("compare --fail-on-worse last~1 last", 1),
        ("export last --nagios", 2),
        ("export last --parquet -", 0),
    ] {
        assert_eq!(read_by_nobody(&home, line), (Some(code), String::new()), "{line}");
    }
}

#[test]
fn what_others_wrote_cannot_steer_the_terminal() {
    let home = Home::new();
    home.seatrial("run mem.bandwidth").script(&Script::measuring(60.0)).run().exits(0);
    let results = home.run().join("results.jsonl");
    let text = std::fs::read_to_string(&results).expect("read");
    assert!(text.contains("\"outcome\":\"measured\""), "{text}");
    let text = text.replace("\"outcome\":\"measured\"", "\"outcome\":\"\\u001b[2J\\u009b31m\"");
    std::fs::write(&results, text).expect("written");
    let report = home.seatrial("report").run().exits(0);
    home.seatrial("export last --evidence").word(home.folder().join("e.tar.gz")).run().exits(0);
    let verified = home.seatrial("verify").word(home.folder().join("e.tar.gz")).run().exits(3);
    let refused = home.seatrial("report .//\u{1b}[2J").run().exits(2);
    for text in [report.err, verified.out, refused.err] {
        assert!(text.contains("[2J") && !text.contains(['\u{1b}', '\u{9b}']), "{text:?}");
    }
}

#[test]
fn colour_comes_only_when_asked_for() {
    let home = Home::new();
    let script = Script::measuring(60.0);
    let colored = |line: &str, no_color: Option<&str>| {
        home.seatrial(line).script(&script).env("NO_COLOR", no_color).run().out.contains('\u{1b}')
    };
    assert!(!colored("check", None), "a file gets none");
    assert!(colored("check --color always", Some("1")));
    assert!(!colored("check --color never", None));
    let list = |when: &str| home.seatrial("list --color").word(when).run().exits(0).out.contains('\u{1b}');
    assert!(list("always") && !list("never"));
    let profile = home.file("p.toml", bound("at_least = nan"));
    let wrong = |when: &str| home.seatrial("check --color").word(when).word(&profile).run().exits(2).err;
    assert!(wrong("always").contains('\u{1b}') && !wrong("never").contains('\u{1b}'));
}

#[test]
fn a_reader_that_has_seen_enough_does_not_turn_a_fail_into_a_pass() {
    let home = Home::new();
    let profile = home.file("p.toml", bound("at_least = \"90 GB/s\""));
    // The shell exits as the last command, so the code of the check is printed.
    let line = "{ \"$@\"; echo $? >&2; } | head --lines 0";
    let ended = home.seatrial("check").word(profile).script(&Script::measuring(60.0));
    let ended = ended.under(&["sh", "-c", line, "sh"]).run().exits(0);
    assert!(ended.err.ends_with("left\n1\n"), "{}", ended.err);
}

#[test]
fn a_result_that_cannot_be_printed_is_told_and_kept() {
    let home = Home::new();
    let ended = home.seatrial("run mem.bandwidth -o json").script(&Script::measuring(60.0));
    let ended = ended.under(&["sh", "-c", "exec \"$@\" > /dev/full", "sh"]).run().exits(3);
    ended.says("cannot write the result: No space left on device (os error 28)");
    home.seatrial("report").run().exits(0).shows("1 case measured");
}

fn on_a_terminal(line: &str, no_color: Option<&str>) -> String {
    let words = ["sh", "-c", "exec script --quiet --return --command \"$*\" /dev/null", "sh"];
    let run = Home::new().seatrial(line).script(&Script::measuring(60.0)).env("NO_COLOR", no_color);
    run.under(&words).env("TERM", Some("xterm")).run().out
}

#[test]
fn a_terminal_gets_colour_unless_no_color_is_set() {
    if !is_installed("script") {
        return;
    }
    // Green for met criteria, cyan for the bar.
    let colored = |line: &str, no_color: Option<&str>| {
        let seen = on_a_terminal(line, no_color);
        ["\u{1b}[32m", "\u{1b}[36m"].map(|color| seen.contains(color))
    };
    assert_eq!(colored("check", None), [true, true]);
    assert!(colored("check", Some(""))[0], "an empty variable counts as not set");
    assert_eq!(colored("check", Some("1")), [false, false]);
    assert!(colored("check --color always", Some("1"))[0], "what is asked for outweighs the variable");
    assert_eq!(colored("check --color never", None), [false, false]);
}

#[test]
fn a_terminal_gets_a_bar_and_no_lines_of_progress() {
    if !is_installed("script") {
        return;
    }
    let seen = on_a_terminal("run mem.bandwidth -p kernel=copy,triad", None);
    assert!(seen.contains("── 0/2") || seen.contains("──\u{1b}[0m\u{1b}[0m 0/2"), "{seen:?}");
    assert!(seen.contains("2 cases measured") && !seen.contains("left\r\n"), "{seen:?}");
}

#[test]
fn the_list_names_benchmarks_and_profiles_and_explains_them() {
    let home = Home::new();
    let list = home.seatrial("list").run().exits(0).shows("mem.bandwidth").shows("host");
    list.shows("rdma.write_bw").shows("cpu.noise planned");
    let page = home.seatrial("list mem.bandwidth").run().exits(0);
    for spec in seatrial_registry::REGISTRY.find("mem.bandwidth").expect("shipped").about.params {
        assert!(page.out.contains(spec.name), "no '{}' in:\n{}", spec.name, page.out);
    }
    home.seatrial("list host").run().exits(0).shows("[[criterion]]");
    let listed = |name: &str| -> Value {
        let line = format!("list {name} -o json");
        serde_json::from_str(&home.seatrial(&line).run().exits(0).out).expect("JSON")
    };
    let all = listed("");
    for kind in ["benchmarks", "aliases", "patterns", "settings", "profiles"] {
        assert!(all[kind].as_array().is_some_and(|all| all.len() > 1), "{kind}: {}", all[kind]);
    }
    let one = listed("mem.bandwidth");
    assert_eq!(one["benchmarks"].as_array().map(Vec::len), Some(1));
    let kernel = &one["benchmarks"][0]["params"][0];
    assert_eq!((&kernel["name"], kernel["kind"]["choice"][0].is_string()), (&"kernel".into(), true));
    assert_eq!(one["settings"].as_array().map(Vec::len), Some(0));
    assert!(listed("host")["profiles"][0]["text"].to_string().contains("[[criterion]]"));
    assert!(!home.path().exists());
}

#[test]
fn help_shows_the_exit_codes_and_no_hidden_command() {
    let home = Home::new();
    for line in ["--help", "help"] {
        let help = home.seatrial(line).run().exits(0).shows("Exit codes:").shows("3 incomplete").shows("130");
        assert!(!help.out.contains("worker") && !help.out.contains("--script"), "{}", help.out);
    }
    home.seatrial("run --help").run().exits(0).shows("--resume").shows("NAME=V1,V2");
    home.seatrial("--version").run().exits(0).shows(env!("CARGO_PKG_VERSION"));
}

#[test]
fn the_hidden_commands_refuse_to_be_called_by_hand() {
    let home = Home::new();
    let agent = home.seatrial("agent").run();
    assert_eq!(agent.signal, None, "{}", agent.err);
    let worker = home.seatrial("worker --fd 77").run();
    assert!(worker.code.is_some_and(|code| code != 0), "{worker:?}");
}

#[test]
fn numbers_in_the_document_are_those_of_the_samples() {
    let run = Home::new().seatrial("run mem.bandwidth -p kernel=copy -p store=regular -o json");
    let Document { results, .. } = run.script(&Script::measuring(60.0)).run().exits(0).document();
    let bandwidth = &results[0].metrics["bandwidth"];
    assert_eq!((bandwidth.n, bandwidth.trials, bandwidth.median), (18, 3, 60.0));
    assert_eq!((bandwidth.ci95, bandwidth.limit.value), (Some((60.0, 60.0)), Some(80.0)));
    assert_eq!(bandwidth.limit.formula.as_deref(), Some("2 channels x 5000 MT/s x 8 B"));
    let traffic = &results[0].metrics["traffic"];
    assert_eq!(traffic.median, 90.0, "a regular store reads each line first: 3/2 of what the loop names");
}

/// The whole tender on this machine, with tests of a second instead of half a minute.
#[test]
fn the_tender_of_cobalt2_prints_one_document_by_the_schema() {
    let home = Home::new();
    let once = "trials = 1, max_trials = 1, time = \"200 ms\"";
    let disk = |id: &str, bench: &str, params: &str| {
        format!(
            "[[test]]\nid = \"{id}\"\nuse = \"{bench}\"\nroles = [\"production\"]\n\
             on = {{ kind = \"disk\", rotational = true }}\nexpect = {{ at_least = 1 }}\n\
             params = {{ {params}, {once} }}\n"
        )
    };
    let quick = [
        "extends = [\"cobalt2-2018\"]\n".to_owned(),
        format!(
            "[[test]]\nid = \"mem-test\"\nuse = \"mem.pipeline\"\nroles = [\"production\"]\n\
             params = {{ blocks = \"one\", {once} }}\n"
        ),
        disk("disk-write", "storage.file", "directory = \"disks\", size = \"8 MiB\", operation = \"write\""),
        disk("disk-read", "storage.file", "directory = \"disks\", size = \"8 MiB\", operation = \"read\""),
        disk("disk-raw-read", "storage.raw", "mode = \"buffered\""),
    ]
    .concat();
    let profile = home.file("quick.toml", &quick);
    let check = || {
        let check = home.seatrial("check -o json").word(&profile).run();
        assert_valid(&check.out);
        check.document()
    };
    let pace = |document: &Document| {
        let case = document.results.iter().find(|record| record.bench == "mem.pipeline").expect("a case");
        case.clone()
    };
    // It fills and checks hundreds of megabytes; a busy machine may need longer than the supervisor waits.
    let is_too_slow = |document: &Document| pace(document).cause == Some(Cause::Hang);
    let mut document = check();
    if is_too_slow(&document) {
        document = check();
    }
    let verdicts = |test: &str| -> Vec<Verdict> {
        let of_test = document.verdicts.iter().filter(|record| record.test == test);
        let found: Vec<Verdict> = of_test.map(|record| record.verdict).collect();
        assert!(!found.is_empty(), "no verdict on {test}: {:?}", document.verdicts);
        found
    };
    // A machine without GPUs or InfiniBand has fewer than the tender expects.
    for (test, bench) in [("gpu-copy", "gpu.host_copy_all"), ("ib-bw", "rdma.write_bw")] {
        let found = verdicts(test);
        if !document.results.iter().any(|record| record.bench == bench) {
            assert!(found.iter().all(|verdict| *verdict == Verdict::Unknown), "{test}: {found:?}");
        }
    }
    // The verdict depends on the machine, that there is one, on the measured pace.
    let case = pace(&document);
    assert!(case.outcome == Outcome::Measured || is_too_slow(&document), "{case:#?}");
    assert!(!verdicts("mem-test").contains(&Verdict::Skip));
}
