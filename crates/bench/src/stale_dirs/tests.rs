//! Folders that are ours and those that only look like it.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rustix::fs::{CWD, FileType, Mode, mknodat};
use seatrial_sys::storage::FdStore;

use super::*;
use crate::Stop;

const BENCH: &str = "storage.metadata";

/// A folder as a test leaves it: of a process that never was.
fn left(parent: &Path, number: u64) -> PathBuf {
    let path = parent.join(name(BENCH, number));
    fs::create_dir_all(path.join("thread.0")).unwrap();
    fs::create_dir_all(path.join("shared")).unwrap();
    fs::write(path.join("thread.0/file.0.1.2"), "abc").unwrap();
    fs::write(path.join("shared/renamed.1.0.77"), "").unwrap();
    fs::write(path.join("shared/part.0"), "hi").unwrap();
    fs::write(path.join("part.0"), "defg").unwrap();
    // Above the kernel's largest number of a process (PID_MAX_LIMIT, 2^22).
    write(&path, &Manifest { process: 999_999_999, ..Manifest::of_this_process(BENCH) });
    path
}

fn write(folder: &Path, manifest: &Manifest) {
    fs::write(folder.join(MANIFEST), manifest.text()).unwrap();
}

fn standing(parent: &Path) -> Standing {
    let mut found = find(parent).unwrap();
    assert_eq!(found.len(), 1, "{found:?}");
    found.remove(0).standing
}

#[test]
fn what_a_dead_process_left_is_removed_to_the_last_file_and_nothing_beside_it() {
    let parent = tempfile::tempdir().unwrap();
    let path = left(parent.path(), 1);
    fs::write(parent.path().join("precious"), "mine").unwrap();
    assert_eq!(standing(parent.path()), Standing::Abandoned);
    let manifest = fs::metadata(path.join(MANIFEST)).unwrap().len();
    let found = inside(&path).unwrap();
    assert_eq!(found, Inside { files: 5, bytes: 9 + manifest });
    assert_eq!(remove(&path, None), Ok(found));
    assert!(!path.exists());
    assert_eq!(fs::read_to_string(parent.path().join("precious")).unwrap(), "mine");
    assert_eq!(find(&path).map_err(|error| error.kind()), Err(io::ErrorKind::NotFound));
}

#[test]
fn a_folder_of_a_process_that_runs_is_alive_and_one_whose_number_went_to_another_is_not() {
    let parent = tempfile::tempdir().unwrap();
    let path = left(parent.path(), 2);
    let own = Manifest::of_this_process(BENCH);
    write(&path, &own);
    assert_eq!(standing(parent.path()), Standing::Alive);
    write(&path, &Manifest { began: own.began.map(|at| at + 1), ..own.clone() });
    assert_eq!(standing(parent.path()), Standing::Abandoned, "another process has the number");
    write(&path, &Manifest { boot: Some("another start of the host".to_owned()), ..own.clone() });
    assert_eq!(standing(parent.path()), Standing::Abandoned);
    write(&path, &Manifest { host: "elsewhere".to_owned(), ..own.clone() });
    assert_eq!(standing(parent.path()), Standing::Elsewhere);
    write(&path, &Manifest { namespace: Some("pid:[1]".to_owned()), ..own.clone() });
    assert_eq!(standing(parent.path()), Standing::Elsewhere);
    let rebooted = Manifest { boot: Some("another start of the host".to_owned()), ..own.clone() };
    if own.machine.is_some() {
        write(&path, &Manifest { machine: Some("another of that name".to_owned()), ..rebooted.clone() });
        assert_eq!(standing(parent.path()), Standing::Elsewhere);
    }
    write(&path, &Manifest { host: String::new(), ..rebooted });
    assert_eq!(standing(parent.path()), Standing::Elsewhere);
    // Nodes made of one image, or containers, over a file system of the network.
    let other_start = Manifest { boot: Some("another start of the host".to_owned()), ..own.clone() };
    let unknown_start = Manifest { boot: None, process: 999_999_999, ..own.clone() };
    for manifest in [other_start, unknown_start] {
        assert_eq!(manifest.standing(true), Standing::Elsewhere);
        assert_eq!(manifest.standing(false), Standing::Abandoned);
    }
    assert_eq!(own.standing(true), Standing::Alive);
    assert!(is_shared(Path::new("/proc/self")) && !is_shared(parent.path()));
    // Of a version that wrote less.
    write(&path, &Manifest { began: None, machine: None, boot: None, namespace: None, ..own });
    assert_eq!(standing(parent.path()), Standing::Alive);
}

