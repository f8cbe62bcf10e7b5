//! Whole trees, and copying them again.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::PathBuf;

use seatrial_mover::{BLOCK, CopyOptions, Progress, Window};

use crate::rig::{
    BoundByPermissions, WAYS, Way, copied, copy, has_partial, listed, make_tree, noise, skipped,
};

#[test]
fn a_tree_arrives_with_all_its_names_links_modes_and_times() {
    let folder = tempfile::tempdir().expect("a folder");
    let tree = folder.path().join("tree");
    make_tree(&tree);
    for way in WAYS {
        let target = folder.path().join(format!("{way:?}"));
        let counts = copied(way, std::slice::from_ref(&tree), &target, CopyOptions::default());
        assert_eq!(counts.failures, [], "{way:?}");
        assert_eq!(listed(&target.join("tree")), listed(&tree), "{way:?}");
        assert!(!has_partial(&target));
        let has_hole = |path: PathBuf| fs::metadata(path).expect("there").blocks() * 512 < 8 * BLOCK;
        // Not every file system has holes.
        assert!(
            has_hole(target.join("tree/sparse")) || !has_hole(tree.join("sparse")),
            "the hole was filled"
        );
        // All is there: nothing is moved again.
        let again = copied(way, std::slice::from_ref(&tree), &target, CopyOptions::default());
        assert_eq!((again.files, again.moved, again.unchanged), (0, 0, counts.files), "{way:?}");
    }
}

#[test]
fn the_contents_of_a_directory_go_into_the_target() {
    let folder = tempfile::tempdir().expect("a folder");
    let tree = folder.path().join("tree");
    make_tree(&tree);
    for way in WAYS {
        let target = folder.path().join(format!("{way:?}"));
        copied(way, &[tree.join("")], &target, CopyOptions::default());
        assert_eq!(listed(&target), listed(&tree), "{way:?}");
    }
}

#[test]
fn one_file_gets_the_name_of_the_target() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("file");
    fs::write(&file, "content").expect("written");
    for way in WAYS {
        let (target, into) =
            (folder.path().join(format!("new {way:?}")), folder.path().join(format!("{way:?}")));
        for _ in 0..2 {
            copied(way, std::slice::from_ref(&file), &target, CopyOptions::default());
            assert_eq!(fs::read(&target).expect("there"), b"content");
            copied(way, std::slice::from_ref(&file), &into.join(""), CopyOptions::default());
            assert_eq!(fs::read(into.join("file")).expect("there"), b"content");
        }
    }
}

#[test]
fn files_that_differ_are_copied_and_others_are_not() {
    let folder = tempfile::tempdir().expect("a folder");
    let tree = folder.path().join("tree");
    fs::create_dir(&tree).expect("made");
    for number in 0..5 {
        fs::write(tree.join(format!("small{number}")), noise(number, 1000)).expect("written");
    }
    fs::write(tree.join("large"), noise(9, 2 * BLOCK as usize + 1)).expect("written");
    for way in WAYS {
        let target = folder.path().join(format!("{way:?}"));
        let copy = |options| copied(way, &[tree.join("")], &target, options);
        copy(CopyOptions::default());
        fs::write(tree.join("small1"), noise(100, 1001)).expect("written");
        fs::set_permissions(tree.join("small2"), PermissionsExt::from_mode(0o604)).expect("set");
        let counts = copy(CopyOptions::default());
        assert_eq!((counts.files, counts.unchanged, counts.moved > 0), (1, 5, true), "{way:?}");
        assert_eq!(listed(&target), listed(&tree));
        // Damage that neither size nor time shows is found by content only.
        for name in ["small3", "large"] {
            let (path, source) = (target.join(name), fs::metadata(tree.join(name)).expect("there"));
            let mut content = fs::read(&path).expect("there");
            content[17] ^= 1;
            fs::write(&path, content).expect("written");
            let file = fs::File::options().write(true).open(&path).expect("opened");
            file.set_modified(source.modified().expect("known")).expect("set");
        }
        assert_eq!(copy(CopyOptions::default()).files, 0);
        let counts = copy(CopyOptions { checksum: true, ..CopyOptions::default() });
        assert_eq!((counts.files, counts.unchanged), (2, 4), "{way:?}");
        assert_eq!(listed(&target), listed(&tree));
        // The same content with another time: the time is set, and nothing moved.
        fs::File::open(target.join("small4"))
            .and_then(|file| file.set_modified(std::time::UNIX_EPOCH))
            .expect("set");
        let counts = copy(CopyOptions { checksum: true, ..CopyOptions::default() });
        assert_eq!((counts.files, counts.unchanged, counts.moved), (0, 6, 0), "{way:?}");
        assert_eq!(listed(&target), listed(&tree));
    }
}

