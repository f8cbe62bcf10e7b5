//! Sources that change or cannot be read, targets that cannot be written, and others in the way.

use std::fs;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use seatrial_mover::{BLOCK, ControlChannel, CopyOptions, Progress, Reach, roots, send, serve};

use crate::rig::{BoundByPermissions, WAYS, Way, copied, copy, has_partial, listed, make_tree, noise};

#[test]
fn a_link_in_the_target_that_leads_out_of_it_is_not_followed() {
    for way in WAYS {
        let folder = tempfile::tempdir().expect("a folder");
        let (tree, target, outside) =
            (folder.path().join("tree"), folder.path().join("target"), folder.path().join("outside"));
        fs::create_dir_all(tree.join("below")).expect("made");
        fs::write(tree.join("below/file"), "content").expect("written");
        fs::write(tree.join("name"), "content").expect("written");
        fs::create_dir(&target).expect("made");
        fs::create_dir(&outside).expect("made");
        fs::write(outside.join("victim"), "keep").expect("written");
        symlink(&outside, target.join("below")).expect("linked");
        symlink(outside.join("victim"), target.join("name")).expect("linked");
        let counts = copied(way, &[tree.join("")], &target, CopyOptions::default());
        assert!(counts.failures.iter().any(|failure| failure.path == b"below/file"), "{:?}", counts.failures);
        assert!(
            counts.failures[0].text.contains("symbolic link stands in the place"),
            "{:?}",
            counts.failures
        );
        // The link with the name of a file is replaced, and what it leads to is left alone.
        assert_eq!(fs::read_dir(&outside).expect("listed").count(), 1, "{way:?}");
        assert_eq!(fs::read(outside.join("victim")).expect("there"), b"keep");
        assert_eq!(fs::read(target.join("name")).expect("there"), b"content");
        assert!(!fs::symlink_metadata(target.join("name")).expect("there").is_symlink());
    }
}

#[test]
fn a_file_that_cannot_be_read_or_stored_does_not_stop_the_others() {
    for way in WAYS {
        let folder = tempfile::tempdir().expect("a folder");
        let (tree, target) = (folder.path().join("tree"), folder.path().join("target"));
        fs::create_dir_all(&tree).expect("made");
        for number in 0..100 {
            fs::write(tree.join(format!("file{number}")), noise(number, 3000)).expect("written");
        }
        fs::create_dir_all(target.join("file7")).expect("made");
        fs::set_permissions(tree.join("file9"), PermissionsExt::from_mode(0o000)).expect("set");
        let _bound = BoundByPermissions::new();
        let counts = copied(way, &[tree.join("")], &target, CopyOptions::default());
        assert_eq!((counts.files, counts.failures.len()), (98, 2), "{way:?}: {:?}", counts.failures);
        for name in ["file7", "file9"] {
            let told = counts.failures.iter().any(|failure| failure.to_string().contains(name));
            assert!(told, "{:?}", counts.failures);
        }
        assert!(!has_partial(&target), "{way:?}");
    }
}

/// Ends the thread that watches the flag, also when a test fails.
struct Ending<'a>(&'a AtomicBool);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn a_file_that_changes_while_it_is_copied_is_named_or_whole() {
    for way in WAYS {
        let folder = tempfile::tempdir().expect("a folder");
        let (tree, target, is_over) =
            (folder.path().join("tree"), folder.path().join("target"), AtomicBool::new(false));
        fs::create_dir(&tree).expect("made");
        fs::write(tree.join("log"), noise(1, 4 * BLOCK as usize)).expect("written");
        fs::write(tree.join("small"), "small").expect("written");
        thread::scope(|scope| {
            let _ending = Ending(&is_over);
            scope.spawn(|| {
                let mut file = fs::File::options().append(true).open(tree.join("log")).expect("opened");
                // Not for ever: the file would fill the disk if the copy hung.
                for _ in 0..100_000 {
                    if is_over.load(Ordering::Relaxed) {
                        break;
                    }
                    file.write_all(b"one more line\n").expect("written");
                    thread::yield_now();
                }
            });
            let counts = copied(way, &[tree.join("")], &target, CopyOptions::default());
            assert_eq!(fs::read(target.join("small")).expect("there"), b"small");
            let is_named = counts.failures.iter().any(|failure| failure.text.contains("changed while"));
            let is_there = target.join("log").exists();
            assert!(is_named != is_there, "{way:?}: {:?}", counts.failures);
        });
    }
}

#[test]
fn files_that_vanish_are_named_and_the_others_arrive() {
    for way in WAYS {
        let folder = tempfile::tempdir().expect("a folder");
        let (tree, target) = (folder.path().join("tree"), folder.path().join("target"));
        fs::create_dir(&tree).expect("made");
        for number in 0..600 {
            fs::write(tree.join(format!("{number}")), noise(number, 100)).expect("written");
        }
        thread::scope(|scope| {
            scope.spawn(|| {
                for number in (0..600).rev().step_by(3) {
                    fs::remove_file(tree.join(format!("{number}"))).expect("removed");
                }
            });
            let counts = copied(way, &[tree.join("")], &target, CopyOptions::default());
            let others = |failure: &&seatrial_mover::Failure| !failure.text.contains("vanished");
            assert_eq!(counts.failures.iter().find(others), None, "{way:?}");
        });
        for number in (0..600).filter(|number| (599 - number) % 3 != 0) {
            assert_eq!(fs::read(target.join(format!("{number}"))).expect("there"), noise(number, 100));
        }
    }
}

