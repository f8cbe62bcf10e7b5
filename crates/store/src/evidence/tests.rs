//! Evidence files that are correct, changed anywhere, or malicious.

use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;
use seatrial_model::record::{RunEnd, RunInfo};
use seatrial_stats::Random;
use sha2::{Digest, Sha256};
use tempfile::TempDir;

use super::form::{END, padding, preamble};
use super::manifest::{Listed, Manifest, NAME};
use super::seal::sha256;
use super::unpack::Packing;
use super::*;
use crate::folder::{Files, write_info};
use crate::lock::{Locking, take};

const RUN: &str = "20260921-083015-bcdf";

/// A run folder with a few files, of any contents.
fn folder() -> (TempDir, PathBuf) {
    let home = tempfile::tempdir().unwrap();
    let run = home.path().join(RUN);
    let info = RunInfo {
        id: RUN.to_owned(),
        seatrial: "0.1.0".to_owned(),
        command: vec!["seatrial".to_owned(), "check".to_owned()],
        options: None,
        profile: None,
        nodes: vec!["n1".to_owned()],
        started: "2026-09-21T08:30:15.25Z".parse().unwrap(),
        paused_seconds: 0.0,
        ended: Some(RunEnd {
            at: "2026-09-21T08:31:00Z".parse().unwrap(),
            exit: 0,
            signal: None,
            time: None,
        }),
    };
    fs::create_dir_all(run.join("samples")).unwrap();
    fs::create_dir_all(run.join("inventory")).unwrap();
    write_info(&Files::of(&run), &info).unwrap();
    fs::write(run.join("results.jsonl"), "{\"case\":1}\n").unwrap();
    fs::write(run.join("inventory/n1.json"), "{}").unwrap();
    fs::write(run.join("samples/a.json"), "a".repeat(700)).unwrap();
    fs::write(run.join("samples/b.json"), "").unwrap();
    fs::write(run.join(format!("samples/{}.json", "long-".repeat(30))), "long").unwrap();
    for left_out in ["lock", "results.jsonl.tmp", "report.html", ".nfs0001"] {
        fs::write(run.join(left_out), "not evidence").unwrap();
    }
    (home, run)
}

fn exported(run: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    let told = export(run, &mut bytes).unwrap();
    assert_eq!((told.bytes, told.files, told.run.as_str()), (bytes.len() as u64, 6, RUN));
    bytes
}

fn looked(bytes: &[u8]) -> (Looked, Vec<String>) {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(bytes).unwrap();
    let mut files = Vec::new();
    let looked = look(file.path(), &mut |path, _| files.push(path.to_owned())).unwrap();
    (looked, files)
}

fn faults(bytes: &[u8]) -> Vec<String> {
    looked(bytes).0.faults.iter().map(ToString::to_string).collect()
}

/// The archive without compression and seal.
fn unpacked(bytes: &[u8]) -> Vec<u8> {
    decompressed(&bytes[..bytes.len() - Packing::Gzip.seal_bytes()])
}

fn packed(archive: &[u8]) -> Vec<u8> {
    sealed(compressed(archive))
}

