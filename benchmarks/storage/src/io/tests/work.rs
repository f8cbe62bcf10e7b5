//! Cases on real files: every engine reads back what it wrote.

use seatrial_model::{Cause, Integrity, Outcome};

use super::rig::{case, folder, played, reduced};
use crate::io::part::{IoWorker, integrity};
use crate::io::work::Checked;
use seatrial_bench::Running;
use seatrial_bench::payload::{Block, Payload};

#[test]
fn every_way_of_working_verifies_and_gives_numbers() {
    let folder = folder();
    for operation in ["read", "write", "mixed"] {
        for (pattern, engine, files) in
            [("seq", "sync", "own"), ("random", "auto", "shared"), ("seq", "auto", "interleaved")]
        {
            for access in ["direct", "buffered"] {
                let changed = [
                    ("operation", operation),
                    ("pattern", pattern),
                    ("engine", engine),
                    ("files", files),
                    ("access", access),
                    ("threads", "2"),
                ];
                let (record, measures) = match reduced(&case(folder.path(), &changed)) {
                    Ok(both) => both,
                    // The working tree may not support direct access.
                    Err(reason) if access == "direct" && reason.cause == Cause::Missing => continue,
                    Err(reason) => panic!("{changed:?}: {reason}"),
                };
                for name in ["throughput", "iops", "cpu_per_io", "fairness", "slowest"] {
                    let values = &measures.metrics[name].trials[0];
                    assert!(
                        !values.is_empty() && values.iter().all(|value| *value > 0.0),
                        "{changed:?}: {name}"
                    );
                }
                assert_eq!(measures.metrics.contains_key("durable"), operation != "read", "{changed:?}");
                assert_eq!(measures.metrics.contains_key("written"), operation == "mixed");
                assert_eq!(measures.series["by_thread"].len(), 2);
                let bytes = &record.evidence["bytes"];
                assert_eq!(bytes["read"] == 0, operation == "write");
                assert_eq!(bytes["written"] == 0, operation == "read");
                let extents = &record.evidence["files"]["extents"];
                assert!(extents["count"].is_u64() || extents["unknown"].is_string(), "{extents}");
                let word = record.evidence["engine"]["word"].as_str().expect("a word");
                assert!(engine == "auto" || word == engine, "{word}");
            }
        }
    }
    assert_eq!(std::fs::read_dir(folder.path()).expect("listed").count(), 0, "something was left behind");
}

#[test]
fn a_random_mix_of_many_passes_raises_no_false_alarm() {
    let folder = folder();
    let changed = [
        ("operation", "mixed"),
        ("reads", "50"),
        ("pattern", "random"),
        ("block", "512 B"),
        ("size", "32 KiB"),
        ("depth", "16"),
        ("access", "buffered"),
        ("engine", "io_uring"),
        ("time", "1 s"),
    ];
    // A busy machine may need several measuring times for a pass.
    for _ in 0..60 {
        match played(&case(folder.path(), &changed)) {
            Ok(record) => {
                assert!(matches!(record.integrity, Integrity::Verified { .. }), "{:?}", record.integrity);
                if record.evidence["threads"][0]["passes"].as_u64().expect("a count") > 2 {
                    return;
                }
            }
            Err(error) => return assert_eq!(error.cause.outcome(), Outcome::Unmeasured, "{error}"),
        }
    }
    panic!("no three passes in any of 60 trials");
}

#[test]
fn what_is_done_once_is_done_whole_and_tells_its_ends() {
    let folder = folder();
    let changed = [("work", "once"), ("operation", "write"), ("threads", "3"), ("access", "buffered")];
    let case = case(folder.path(), &changed);
    let (record, measures) = reduced(&case).expect("numbers");
    let written = case.planned.bytes("size").expect("a size").expect("not auto").get();
    assert_eq!(record.evidence["bytes"]["written"], written);
    let rate = |name: &str| measures.metrics[name].trials[0][0];
    assert!(rate("first_done") > 0.0 && rate("last_done") > 0.0);
    assert!(rate("durable") <= rate("last_done"), "a flush takes time");
}

/// A read before any write tells whether the file was filled: only a filled file has valid data then.
#[test]
fn a_file_that_is_overwritten_was_filled_before() {
    let folder = folder();
    for sync in ["end", "each"] {
        let all = [
            ("operation", "write"),
            ("access", "buffered"),
            ("engine", "sync"),
            ("size", "1 MiB"),
            ("block", "4 KiB"),
            ("sync", sync),
        ];
        let looked_at = |overwrite: &str| {
            let case = case(folder.path(), &[&all[..], &[("overwrite", overwrite)]].concat());
            let mut part = IoWorker::prepare(&case, &case.places[0]).expect("prepared");
            part.verify().expect("looked at")
        };
        assert!(matches!(looked_at("false"), Integrity::Unverified { .. }), "{sync}");
        let filled = looked_at("true");
        assert!(matches!(filled, Integrity::Verified { checked: 1.. }), "{sync}: {filled:?}");
    }
    let changed =
        [("operation", "write"), ("overwrite", "true"), ("pattern", "random"), ("access", "buffered")];
    let (record, measures) = reduced(&case(folder.path(), &changed)).expect("numbers");
    assert_eq!(record.evidence["bytes"]["read"], 0, "filling is none of it");
    assert!(!measures.metrics["throughput"].trials[0].is_empty());
}