#[test]
fn a_process_that_ends_leaves_its_folder_to_whoever_cleans() {
    let parent = tempfile::tempdir().unwrap();
    let path = left(parent.path(), 3);
    let mut child = Command::new("sleep").arg("1000").stdout(Stdio::null()).spawn().unwrap();
    // What the child's own manifest would say.
    let stat = fs::read_to_string(format!("/proc/{}/stat", child.id())).unwrap();
    let began = stat.rsplit_once(')').unwrap().1.split_whitespace().nth(19).unwrap().parse().ok();
    let process = u64::from(child.id());
    write(&path, &Manifest { process, began, ..Manifest::of_this_process(BENCH) });
    assert_eq!(standing(parent.path()), Standing::Alive);
    child.kill().unwrap();
    // It is dead before it is reaped, which in a container may never happen.
    let info = rustix::process::WaitIdOptions::EXITED | rustix::process::WaitIdOptions::NOWAIT;
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::waitid(rustix::process::WaitId::Pid(pid), info).unwrap();
    assert_eq!(standing(parent.path()), Standing::Abandoned, "a zombie");
    child.wait().unwrap();
    assert_eq!(standing(parent.path()), Standing::Abandoned);
}

#[test]
fn what_a_worker_announced_is_removed_by_whoever_holds_the_other_end() {
    let (parent, fd_store) = (tempfile::tempdir().unwrap(), FdStore::new().unwrap());
    let folder = fs::File::open(parent.path()).unwrap();
    // Whole, just begun, and not begun at all.
    let paths =
        [left(parent.path(), 1), parent.path().join(name(BENCH, 2)), parent.path().join(name(BENCH, 3))];
    fs::create_dir(&paths[1]).unwrap();
    for path in &paths {
        fd_store.put(path.file_name().unwrap().as_bytes(), &[&folder]).unwrap();
    }
    // No name of ours, or not in the folder.
    let precious = parent.path().join("precious");
    fs::create_dir(&precious).unwrap();
    let outside = format!("../{}", name(BENCH, 4));
    for name in ["precious", ".", outside.as_str()] {
        fd_store.put(name.as_bytes(), &[&folder]).unwrap();
    }
    let found = announced(&fd_store);
    assert_eq!(found.iter().map(Announced::path).collect::<Vec<_>>(), paths);
    let over = Stop::after(Duration::ZERO);
    assert_eq!(found[0].remove(&over), Err("the time for it is over".to_owned()));
    assert!(paths[0].join("part.0").exists() && paths[0].join(MANIFEST).exists());
    // The path may lead elsewhere by now; what was opened is what counts.
    let moved = parent.path().with_extension("moved");
    fs::rename(parent.path(), &moved).unwrap();
    for one in &found {
        assert_eq!(one.remove(&Stop::after(Duration::from_secs(60))), Ok(()));
    }
    let names: Vec<_> = fs::read_dir(&moved).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    fs::rename(&moved, parent.path()).unwrap();
    assert_eq!(names, ["precious"]);
    assert!(announced(&fd_store).is_empty());
}

#[test]
fn what_no_test_makes_keeps_the_whole_folder() {
    let parent = tempfile::tempdir().unwrap();
    let path = left(parent.path(), 4);
    let elsewhere = parent.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    fs::write(elsewhere.join("file.0.0.0"), "precious").unwrap();
    let refused = |strange: &dyn Fn(), undo: &Path, word: &str| {
        strange();
        for refused in [inside(&path), remove(&path, None)] {
            let why = refused.expect_err(word);
            assert!(why.contains(word), "no '{word}' in: {why}");
        }
        assert!(path.join("thread.0/file.0.1.2").exists() && path.join(MANIFEST).exists(), "{word}");
        let undone =
            if undo.is_dir() && !undo.is_symlink() { fs::remove_dir(undo) } else { fs::remove_file(undo) };
        undone.expect("undone");
    };
    let foreign = path.join("notes.txt");
    refused(&|| fs::write(&foreign, "mine").unwrap(), &foreign, "notes.txt, which no test makes");
    let link = path.join("thread.1");
    refused(&|| symlink(&elsewhere, &link).unwrap(), &link, "thread.1, which no test makes");
    let link = path.join("part.7");
    refused(&|| symlink(elsewhere.join("file.0.0.0"), &link).unwrap(), &link, "part.7, which no test makes");
    let linked = path.join("thread.0/file.9.9.9");
    refused(
        &|| fs::hard_link(elsewhere.join("file.0.0.0"), &linked).unwrap(),
        &linked,
        "another name elsewhere",
    );
    let deep = path.join("thread.0/thread.0");
    refused(&|| fs::create_dir(&deep).unwrap(), &deep, "thread.0/thread.0, which no test makes");
    let named = path.join("thread.0/file.1.2");
    refused(&|| fs::write(&named, "").unwrap(), &named, "thread.0/file.1.2, which no test makes");
    let pipe = path.join("part.8");
    let make = || mknodat(CWD, &pipe, FileType::Fifo, Mode::RUSR, 0).unwrap();
    refused(&make, &pipe, "part.8, which no test makes");
    assert!(remove(&path, None).is_ok());
    assert_eq!(fs::read_to_string(elsewhere.join("file.0.0.0")).unwrap(), "precious");
}