fn compressed(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// All gzip members, as any other program unpacks them.
fn decompressed(bytes: &[u8]) -> Vec<u8> {
    let mut all = Vec::new();
    MultiGzDecoder::new(bytes).read_to_end(&mut all).unwrap();
    all
}

fn sealed(mut body: Vec<u8>) -> Vec<u8> {
    let sum = Sha256::digest(&body).to_vec();
    body.extend(Packing::Gzip.seal(&sum));
    body
}

#[test]
fn the_same_run_gives_the_same_bytes_and_nothing_is_wrong_with_them() {
    let (_home, run) = folder();
    let bytes = exported(&run);
    assert_eq!(exported(&run), bytes);
    let (looked, files) = looked(&bytes);
    assert_eq!((looked.faults, looked.newer), (Vec::new(), None));
    let manifest = looked.manifest.unwrap();
    assert_eq!(files, manifest.files.iter().map(|file| file.path.clone()).collect::<Vec<_>>());
    let long = format!("samples/{}.json", "long-".repeat(30));
    let all = ["inventory/n1.json", "results.jsonl", "run.json", "samples/a.json", "samples/b.json", &long];
    assert_eq!(files, all);
}

#[test]
fn others_can_unpack_it_with_tar_and_gzip() {
    let (_home, run) = folder();
    let bytes = exported(&run);
    // To decompressors, the seal is an empty member.
    let archive = decompressed(&bytes);
    let into = tempfile::tempdir().unwrap();
    tar::Archive::new(archive.as_slice()).unpack(into.path()).unwrap();
    for file in ["run.json", "samples/a.json"] {
        assert_eq!(fs::read(into.path().join(RUN).join(file)).unwrap(), fs::read(run.join(file)).unwrap());
    }
    assert!(!into.path().join(RUN).join("lock").exists());
}

/// A small run of a build that compressed by zstd.
const OLD: &[u8] = include_bytes!("../../tests/fixtures/old.tar.zst");

#[test]
fn what_an_older_build_compressed_by_zstd_is_read_and_a_change_of_it_found() {
    let (found, files) = looked(OLD);
    assert_eq!(found.faults, []);
    assert_eq!(files.len(), found.manifest.unwrap().files.len());
    assert!(files.contains(&"run.json".to_owned()), "{files:?}");
    let mut random = Random::of(3);
    for _ in 0..200 {
        let mut changed = OLD.to_vec();
        changed[random.bits() as usize % OLD.len()] ^= 1 << (random.bits() % 8);
        assert!(!faults(&changed).is_empty());
        assert!(!faults(&changed[..random.bits() as usize % OLD.len()]).is_empty());
        // Whoever changes the file can make a new seal.
        let body = changed.len() - Packing::Zstd.seal_bytes();
        let sum = Sha256::digest(&changed[..body]).to_vec();
        changed.truncate(body);
        changed.extend(Packing::Zstd.seal(&sum));
        looked(&changed);
    }
}

#[test]
fn a_window_that_is_more_memory_than_any_export_needs_is_refused() {
    // A frame with a window of 2 GiB (RFC 8878, 3.1.1.1.2), followed by an archive.
    let mut body = vec![0x28, 0xb5, 0x2f, 0xfd, 0, (31 - 10) << 3];
    body.extend([0; 64]);
    let sum = Sha256::digest(&body).to_vec();
    body.extend(Packing::Zstd.seal(&sum));
    let found = faults(&body);
    assert!(found.len() == 1 && found[0].contains("window_size is too big"), "{found:?}");
}

#[test]
fn a_changed_byte_anywhere_in_the_file_is_found() {
    let (_home, run) = folder();
    let bytes = exported(&run);
    let mut random = Random::of(1);
    for position in 0..bytes.len() {
        let mut changed = bytes.clone();
        changed[position] ^= 1 << (random.bits() % 8);
        let (looked, files) = looked(&changed);
        assert!(!looked.faults.is_empty(), "byte {position} of {}", bytes.len());
        assert!(files.is_empty(), "byte {position}: nothing is handed out of a file whose seal is broken");
    }
}

#[test]
fn a_file_that_is_cut_short_or_goes_on_is_found() {
    let (_home, run) = folder();
    let bytes = exported(&run);
    for length in 0..bytes.len() {
        assert!(!faults(&bytes[..length]).is_empty(), "{length} of {} B", bytes.len());
    }
    let longer = [bytes.as_slice(), &[0]].concat();
    assert!(!faults(&longer).is_empty());
    let twice = [bytes.as_slice(), bytes.as_slice()].concat();
    assert!(!faults(&twice).is_empty());
}

#[test]
fn a_changed_byte_of_what_is_in_it_is_found_and_the_file_is_named_though_all_is_packed_and_sealed_anew() {
    let (_home, run) = folder();
    let archive = unpacked(&exported(&run));
    assert_eq!(faults(&packed(&archive)), [""; 0], "packing alone changes nothing");
    let mut random = Random::of(2);
    for _ in 0..1500 {
        let position = random.bits() as usize % archive.len();
        let mut changed = archive.clone();
        changed[position] ^= 1 << (random.bits() % 8);
        let found = looked(&packed(&changed)).0;
        let is_found = !found.faults.is_empty() || found.newer.is_some();
        assert!(is_found, "byte {position} of {}", archive.len());
    }
    // A change in the contents of a file is reported for that file.
    let text = archive.windows(4).position(|window| window == b"aaaa").unwrap();
    for _ in 0..20 {
        let mut changed = archive.clone();
        changed[text + (random.bits() % 700) as usize] ^= 1 << (random.bits() % 8);
        let found = faults(&packed(&changed));
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].starts_with("samples/a.json: its contents were changed"), "{found:?}");
    }
}

