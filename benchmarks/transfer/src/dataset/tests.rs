//! Real sets in temporary folders, and plans on invented machines.

use std::fs;
use std::path::Path;
use std::time::Duration;

use seatrial_model::machine::{FileSystem, Known, Machine};
use seatrial_model::{Case, Cause, Integrity, Phase, Reason, Site, SiteNode};

use super::BENCHMARK;
use super::part::DatasetWorker;
use crate::set::{DataSet, PIECE, Recipe, flush};
use seatrial_bench::testing::Kept;
use seatrial_bench::{Running, Stop};

fn planned(systems: Vec<FileSystem>, changed: &[(&str, &str)]) -> Result<Case, Reason> {
    let cpu = seatrial_testkit::cores(0..2);
    let machine = Machine { cpu, file_systems: Known::Known(systems), ..Machine::default() };
    let params = seatrial_testkit::params(BENCHMARK.about, changed);
    let site = Site { nodes: vec![SiteNode::new("n1", machine)] };
    BENCHMARK.plan(&params, &site).map(|mut cases| cases.remove(0))
}

fn worker(directory: &Path, changed: &[(&str, &str)]) -> (Case, DatasetWorker) {
    let path = directory.display().to_string();
    let mut all = vec![("directory", path.as_str()), ("time", "50 ms")];
    all.extend_from_slice(changed);
    let mut case = planned(Vec::new(), &all).expect("a plan");
    case.places[0].bindings.clear();
    let worker = DatasetWorker::prepare(&case, &case.places[0]).expect("prepared");
    (case, worker)
}

fn run(worker: &mut DatasetWorker) -> Kept {
    let mut kept = Kept::default();
    worker.run(Phase::Measure, &Stop::after(Duration::from_secs(120)), &mut kept).expect("runs");
    kept
}

#[test]
fn every_kind_of_set_is_made_read_compared_and_removed() {
    for changed in [
        &[("files", "40"), ("size", "70000 B"), ("depth", "2"), ("breadth", "3")][..],
        &[("files", "60"), ("size", "5 KiB"), ("names", "hard"), ("special", "true"), ("depth", "1")],
        &[("set", "mix"), ("files", "50"), ("size", "300 KiB"), ("depth", "0"), ("compressible", "50")],
        &[("files", "3"), ("size", "2500 KiB"), ("threads", "7")],
        &[("files", "20"), ("size", "0 B"), ("threads", "1")],
    ] {
        let directory = tempfile::tempdir().expect("a folder");
        let (case, mut worker) = worker(directory.path(), changed);
        let kept = run(&mut worker);
        let integrity = worker.verify().expect("looked");
        let bytes = Recipe::of(&case.params).expect("a recipe").bytes();
        assert!(
            matches!(integrity, Integrity::Verified { checked } if bytes == 0 || checked >= bytes && checked % bytes == 0),
            "{changed:?}: {integrity:?}"
        );
        assert_eq!(fs::read_dir(directory.path()).expect("listed").count(), 0, "{changed:?}: left");
        let record = kept.record(&case.places[0], integrity);
        let measures = BENCHMARK.reduce(&case, &[record]).expect("numbers");
        for metric in BENCHMARK.about.metrics {
            let told = &measures.metrics[metric.name].trials[0];
            assert!(told.iter().all(|value| *value > 0.0 || bytes == 0), "{changed:?}: {}", metric.name);
        }
        assert!(measures.findings.is_empty(), "{:?}", measures.findings);
    }
}

#[test]
fn a_changed_byte_a_cut_file_a_missing_and_a_strange_one_are_found() {
    let directory = tempfile::tempdir().expect("a folder");
    let params = [("files", "10"), ("size", "9000 B"), ("breadth", "2")];
    let recipe = Recipe::of(&seatrial_testkit::params(BENCHMARK.about, &params)).expect("a recipe");
    let (set, at, stop) = (DataSet::new(recipe, 7), directory.path(), Stop::after(Duration::from_secs(60)));
    let mut buffer = vec![0; PIECE];
    set.make_directories(at).expect("made");
    for number in 0..10 {
        assert!(set.make_file(at, number, &mut buffer, &stop).expect("made"));
    }
    flush(at).expect("flushed");
    let mut look = |number| {
        set.forget_file(at, number).ok();
        let came = set.check_file(at, number, &mut buffer, &stop).expect("read");
        came.expect("not cut off").err().map(|wrong| wrong.0)
    };
    assert!((0..10).all(|number| look(number).is_none()));
    assert_eq!(set.miscounted(at, 0).expect("listed"), None);
    let path = |number| at.join(set.path(number));
    let mut bytes = fs::read(path(3)).expect("read");
    bytes[5000] ^= 4;
    fs::write(path(3), bytes).expect("changed");
    fs::write(path(4), &fs::read(path(4)).expect("read")[..8999]).expect("cut");
    fs::remove_file(path(5)).expect("removed");
    fs::rename(path(6), path(7)).expect("renamed");
    let told: Vec<Option<String>> = (0..10).map(&mut look).collect();
    let says = |number: usize, text: &str| {
        let said = told[number].as_deref().unwrap_or_default();
        assert!(said.contains(text) && said.contains(&*path(number as u64).to_string_lossy()), "{said}");
    };
    says(3, "bit");
    says(4, "8999 B instead of 9000 B");
    says(5, "not there");
    says(6, "not there");
    assert!(told[7].is_some(), "the content of another file");
    assert!([0, 1, 2, 8, 9].iter().all(|number| told[*number].is_none()), "{told:?}");
    let strange = set.miscounted(at, 0).expect("listed").expect("two are missing").0;
    assert!(strange.ends_with("10 files and directories instead of 12"), "{strange}");
}

#[test]
fn a_worker_that_never_ran_leaves_nothing() {
    let directory = tempfile::tempdir().expect("a folder");
    let (_, first) = worker(directory.path(), &[("files", "5"), ("size", "10 KiB")]);
    let manifest = first.folder().join(seatrial_bench::stale_dirs::MANIFEST);
    assert!(manifest.exists());
    drop(first);
    assert_eq!(fs::read_dir(directory.path()).expect("listed").count(), 0);
}

#[test]
fn a_set_that_does_not_fit_and_too_many_directories_are_refused_when_planned() {
    let small = FileSystem {
        mount: "/data".to_owned(),
        available_bytes: Known::Known(1 << 30),
        size_bytes: Known::Known(4 << 30),
        ..FileSystem::default()
    };
    let refused = |changed: &[(&str, &str)]| {
        let mut all = vec![("directory", "/data")];
        all.extend_from_slice(changed);
        planned(vec![small.clone()], &all).err()
    };
    assert!(refused(&[("files", "100")]).is_none());
    let why = refused(&[("set", "large")]).expect("too large");
    assert!(why.cause == Cause::NoSpace && why.text.contains("/data"), "{why}");
    let why = refused(&[("files", "1"), ("depth", "7")]).expect("too many");
    assert!(why.cause == Cause::Contradiction && why.text.contains("depth=7 of breadth=8"), "{why}");
}