#[test]
fn a_data_set_and_its_copies_are_removed_whatever_their_names_are_and_what_lies_beside_them_is_not() {
    let parent = tempfile::tempdir().unwrap();
    let made = |bench: &str, number: u64| {
        let path = parent.path().join(name(bench, number));
        for place in ["set", "copy0/set/d 1"] {
            fs::create_dir_all(path.join(place)).unwrap();
            fs::write(path.join(place).join("two\nlines"), "abc").unwrap();
        }
        fs::write(path.join("copy0/set/.file0000001.Xy12"), "ab").unwrap();
        fs::hard_link(path.join("set/two\nlines"), path.join("set/hard")).unwrap();
        symlink(parent.path(), path.join("copy0/set/link")).unwrap();
        write(&path, &Manifest { process: 999_999_999, ..Manifest::of_this_process(bench) });
        path
    };
    for bench in ["transfer.move", "transfer.dataset"] {
        let path = made(bench, 1);
        let foreign = path.join("copies");
        fs::create_dir(&foreign).unwrap();
        assert!(remove(&path, None).expect_err(bench).contains("copies, which no test makes"));
        assert!(path.join("set/hard").exists(), "{bench}");
        fs::remove_dir(&foreign).unwrap();
        let pipe = path.join("set/pipe");
        mknodat(CWD, &pipe, FileType::Fifo, Mode::RUSR, 0).unwrap();
        assert!(inside(&path).expect_err(bench).contains("set/pipe, which no test makes"));
        fs::remove_file(&pipe).unwrap();
        let removed = remove(&path, None).expect(bench);
        assert_eq!((removed.files, path.exists()), (6, false), "{bench}");
        assert!(parent.path().exists());
    }
    let other = made(BENCH, 2);
    assert!(remove(&other, None).expect_err("strange").contains("which no test makes"));
}

#[test]
fn what_only_has_a_name_of_ours_is_strange_and_other_names_are_not_looked_at() {
    let parent = tempfile::tempdir().unwrap();
    let target = left(&parent.path().join("below"), 5);
    for ignored in
        [".seatrial-metadata-12", ".seatrial-0123456789abcdef", ".seatrial-x-0123456789ABCDEF", "seatrial"]
    {
        fs::create_dir(parent.path().join(ignored)).unwrap();
    }
    assert_eq!(find(parent.path()).unwrap(), []);
    let path = parent.path().join(name(BENCH, 5));
    let strange = |word: &str| match standing(parent.path()) {
        Standing::Strange(why) => assert!(why.contains(word), "no '{word}' in: {why}"),
        other => panic!("{other:?}"),
    };
    symlink(&target, &path).unwrap();
    strange("it is a link");
    assert!(remove(&path, None).is_err(), "a link is not followed");
    assert!(target.join("part.0").exists());
    fs::remove_file(&path).unwrap();
    fs::write(&path, "").unwrap();
    strange("it is not a folder");
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    assert_eq!(standing(parent.path()), Standing::Alive, "its manifest may be about to be written");
    fs::write(path.join(MANIFEST), "").unwrap();
    assert_eq!(standing(parent.path()), Standing::Alive, "it is being written");
    let old = fs::FileTimes::new().set_modified(std::time::SystemTime::now() - 2 * YOUNG);
    fs::File::open(&path).unwrap().set_times(old).unwrap();
    assert_eq!(standing(parent.path()), Standing::Abandoned, "nobody will write it any more");
    fs::remove_file(path.join(MANIFEST)).unwrap();
    fs::write(path.join("part.0"), "").unwrap();
    strange("its manifest seatrial.json cannot be read");
    symlink(target.join(MANIFEST), path.join(MANIFEST)).unwrap();
    strange("its manifest seatrial.json cannot be read");
    fs::remove_file(path.join(MANIFEST)).unwrap();
    fs::write(path.join(MANIFEST), "{}").unwrap();
    strange("is not a manifest");
    write(&path, &Manifest { made_by: "somebody".to_owned(), ..Manifest::of_this_process(BENCH) });
    strange("'somebody' made it");
    write(&path, &Manifest { process: 999_999_999, ..Manifest::of_this_process("storage.peer_read") });
    strange("its manifest is one of storage.peer_read");
}