fn archive(listed: &[(&str, &str)], entries: &[(&str, &str)]) -> Vec<u8> {
    let files = listed.iter().map(|(path, text)| Listed {
        path: (*path).to_owned(),
        bytes: text.len() as u64,
        sha256: sha256(text.as_bytes()),
    });
    let manifest = Manifest { files: files.collect(), ..Manifest::new(RUN.to_owned(), Vec::new()) };
    archive_of(&manifest, entries)
}

fn archive_of(manifest: &Manifest, entries: &[(&str, &str)]) -> Vec<u8> {
    let text = String::from_utf8(manifest.text()).unwrap();
    let mut archive = Vec::new();
    for (path, text) in std::iter::once((NAME, text.as_str())).chain(entries.iter().copied()) {
        archive.extend(preamble(&format!("{RUN}/{path}"), text.len() as u64).unwrap());
        archive.extend(text.as_bytes());
        archive.extend(vec![0; padding(text.len() as u64)]);
    }
    archive.extend([0; END]);
    archive
}

#[track_caller]
fn refused(archive: &[u8], word: &str) {
    let found = faults(&packed(archive));
    assert!(found.len() == 1 && found[0].contains(word), "no '{word}' in {found:?}");
}

#[test]
fn files_that_are_missing_too_many_twice_or_in_another_order_are_named() {
    let (a, b) = (("a.json", "1"), ("b.json", "2"));
    assert_eq!(faults(&packed(&archive(&[a, b], &[a, b]))), [""; 0]);
    refused(&archive(&[a, b], &[a]), "b.json: it is missing");
    refused(&archive(&[a, b], &[b]), "a.json: its place is taken by '20260921-083015-bcdf/b.json'");
    refused(&archive(&[a, b], &[b, a]), "a.json: its place is taken by '20260921-083015-bcdf/b.json'");
    refused(&archive(&[a], &[a, b]), "'20260921-083015-bcdf/b.json' comes after the last file");
    refused(&archive(&[a], &[a, a]), "'20260921-083015-bcdf/a.json' comes after the last file");
    refused(&archive(&[a, a], &[a, a]), "manifest.json: it lists a.json twice");
    refused(&archive(&[b, a], &[b, a]), "manifest.json: it lists a.json after b.json");
    refused(&archive(&[("a.json", "11")], &[a]), "a.json: it has 1 B, the manifest says 2 B");
    refused(&archive(&[("a.json", "3")], &[a]), "a.json: its contents were changed");
}

#[test]
fn a_path_that_leads_elsewhere_is_refused_wherever_it_stands() {
    for path in ["../a", "/etc/passwd", "a/../b", "a//b", "a/b/c", ".hidden", "", "a\\b", "a\nb", NAME] {
        refused(&archive(&[(path, "1")], &[]), "not a path within a run folder");
    }
    let mut outside = preamble("x", 1).unwrap();
    // The builder of the tar crate refuses such a name.
    let name = b"../../etc/passwd";
    outside[..name.len()].copy_from_slice(name);
    let mut header = tar::Header::from_byte_slice(&outside).clone();
    header.set_cksum();
    let mut whole = archive(&[("a.json", "1")], &[]);
    whole.truncate(whole.len() - END);
    whole.extend(header.as_bytes());
    whole.extend([0; 2 * END]);
    refused(&whole, "a.json: its place is taken by '../../etc/passwd', a path outside of the run");
    let manifest = Manifest { run: "..".to_owned(), ..Manifest::new(String::new(), Vec::new()) };
    refused(&archive_of(&manifest, &[]), "'..' is not the id of a run");
}

