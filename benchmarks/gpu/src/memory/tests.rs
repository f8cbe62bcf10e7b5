//! The kernels on the imitated driver, and the limits of its results.

use std::path::Path;

use seatrial_model::{Case, Cause, Integrity, PartPlacement, Row};

use super::{BENCHMARK, part};
use crate::rig::{Fake, close, machine, measured, median, plan};
use seatrial_bench::Part;

fn make(case: &Case, place: &PartPlacement, library: &Path) -> Part {
    crate::part(case, place, Some(library.to_owned()), part::ready)
}

#[test]
fn every_kernel_has_the_rate_that_the_device_was_given() {
    let fake = Fake::new("local=1000");
    let (record, measures) =
        measured(&BENCHMARK, make, &[("array", "1 MiB")], 1, &fake.library()).expect("measured");
    // The device moves 1000 GB/s of each array, whatever it does with it; the driver's copy of one array takes the time
    // of one, and its bytes count twice.
    for kernel in ["read", "write", "copy", "triad"] {
        close(median(&measures, kernel), 1000.0);
    }
    close(median(&measures, "memcpy"), 2000.0);
    assert!(
        matches!(record.integrity, Integrity::Verified { checked } if checked > 0),
        "{:?}",
        record.integrity
    );
    assert_eq!(measures.series["by_variant"].len(), 17);
    assert_eq!(measures.evidence["gpu"].get("left_out"), None);
    assert_eq!(measures.evidence["held_by"], "stream wait value");
}

#[test]
fn a_device_or_a_driver_that_cannot_keep_lines_in_its_cache_is_measured_without() {
    for (words, why) in [
        ("capability=7", "compute capability 7.0 is too low"),
        // The third module: those of every benchmark and of every device are translated first.
        ("fail=cuModuleLoadDataEx:222:2", "ptxas fatal: as planned by the test"),
    ] {
        let (_, measures) = measured(&BENCHMARK, make, &[("array", "1 MiB")], 1, &Fake::new(words).library())
            .expect("measured");
        let names = |row: &Row| row.at.text("variant").expect("a name").to_owned();
        let names: Vec<String> = measures.series["by_variant"].iter().map(names).collect();
        assert_eq!(names.len(), 14, "{names:?}");
        assert!(!names.iter().any(|name| name.contains("keep")), "{names:?}");
        let told = measures.evidence["gpu"]["left_out"].as_str().expect("a reason");
        assert!(told.starts_with("kernels with an L2 evict-last policy") && told.contains(why), "{told}");
    }
}

#[test]
fn a_driver_without_waits_for_memory_is_held_by_a_kernel() {
    let fake = Fake::lacking("cuStreamWaitValue32", "");
    let (_, measures) =
        measured(&BENCHMARK, make, &[("array", "1 MiB"), ("kernel", "copy")], 1, &fake.library())
            .expect("measured");
    assert_eq!(measures.evidence["held_by"], "kernel");
    close(median(&measures, "copy"), 1000.0);
}

#[test]
fn a_copy_with_one_wrong_word_is_corrupt_and_tells_the_place() {
    let fake = Fake::new("corrupt=0:4104");
    let (record, _) =
        measured(&BENCHMARK, make, &[("array", "1 MiB"), ("kernel", "memcpy")], 1, &fake.library())
            .expect("measured");
    let Integrity::Corrupt { wrong, first, .. } = record.integrity else { panic!("{:?}", record.integrity) };
    assert!(wrong > 0);
    assert_eq!(first, "GPU 0000:10:00.0: memcpy driver: the first wrong word is at byte 4104");
}

#[test]
fn a_full_device_has_no_space_and_an_array_that_cannot_fit_is_refused_in_the_plan() {
    let fake = Fake::new("memory=2097152");
    let error = measured(&BENCHMARK, make, &[("array", "1 MiB")], 1, &fake.library()).expect_err("full");
    assert_eq!(error.cause, Cause::NoSpace);
    assert!(error.text.contains("2 MiB of 2 MiB are free"), "{error}");
    let reason = plan(&BENCHMARK, &[("array", "128 MiB")], machine(1)).expect_err("too large");
    assert_eq!(reason.cause, Cause::NoSpace);
}

#[test]
fn the_limit_is_clock_times_width() {
    let site = crate::rig::site(machine(1));
    let case = plan(&BENCHMARK, &[], machine(1)).expect("a plan").remove(0);
    for (metric, limit) in BENCHMARK.limits(&case, &site) {
        let spec = BENCHMARK.about.metric(&metric).expect("a metric");
        let record = limit.record(spec.better, spec.unit).expect("a rate");
        assert_eq!(record.value, Some(1250.0), "{metric}");
    }
}
