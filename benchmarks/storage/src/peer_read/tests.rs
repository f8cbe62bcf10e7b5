//! Both parts in this process, in a folder of the working tree.

use std::path::Path;
use std::time::Duration;

use seatrial_model::machine::Known;
use seatrial_model::{Case, Cause, Integrity, Params, PartRecord, Phase, Reason, Site, SiteNode};

use super::BENCHMARK;
use seatrial_bench::testing::Kept;
use seatrial_bench::{Running, Stop};

fn node(name: &str, boot: &str) -> SiteNode {
    let mut node = seatrial_testkit::node(name, 1);
    node.machine.boot_id = Known::Known(boot.to_owned());
    node
}

fn planned(nodes: Vec<SiteNode>, directory: &str, changed: &[(&str, &str)]) -> Result<Case, Reason> {
    let about = BENCHMARK.about;
    let mut params: Params = about.defaults();
    params.set("directory", directory);
    for (name, value) in [("size", "2 MiB"), ("block", "16 KiB"), ("time", "100 ms")].iter().chain(changed) {
        params.set(name, about.param(name).expect("a parameter").parse(value).expect("a value"));
    }
    let mut case = BENCHMARK.plan(&params, &Site { nodes })?.remove(0);
    case.places.iter_mut().for_each(|place| place.bindings.clear());
    Ok(case)
}

fn pair(directory: &Path, changed: &[(&str, &str)]) -> Case {
    planned(vec![node("n1", "a"), node("n2", "b")], directory.to_str().expect("UTF-8"), changed)
        .expect("a plan")
}

fn names(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).expect("listed").flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

/// Both parts, ready; `between` runs when the writer is ready and the reader has opened nothing yet.
fn ready(case: &Case, between: impl FnOnce()) -> Result<[Box<dyn Running>; 2], Reason> {
    let [reader, writer] = [0, 1].map(|at| BENCHMARK.part(case, &case.places[at]).prepare());
    let (reader, writer) = (reader?, writer?);
    let offers = [&reader, &writer].map(|part| part.offer().clone());
    between();
    Ok([reader.connect(&offers)?, writer.connect(&offers)?])
}

fn reduced(case: &Case, kept: &Kept) -> Result<seatrial_model::Measures, Reason> {
    let record = PartRecord {
        part: "reader".to_owned(),
        evidence: kept.evidence.clone(),
        ..seatrial_testkit::part(kept.samples.clone())
    };
    BENCHMARK.reduce(case, &[record])
}

#[test]
fn the_reader_is_the_first_node_and_finds_what_the_second_wrote() {
    let folder = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).expect("a folder");
    for changed in [[("access", "buffered"), ("threads", "2")], [("access", "direct"), ("pattern", "random")]]
    {
        let case = pair(folder.path(), &changed);
        assert_eq!(
            (case.nodes.clone(), case.planned.text("written_on")),
            (vec!["n1".into(), "n2".into()], Ok("n2"))
        );
        let there = || assert!(names(folder.path())[0].starts_with(".seatrial-peer_read-"));
        let [mut reader, mut writer] = match ready(&case, there) {
            Ok(parts) => parts,
            Err(error) if error.cause == Cause::Missing && changed[0].1 == "direct" => continue,
            Err(error) => panic!("{changed:?}: {error}"),
        };
        // The names are gone before the measurement; the folder and its manifest remain.
        let inside = folder.path().join(&names(folder.path())[0]);
        assert_eq!(names(&inside), ["seatrial.json"]);
        let mut kept = Kept::default();
        // A busy machine may leave no CPU for the whole measuring time.
        for _ in 0..50 {
            kept = Kept::default();
            let stop = Stop::after(Duration::from(case.budget.measure));
            reader.run(Phase::Measure, &stop, &mut kept).expect("read");
            writer.run(Phase::Measure, &stop, &mut Kept::default()).expect("waited");
            if reduced(&case, &kept).is_ok() {
                break;
            }
        }
        let integrity = reader.verify().expect("looked at");
        assert!(matches!(integrity, Integrity::Verified { checked: 1.. }), "{integrity:?}");
        writer.verify().expect("removed");
        assert_eq!(names(folder.path()), [""; 0]);
        let measures = reduced(&case, &kept).expect("numbers");
        assert!(measures.metrics["throughput"].trials[0].iter().all(|rate| *rate > 0.0));
        assert_eq!(measures.evidence["files"]["hidden"], "named");
        assert!(!measures.metrics.contains_key("durable"));
    }
}

#[test]
fn what_the_reader_does_not_see_alike_is_corrupt() {
    let folder = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).expect("a folder");
    let case = pair(folder.path(), &[("access", "buffered")]);
    let spoil = || {
        use std::os::unix::fs::FileExt;
        let file = folder.path().join(&names(folder.path())[0]).join("part.0");
        let file = std::fs::OpenOptions::new().write(true).open(file).expect("opened");
        file.write_all_at(&[0; 4096], 16 << 10).and_then(|()| file.sync_all()).expect("spoilt");
    };
    let [mut reader, _writer] = ready(&case, spoil).expect("ready");
    let mut blocks = 0;
    // A busy machine may need several measuring times to reach the second block.
    for _ in 0..50 {
        let (stop, mut kept) = (Stop::after(Duration::from(case.budget.measure)), Kept::default());
        reader.run(Phase::Measure, &stop, &mut kept).expect("read");
        blocks += kept.evidence["requests"].as_u64().expect("a count");
        if blocks >= 128 {
            break;
        }
    }
    let Integrity::Corrupt { first, .. } = reader.verify().expect("looked at") else { panic!("not seen") };
    assert!(first.ends_with("file 0, offset 16384: a zeroed block"), "{first}");
}

#[test]
fn a_directory_that_only_the_writer_has_is_told_as_that() {
    let folder = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).expect("a folder");
    let case = pair(folder.path(), &[]);
    let away = || {
        let inside = folder.path().join(&names(folder.path())[0]);
        std::fs::rename(&inside, folder.path().join("elsewhere")).expect("moved");
    };
    let error = ready(&case, away).err().expect("is not there");
    assert_eq!(error.cause, Cause::Missing);
    assert!(error.text.ends_with("name a directory on a file system that both nodes mount"), "{error}");
}

#[test]
fn one_kernel_is_told_and_disks_of_a_node_are_refused() {
    let kinds = |nodes| {
        let case = planned(nodes, "/x", &[]).expect("a plan");
        case.findings.iter().map(|finding| finding.kind.clone()).collect::<Vec<_>>()
    };
    assert!(kinds(vec![node("n1", "a"), node("n2", "b")]).is_empty());
    assert_eq!(kinds(vec![node("n1", "a"), node("n2", "a")]), ["same-client"]);
    assert_eq!(kinds(vec![node("n1", "a")]), ["same-client"]);
    let reason = planned(vec![node("n1", "a")], "disks", &[]).expect_err("refused");
    assert_eq!(reason.cause, Cause::Contradiction);
}
