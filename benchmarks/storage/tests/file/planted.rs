//! Corruption planted in the files of a running case is found, located and named.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::Path;

use seatrial_bench::Running;
use seatrial_model::{Case, Integrity};

use crate::rig::{case, measured, prepared};

const BLOCK: u64 = 16 << 10;

/// The unnamed file of a case, through this process's own descriptor.
fn file_in(folder: &Path) -> File {
    let ours = |entry: &std::fs::DirEntry| {
        let target = std::fs::read_link(entry.path()).unwrap_or_default();
        target.starts_with(folder) && target != folder
    };
    let entries = std::fs::read_dir("/proc/self/fd").expect("listed").flatten();
    let found = entries
        .filter(ours)
        .find_map(|entry| OpenOptions::new().read(true).write(true).open(entry.path()).ok());
    found.expect("a file of the case")
}

fn read(file: &File, block: u64) -> Vec<u8> {
    let mut bytes = vec![0; BLOCK as usize];
    file.read_exact_at(&mut bytes, block * BLOCK).expect("read");
    bytes
}

fn write(file: &File, block: u64, bytes: &[u8]) {
    file.write_all_at(bytes, block * BLOCK).expect("written");
    file.sync_data().expect("flushed");
}

/// Measures once more; returns the passes begun so far.
fn begun(case: &Case, part: &mut dyn Running) -> u64 {
    let record = measured(case, part).expect("measured");
    record.evidence["threads"][0]["passes"].as_u64().expect("a count")
}

/// Integrity of a case of 64 blocks, in which `plant` corrupts data before or after the measurement.
fn integrity(
    changed: &[(&str, &str)],
    plant: impl FnOnce(&File, &Case, &mut dyn Running),
    again: bool,
) -> Integrity {
    let folder = tempfile::tempdir().expect("a folder");
    let mut all = vec![("size", "1 MiB"), ("block", "16 KiB"), ("time", "100 ms"), ("access", "buffered")];
    all.extend_from_slice(changed);
    let case = case(folder.path(), &all);
    let mut part = prepared(&case).expect("prepared");
    let before = begun(&case, &mut *part);
    plant(&file_in(folder.path()), &case, &mut *part);
    // A busy machine may need several measuring times for a pass, and the current pass may be past the block when it
    // is corrupted.
    while again && begun(&case, &mut *part) < before + 2 {}
    part.verify().expect("looked at")
}

/// Of a case whose data is found corrupt, how many blocks are wrong and the first of them.
fn found(
    changed: &[(&str, &str)],
    plant: impl FnOnce(&File, &Case, &mut dyn Running),
    again: bool,
) -> (u64, String) {
    match integrity(changed, plant, again) {
        Integrity::Corrupt { wrong, first, .. } => (wrong, first),
        other => panic!("not seen: {other:?}"),
    }
}

fn flip(file: &File, _: &Case, _: &mut dyn Running) {
    let mut bytes = read(file, 5);
    bytes[9000] ^= 0x20;
    write(file, 5, &bytes);
}

fn swap(file: &File, _: &Case, _: &mut dyn Running) {
    let (three, seven) = (read(file, 3), read(file, 7));
    write(file, 3, &seven);
    write(file, 7, &three);
}

#[test]
fn a_flipped_bit_is_found_at_its_byte() {
    for engine in ["io_uring", "sync"] {
        let (_, first) = found(&[("engine", engine), ("pattern", "random")], flip, true);
        let (granule, byte) = (5 * BLOCK + 8192, 5 * BLOCK + 9000);
        assert_eq!(
            first,
            format!("the first wrong block: file 0, offset {granule}: a flipped bit in byte {byte}")
        );
    }
}