#[test]
fn the_record_says_how_the_cache_was_kept_out() {
    let folder = folder();
    let (record, _) = reduced(&case(folder.path(), &[("access", "buffered")])).expect("numbers");
    let cache = &record.evidence["cache"];
    assert_eq!(cache["method"], "fadvise dontneed before each pass");
    // A file system in memory cannot drop its pages.
    let percent = cache["resident_before"]["percent"].as_f64().expect("known");
    assert!(percent < 1.0 || record.evidence["moved"]["source"] != "device", "{cache}");
    assert!(record.evidence["moved"]["source"].is_string(), "{}", record.evidence["moved"]);
}

#[test]
fn a_directory_that_takes_no_files_is_unmeasured_with_the_reason() {
    let folder = folder();
    let gone = folder.path().join("gone");
    let error = played(&case(&gone, &[])).expect_err("is not there");
    assert_eq!(
        (error.cause, error.text.contains("the directory does not exist")),
        (Cause::Missing, true),
        "{error}"
    );
    let error = played(&case(std::path::Path::new("/proc"), &[])).expect_err("takes no files");
    assert_eq!(error.cause.outcome(), Outcome::Unmeasured, "{error}");
    let error = played(&case(folder.path(), &[("size", "1000 TiB")])).expect_err("is not that large");
    assert_eq!(error.cause, Cause::NoSpace, "{error}");
}

#[test]
fn blocks_that_no_direct_request_can_have_are_refused() {
    let folder = folder();
    let error = played(&case(folder.path(), &[("block", "1000 B")])).expect_err("not aligned");
    assert_eq!(error.cause, Cause::Missing);
    assert!(error.text.contains("access=buffered"), "{error}");
    reduced(&case(folder.path(), &[("block", "1000 B"), ("access", "buffered")])).expect("numbers");
}

#[test]
fn a_planted_corruption_makes_the_trial_corrupt() {
    let payload = Payload::new(1, 0.0);
    let block = Block { file: 0, offset: 4096, generation: 0 };
    let mut bytes = vec![0; 4096];
    payload.fill(block, &mut bytes);
    bytes[100] ^= 1;
    let first = payload.check(block, &bytes).expect_err("found");
    let good = Checked { bytes: 8192, blocks: 2, ..Checked::default() };
    let bad = Checked { wrong: 1, first: Some(first), ..good.clone() };
    assert_eq!(integrity(&[good.clone(), good.clone()]), Integrity::Verified { checked: 16_384 });
    let Integrity::Corrupt { wrong, of, first } = integrity(&[good, bad]) else { panic!("not seen") };
    assert_eq!((wrong, of), (1, 4));
    assert_eq!(first, "the first wrong block: file 0, offset 4096: a flipped bit in byte 4196");
    assert!(matches!(integrity(&[Checked::default()]), Integrity::Unverified { .. }));
}

#[test]
fn rounds_go_on_until_they_are_steady_or_used_up() {
    let folder = folder();
    let changed =
        [("steady", "true"), ("rounds", "12"), ("time", "50 ms"), ("threads", "2"), ("operation", "write")];
    let case = case(folder.path(), &changed);
    let (record, measures) = match reduced(&case) {
        Ok(both) => both,
        Err(reason) => return assert_eq!(reason.cause, Cause::Missing, "{reason}"),
    };
    let rounds = record.evidence["rounds"].as_array().expect("rounds").len();
    assert!((5..=12).contains(&rounds), "{rounds}");
    assert_eq!(measures.series["by_round"].len(), rounds);
    let steady = &measures.evidence["steady"][0];
    let kinds: Vec<_> = measures.findings.iter().map(|finding| finding.kind.to_string()).collect();
    match steady["reached_after_rounds"].as_u64() {
        Some(reached) => {
            assert!(reached <= rounds as u64 && steady["range_percent"].as_f64() <= Some(20.0));
            // A round is shorter than an interval of 100 ms, unless a busy machine lengthened it.
            assert!(measures.metrics["throughput"].trials[0].len() >= 5);
        }
        None => assert!(kinds.contains(&"steady-state-not-reached".to_owned()), "{kinds:?}"),
    }
    assert!(!measures.metrics.contains_key("durable"), "nothing is flushed");
}