#[test]
fn a_dry_run_writes_nothing_and_counts_what_would_be_copied() {
    let folder = tempfile::tempdir().expect("a folder");
    let tree = folder.path().join("tree");
    make_tree(&tree);
    for way in WAYS {
        let target = folder.path().join(format!("{way:?}"));
        let dry = CopyOptions { dry_run: Some(|_| ()), ..CopyOptions::default() };
        let all = copied(way, std::slice::from_ref(&tree), &target, dry);
        assert!(!target.exists(), "{way:?}");
        let done = copied(way, std::slice::from_ref(&tree), &target, CopyOptions::default());
        assert_eq!(all.files, done.files, "{way:?}");
        fs::write(target.join("tree/block"), "another").expect("written");
        let before = listed(&target);
        assert_eq!(copied(way, std::slice::from_ref(&tree), &target, dry).files, 1, "{way:?}");
        assert_eq!(listed(&target), before);
    }
}

#[test]
fn extended_attributes_come_with_preserve_only() {
    let folder = tempfile::tempdir().expect("a folder");
    let tree = folder.path().join("tree");
    fs::create_dir(&tree).expect("made");
    fs::write(tree.join("file"), "content").expect("written");
    let flags = rustix::fs::XattrFlags::empty();
    if let Err(errno) = rustix::fs::setxattr(tree.join("file"), "user.origin", b"here", flags) {
        skipped(&format!("the file system of {} takes no attributes: {errno}", tree.display()));
        return;
    }
    rustix::fs::setxattr(&tree, "user.kind", b"a tree", flags).expect("set");
    let read = |path: PathBuf, name: &str| {
        let mut value = [0; 64];
        let length = rustix::fs::getxattr(path, name, &mut value[..]).ok()?;
        Some(value[..length].to_vec())
    };
    for way in WAYS {
        for preserve in [false, true] {
            let target = folder.path().join(format!("{way:?}{preserve}"));
            let counts =
                copied(way, &[tree.join("")], &target, CopyOptions { preserve, ..CopyOptions::default() });
            assert_eq!(counts.failures, []);
            let expected = |value: &[u8]| preserve.then(|| value.to_vec());
            assert_eq!(read(target.join("file"), "user.origin"), expected(b"here"), "{way:?}");
            assert_eq!(read(target.clone(), "user.kind"), expected(b"a tree"), "{way:?}");
        }
    }
}