#[test]
fn two_swapped_blocks_are_named_by_where_they_belong_and_their_headers_are_enough() {
    let (three, seven) = (3 * BLOCK, 7 * BLOCK);
    for verify in ["full", "header"] {
        let (wrong, first) = found(&[("verify", verify)], swap, true);
        // Either block, whichever is read first after the swap.
        let is_named = [(three, seven), (seven, three)].iter().any(|(at, of)| {
            let swapped = format!(
                "file 0, offset {at}: a swapped block: it is that of file 0, offset {of} (generation 0)"
            );
            first.ends_with(&swapped)
        });
        assert!(is_named, "{first}");
        assert!(wrong >= 2, "{wrong}");
    }
}

#[test]
fn of_headers_a_flipped_byte_is_not_seen_and_without_verification_nothing_is_which_is_said() {
    let checked = integrity(&[("verify", "header")], flip, true);
    assert!(matches!(checked, Integrity::Verified { checked: 1.. }), "{checked:?}");
    for operation in ["read", "write", "mixed"] {
        let unverified = integrity(&[("verify", "none"), ("operation", operation)], swap, false);
        let why = "contents were not checked (verify=none)".to_owned();
        assert_eq!(unverified, Integrity::Unverified { why });
    }
}

/// Corrupted blocks in a test that also writes: some are not read back, because their next write was prepared when
/// the time ended.
const MANY: std::ops::Range<u64> = 8..40;

/// Of these, at least so many are checked.
const MOST: u64 = 24;

fn is_one_of_many(first: &str, kind: &str) -> bool {
    { MANY }.any(|block| {
        first.starts_with(&format!("the first wrong block: file 0, offset {}: {kind}", block * BLOCK))
    })
}

#[test]
fn zeroed_blocks_are_named_in_the_middle_of_a_mix() {
    let plant = |file: &File, _: &Case, _: &mut dyn Running| {
        { MANY }.for_each(|block| write(file, block, &vec![0; BLOCK as usize]));
    };
    let (wrong, first) = found(&[("operation", "mixed"), ("pattern", "random")], plant, false);
    assert!((MOST..=MANY.end - MANY.start).contains(&wrong), "{wrong}: {first}");
    assert!(is_one_of_many(&first, "a zeroed block"), "{first}");
}

#[test]
fn blocks_of_an_earlier_pass_are_stale() {
    let plant = |file: &File, case: &Case, part: &mut dyn Running| {
        let all = || { MANY }.map(|block| read(file, block)).collect::<Vec<_>>();
        let old = all();
        // A busy machine may need several measuring times for a pass.
        while all().iter().zip(&old).any(|(now, then)| now == then) {
            measured(case, part).expect("measured");
        }
        { MANY }.zip(&old).for_each(|(block, bytes)| write(file, block, bytes));
    };
    let (wrong, first) = found(&[("operation", "write")], plant, false);
    assert!((MOST..=MANY.end - MANY.start).contains(&wrong), "{wrong}: {first}");
    assert!(is_one_of_many(&first, "a stale block: generation "), "{first}");
}

#[test]
fn a_million_mixed_operations_on_files_raise_no_false_alarm() {
    // In memory, without direct access: the check reads the page cache.
    let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).expect("a folder");
    let mut requests = 0;
    for turn in 0.. {
        let engine = if turn % 2 == 0 { "io_uring" } else { "sync" };
        let files = if turn % 4 < 2 { "own" } else { "shared" };
        let changed = [
            ("operation", "mixed"),
            ("reads", "50"),
            ("pattern", "random"),
            ("access", "buffered"),
            ("engine", engine),
            ("files", files),
            ("threads", "2"),
            ("block", "512 B"),
            ("size", "128 KiB"),
            ("time", "2 s"),
        ];
        let case = case(folder.path(), &changed);
        let mut part = prepared(&case).expect("prepared");
        let record = measured(&case, &mut *part).expect("measured");
        requests += record.evidence["requests"].as_u64().expect("a count");
        let integrity = part.verify().expect("looked at");
        assert!(matches!(integrity, Integrity::Verified { .. }), "{changed:?}: {integrity:?}");
        if requests >= 1_000_000 && turn >= 3 {
            return;
        }
    }
}
