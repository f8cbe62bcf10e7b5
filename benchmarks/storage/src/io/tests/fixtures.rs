//! Files that one trial fills and later trials find.

use std::fs::File as Handle;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::Duration;

use seatrial_model::{Integrity, Nanos, Phase};
use seatrial_sys::storage::FdStore;

use super::rig::{case, folder};
use crate::io::part::IoWorker;
use seatrial_bench::testing::Kept;
use seatrial_bench::{Running, Stop};

fn fd_store() -> &'static FdStore {
    Box::leak(Box::new(FdStore::new().expect("made")))
}

/// One trial on the store: its evidence word for the files, and its integrity.
fn trial(folder: &Path, fd_store: &'static FdStore, changed: &[(&str, &str)]) -> (Option<String>, Integrity) {
    let all = [&[("access", "buffered"), ("block", "16 KiB"), ("work", "once")], changed].concat();
    let mut case = case(folder, &all);
    // A case with work=once ends by itself; a busy machine must not cut it off.
    case.budget.measure = Nanos::secs(100);
    let mut part = IoWorker::prepare_with(Some(fd_store), &case, &case.places[0]).expect("prepared");
    let mut kept = Kept::default();
    part.run(Phase::Measure, &Stop::after(Duration::from(case.budget.measure)), &mut kept).expect("measured");
    let word = kept.evidence.get("fixture").and_then(|word| word.as_str()).map(str::to_owned);
    (word, part.verify().expect("looked at"))
}

#[test]
fn later_trials_find_the_files_and_fill_what_is_missing() {
    let (folder, fd_store) = (folder(), fd_store());
    let word = |changed: &[(&str, &str)]| {
        let (word, integrity) = trial(folder.path(), fd_store, changed);
        assert!(matches!(integrity, Integrity::Verified { checked: 1.. }), "{changed:?}: {integrity:?}");
        word
    };
    let one = |changed: &[(&str, &str)]| word(changed).expect("a word");
    assert_eq!(one(&[("size", "1 MiB")]), "filled");
    assert_eq!(one(&[("size", "1 MiB")]), "found");
    assert_eq!(one(&[("size", "1 MiB"), ("block", "64 KiB"), ("pattern", "random")]), "found");
    assert_eq!(one(&[("size", "3 MiB")]), "found and filled up");
    assert_eq!(one(&[("size", "2 MiB"), ("engine", "sync")]), "found");
    // More threads need more files; other data need other files.
    assert_eq!(one(&[("size", "1 MiB"), ("threads", "2")]), "filled");
    assert_eq!(one(&[("size", "1 MiB"), ("threads", "2"), ("compressible", "50")]), "filled");
    // One shared file suits any number of threads.
    assert_eq!(one(&[("size", "1 MiB"), ("threads", "2"), ("files", "shared")]), "filled");
    assert_eq!(one(&[("size", "1 MiB"), ("threads", "4"), ("files", "shared"), ("block", "4 KiB")]), "found");
    assert_eq!(one(&[("size", "2 MiB"), ("threads", "3"), ("files", "shared")]), "found and filled up");
    // Blocks off the grid of the data, and files that are written, are not shared.
    assert_eq!(word(&[("size", "1 MiB"), ("block", "512 B")]), None);
    assert_eq!(one(&[("size", "1 MiB")]), "filled", "the fd_store was emptied");
    assert_eq!(word(&[("size", "1 MiB"), ("operation", "write")]), None);
    assert!(fd_store.take().is_none(), "the room of what is not needed is given back");
}

#[test]
fn files_that_went_bad_are_told_and_not_found_again() {
    let (folder, fd_store) = (folder(), fd_store());
    let size = [("size", "1 MiB")];
    assert!(matches!(trial(folder.path(), fd_store, &size).1, Integrity::Verified { .. }));
    let item = fd_store.take().expect("there");
    let file = Handle::from(item.files[0].try_clone().expect("cloned"));
    file.write_all_at(&[0; 4096], 65_536).and_then(|()| file.sync_all()).expect("spoilt");
    fd_store.put(&item.label, &item.files).expect("put back");
    let (word, integrity) = trial(folder.path(), fd_store, &size);
    assert_eq!(word.as_deref(), Some("found"));
    let Integrity::Corrupt { first, .. } = integrity else { panic!("not seen: {integrity:?}") };
    assert!(first.ends_with("file 0, offset 65536: a zeroed block"), "{first}");
    let (word, integrity) = trial(folder.path(), fd_store, &size);
    assert_eq!(word.as_deref(), Some("filled"));
    assert!(matches!(integrity, Integrity::Verified { .. }), "{integrity:?}");
}

#[test]
fn what_is_no_label_of_ours_is_not_taken_for_one() {
    let (folder, fd_store) = (folder(), fd_store());
    let foreign = tempfile::tempfile().expect("a file");
    fd_store.put(b"{}", &[&foreign]).and_then(|()| fd_store.put(&[0xff], &[&foreign])).expect("put");
    let (word, integrity) = trial(folder.path(), fd_store, &[("size", "1 MiB")]);
    assert_eq!(word.as_deref(), Some("filled"));
    assert!(matches!(integrity, Integrity::Verified { .. }), "{integrity:?}");
}