#[test]
fn extended_attributes_of_a_file_that_its_owner_cannot_write_come_too() {
    let folder = tempfile::tempdir().expect("a folder");
    let tree = folder.path().join("tree");
    fs::create_dir(&tree).expect("made");
    let file = tree.join("file");
    fs::write(&file, "content").expect("written");
    let set = |value: &[u8]| {
        rustix::fs::setxattr(&file, "user.origin", value, rustix::fs::XattrFlags::empty())?;
        rustix::fs::setxattr(&tree, "user.origin", value, rustix::fs::XattrFlags::empty())
    };
    if let Err(errno) = set(b"here") {
        skipped(&format!("the file system of {} takes no attributes: {errno}", tree.display()));
        return;
    }
    let modes = |mode: u32, path: &std::path::Path| {
        fs::set_permissions(path, PermissionsExt::from_mode(mode)).expect("set");
    };
    for way in WAYS {
        let target = folder.path().join(format!("{way:?}"));
        // The second time the content is there already, in a file that nobody can write.
        for value in [b"here", b"more"] {
            set(value).expect("set");
            modes(0o444, &file);
            modes(0o555, &tree);
            let bound = BoundByPermissions::new();
            let options = CopyOptions { preserve: true, checksum: true, ..CopyOptions::default() };
            let counts = copied(way, &[tree.join("")], &target, options);
            drop(bound);
            modes(0o644, &file);
            modes(0o755, &tree);
            assert_eq!(counts.failures, [], "{way:?}");
            for (path, mode) in [(target.join("file"), 0o444), (target.clone(), 0o555)] {
                let mut there = [0; 4];
                rustix::fs::getxattr(&path, "user.origin", &mut there[..]).expect("there");
                assert_eq!(&there, value, "{way:?}");
                assert_eq!(fs::metadata(&path).expect("there").mode() & 0o7777, mode, "{way:?}");
            }
        }
        modes(0o755, &target);
    }
}

#[test]
fn thousands_of_files_in_many_directories_arrive() {
    let folder = tempfile::tempdir().expect("a folder");
    let tree = folder.path().join("tree");
    for directory in 0..40 {
        fs::create_dir_all(tree.join(format!("{}/{directory}", directory % 7))).expect("made");
        for file in 0..40_u64 {
            let content = noise(directory * 41 + file, (file * 13) as usize);
            fs::write(tree.join(format!("{}/{directory}/{file}", directory % 7)), content).expect("written");
        }
    }
    for way in [Way::Streams(4), Way::Here] {
        let target = folder.path().join(format!("{way:?}"));
        let counts = copied(way, &[tree.join("")], &target, CopyOptions::default());
        assert_eq!((counts.files, counts.bytes, counts.failures.len()), (1600, 40 * 13 * 780, 0));
        assert_eq!(listed(&target), listed(&tree));
    }
}

#[test]
fn the_buffers_of_the_connections_are_what_the_window_asks_for() {
    let folder = tempfile::tempdir().expect("a folder");
    let (tree, target) = (folder.path().join("tree"), folder.path().join("target"));
    make_tree(&tree);
    for (window, wanted) in [(Window::Auto, 0), (Window::Fixed(16 << 10), 32 << 10)] {
        let progress = Progress::default();
        let options = CopyOptions { window, ..CopyOptions::default() };
        let name = target.as_os_str().as_encoded_bytes();
        copy(Way::Streams(2), std::slice::from_ref(&tree), name, options, &progress).expect("copied");
        // The kernel doubles what is asked for (socket(7)).
        let [send, receive] = [&progress.send_buffer, &progress.receive_buffer].map(Progress::get);
        assert_eq!([send, receive], [wanted; 2], "{window:?}");
        assert_eq!(listed(&target.join("tree")), listed(&tree));
    }
}

#[test]
fn a_window_by_bandwidth_and_delay_needs_an_interface_that_tells_its_speed() {
    let folder = tempfile::tempdir().expect("a folder");
    let (tree, target) = (folder.path().join("tree"), folder.path().join("target"));
    make_tree(&tree);
    let options = CopyOptions { window: Window::BandwidthDelay, ..CopyOptions::default() };
    let (name, progress) = (target.as_os_str().as_encoded_bytes(), Progress::default());
    // The loopback has none.
    let error = copy(Way::Streams(2), std::slice::from_ref(&tree), name, options, &progress);
    let error = error.expect_err("refused");
    let text = "window bdp: the kernel does not tell the speed of the interface; give the window in bytes";
    assert_eq!(error.to_string(), text);
    assert!(!target.exists());
}