#[test]
fn links_folders_and_devices_are_refused_by_name() {
    use tar::EntryType;
    for (kind, word) in [
        (EntryType::Symlink, "its place is taken by a link, '20260921-083015-bcdf/a.json' to '/etc/shadow'"),
        (EntryType::Link, "its place is taken by a link, '20260921-083015-bcdf/a.json' to '/etc/shadow'"),
        (EntryType::Directory, "its place is taken by a folder, '20260921-083015-bcdf/a.json'"),
        (EntryType::Char, "which is not a file"),
        (EntryType::XHeader, "which is not a file"),
    ] {
        let mut header =
            tar::Header::from_byte_slice(&preamble(&format!("{RUN}/a.json"), 1).unwrap()).clone();
        header.set_entry_type(kind);
        header.set_link_name("/etc/shadow").unwrap();
        header.set_cksum();
        let mut whole = archive(&[("a.json", "1")], &[]);
        whole.truncate(whole.len() - END);
        whole.extend(header.as_bytes());
        whole.extend(b"1");
        whole.extend(vec![0; padding(1) + END]);
        refused(&whole, word);
    }
}

#[test]
fn what_was_made_to_fill_a_disk_or_a_memory_is_refused_before_it_is_unpacked() {
    let bomb = |bytes: u64| {
        let files = vec![Listed { path: "a.json".to_owned(), bytes, sha256: sha256(b"") }];
        archive_of(&Manifest::new(RUN.to_owned(), files), &[])
    };
    refused(&bomb(u64::MAX), "a file of a run is never so large");
    refused(&bomb(1 << 30), "a decompression bomb");
    let many =
        (0..65).map(|at| Listed { path: format!("{at:02}.json"), bytes: 1 << 30, sha256: sha256(b"") });
    let many = archive_of(&Manifest::new(RUN.to_owned(), many.collect()), &[]);
    refused(&many, "no run has more than 68719476736 B");
    // A manifest without end.
    let mut endless = preamble(&format!("{RUN}/{NAME}"), 1 << 40).unwrap();
    endless.extend(vec![b' '; 1 << 20]);
    refused(&endless, "no manifest is so large");
    // Zeros that are not in the manifest are not read to their end.
    let mut zeros = archive(&[], &[]);
    zeros.extend(vec![0; 8 << 20]);
    refused(&zeros, "there is data after the end of the archive");
}

#[test]
fn nothing_can_stand_between_the_archive_and_its_seal() {
    let body = compressed(&archive(&[("a.json", "1")], &[("a.json", "1")]));
    assert_eq!(faults(&sealed(body.clone())), [""; 0]);
    let more = compressed(b"more");
    for extra in [more.as_slice(), b"x", &compressed(b"")] {
        let found = faults(&sealed([body.as_slice(), extra].concat()));
        assert_eq!(found, ["there is data between the archive and its checksum"]);
    }
}

#[test]
fn a_newer_form_is_told_apart_and_another_sort_of_archive_is_refused() {
    let newer = Manifest { schema: 2, ..Manifest::new(RUN.to_owned(), Vec::new()) };
    let (found, _) = looked(&packed(&archive_of(&newer, &[])));
    assert_eq!((found.newer, found.faults), (Some(2), Vec::new()));
    let other = Manifest { format: "backup".to_owned(), ..Manifest::new(RUN.to_owned(), Vec::new()) };
    refused(&archive_of(&other, &[]), "another type of archive, 'backup'");
    for bytes in [b"".as_slice(), b"{}", &[0x28, 0xb5, 0x2f, 0xfd], &[0; 4096]] {
        assert!(!faults(bytes).is_empty());
    }
}

#[test]
fn what_cannot_be_evidence_is_not_exported() {
    let (_home, run) = folder();
    let refused = |run: &Path| export(run, &mut Vec::new()).unwrap_err().to_string();
    symlink("/etc/passwd", run.join("samples/c.json")).unwrap();
    assert!(refused(&run).ends_with("samples/c.json cannot go into an evidence file: it is a link"));
    fs::remove_file(run.join("samples/c.json")).unwrap();
    let Locking::Held(lock) = take(&run.join("lock")).unwrap() else { panic!("nobody else is there") };
    assert!(refused(&run).contains("is still running"));
    drop(lock);
    assert_eq!(exported(&run), exported(&run));
    fs::remove_file(run.join("run.json")).unwrap();
    assert!(refused(&run).contains("run.json is missing"));
}