#[test]
fn two_copies_into_one_target_leave_whole_files() {
    for way in WAYS {
        let folder = tempfile::tempdir().expect("a folder");
        let (tree, target) = (folder.path().join("tree"), folder.path().join("target"));
        make_tree(&tree);
        fs::write(tree.join("larger"), noise(8, 20 * BLOCK as usize)).expect("written");
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    let counts = copied(way, &[tree.join("")], &target, CopyOptions::default());
                    for failure in counts.failures {
                        assert!(failure.text.contains("another copy"), "{way:?}: {failure}");
                    }
                });
            }
        });
        let counts = copied(way, &[tree.join("")], &target, CopyOptions::default());
        assert_eq!(counts.failures, []);
        assert_eq!(listed(&target), listed(&tree), "{way:?}");
    }
}

#[test]
fn a_directory_is_not_copied_into_itself() {
    let folder = tempfile::tempdir().expect("a folder");
    let tree = folder.path().join("tree");
    make_tree(&tree);
    let before = listed(&tree);
    for (source, target) in [("", "sub"), ("", "plain/deep/new"), (".", "sub")] {
        let (source, to) = (tree.join(source), tree.join(target));
        let to = to.as_os_str().as_encoded_bytes();
        let copied = copy(Way::Here, &[source], to, CopyOptions::default(), &Progress::default());
        let text = copied.expect_err("refused").to_string();
        assert!(text.contains("would be copied into itself; choose a target outside of it"), "{text}");
        assert_eq!(listed(&tree), before, "nothing was made");
    }
    // Where it lies: everything is there.
    let counts = copied(Way::Here, std::slice::from_ref(&tree), folder.path(), CopyOptions::default());
    assert_eq!((counts.files, counts.failures), (0, vec![]));
    assert_eq!(listed(&tree), before);
}

#[test]
fn a_target_that_is_no_directory_is_refused_with_a_reason() {
    let folder = tempfile::tempdir().expect("a folder");
    let (tree, file) = (folder.path().join("tree"), folder.path().join("file"));
    fs::create_dir(&tree).expect("made");
    fs::write(&file, "keep").expect("written");
    for way in WAYS {
        let target = file.as_os_str().as_encoded_bytes();
        let refused =
            copy(way, std::slice::from_ref(&tree), target, CopyOptions::default(), &Progress::default());
        let text = refused.expect_err("refused").to_string();
        assert!(text.contains("is no directory; choose another target"), "{text}");
        assert_eq!(fs::read(&file).expect("there"), b"keep");
    }
    assert!(roots(&[folder.path().join("none")]).is_err());
}

/// A control channel on which a client learns the port, but not the key, and connects first.
struct WithoutKey<'a> {
    from: &'a UnixStream,
    heard: Vec<u8>,
    calls: Vec<TcpStream>,
}

impl Read for WithoutKey<'_> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let read = self.from.read(into)?;
        self.heard.extend_from_slice(&into[..read]);
        let text = String::from_utf8_lossy(&self.heard).into_owned();
        let port = text.split_once("\"port\":").and_then(|(_, rest)| rest.split_once(','));
        if let (Some((port, _)), true) = (port, self.calls.is_empty()) {
            let at = (Ipv4Addr::LOCALHOST, port.parse().expect("a port"));
            for number in 0..4 {
                let mut call = TcpStream::connect(at).expect("the port is open");
                if number % 2 == 0 {
                    call.write_all(&[7; 64]).expect("written");
                }
                self.calls.push(call);
            }
        }
        Ok(read)
    }
}

#[test]
fn connections_without_the_key_are_refused_and_the_copy_goes_on() {
    let folder = tempfile::tempdir().expect("a folder");
    let (tree, target) = (folder.path().join("tree"), folder.path().join("target"));
    make_tree(&tree);
    let (ours, theirs) = UnixStream::pair().expect("a pair");
    let receiving = thread::spawn(move || serve(&theirs, &theirs, Reach::Loopback));
    let mut client = WithoutKey { from: &ours, heard: Vec::new(), calls: Vec::new() };
    let control = ControlChannel { from: &mut client, to: &ours };
    let roots = roots(&[tree.join("")]).expect("there");
    let to = target.as_os_str().as_encoded_bytes();
    send(&roots, to, &CopyOptions::default(), control, &Progress::default()).expect("the copy ends");
    receiving.join().expect("joined").expect("received");
    assert_eq!(listed(&target), listed(&tree));
    assert_eq!(client.calls.len(), 4);
    for mut call in client.calls {
        // A nonce is all that a listener says to whom proves nothing, and the connection ends.
        let mut answer = Vec::new();
        let _ = call.read_to_end(&mut answer);
        assert!(answer.len() <= 32, "a client without the key was told {} bytes", answer.len());
    }
}
