//! Patterns on the imitated driver.

use std::path::Path;

use seatrial_model::{Case, Cause, Integrity, PartPlacement};

use super::{BENCHMARK, part};
use crate::rig::{Fake, close, measured, median};
use seatrial_bench::Part;

fn make(case: &Case, place: &PartPlacement, library: &Path) -> Part {
    crate::part(case, place, Some(library.to_owned()), part::ready)
}

fn run(words: &str, pattern: &str) -> Result<(Integrity, seatrial_model::Measures), seatrial_model::Reason> {
    let fake = Fake::new(words);
    let (record, measures) = measured(&BENCHMARK, make, &[("pattern", pattern)], 1, &fake.library())?;
    Ok((record.integrity, measures))
}

#[test]
fn every_pattern_covers_the_free_memory_and_is_checked_twice() {
    let (integrity, measures) = run("memory=1000000", "auto").expect("measured");
    let tested = measures.evidence["gpu"]["tested_bytes"].as_u64().expect("a number");
    assert!((900_000..950_000).contains(&tested), "{tested}");
    close(median(&measures, "covered"), tested as f64 / 1e4);
    // Each kernel of the imitated device takes 1 us.
    close(median(&measures, "rate"), 4.0 * tested as f64 / 3e3);
    assert!(median(&measures, "passes") >= 1.0);
    // A round of the warm-up and one that was measured, of four patterns.
    let Integrity::Verified { checked } = integrity else { panic!("{integrity:?}") };
    assert!(checked >= 2 * 4 * 2 * tested, "{checked}");
}

#[test]
fn a_stuck_bit_is_named_with_its_place_and_pattern() {
    for (pattern, when) in [
        ("address", "pattern address after it was written"),
        ("zeros", "pattern zeros after it was written"),
        // Bit 20 of 0x55... is set, and not when it is inverted.
        ("checkerboard", "pattern checkerboard after it was inverted"),
    ] {
        let (integrity, _) = run("memory=1000000 stuck=100", pattern).expect("measured");
        let Integrity::Corrupt { first, .. } = integrity else { panic!("{pattern}: {integrity:?}") };
        assert_eq!(
            first,
            format!(
                "GPU 0000:10:00.0: {when}: 1 wrong words, the first 800 bytes into the memory that is tested, bits \
                 0x0000000000100000 differ; written and read once more they are wrong again"
            )
        );
    }
}

#[test]
fn a_full_device_has_no_space_and_a_lost_one_fails() {
    assert_eq!(run("memory=100", "zeros").expect_err("full").cause, Cause::NoSpace);
    let lost = run("memory=1000000 fail=cuLaunchKernel:719:3", "zeros").expect_err("lost");
    assert_eq!(lost.cause, Cause::IoError);
    assert!(lost.text.starts_with("0000:10:00.0: zeros"), "{lost}");
}
