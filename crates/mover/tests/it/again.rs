//! Copies over what an earlier one completed.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, lchown, symlink};
use std::path::Path;

use rustix::fs::{AtFlags, CWD, Timespec, Timestamps, XattrFlags, getxattr, setxattr, utimensat};
use seatrial_mover::{BLOCK, CopyOptions, temporary_name};

use crate::rig::{BoundByPermissions, WAYS, copied, has_partial, listed, noise, skipped};

const NOBODY: u32 = 65_534;

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, PermissionsExt::from_mode(mode)).expect("set");
}

/// Gives the directories of the test these permissions, those above last.
fn set_modes(tree: &Path, mode: u32) {
    for below in ["read only/below", "read only", ""] {
        set_mode(&tree.join(below), mode);
    }
}

#[test]
fn what_is_new_below_read_only_directories_comes_too() {
    let folder = tempfile::tempdir().expect("a folder");
    for way in WAYS {
        let tree = folder.path().join(format!("tree {way:?}"));
        let target = folder.path().join(format!("{way:?}"));
        fs::create_dir_all(tree.join("read only/below")).expect("made");
        fs::write(tree.join("read only/changes"), "old").expect("written");
        set_modes(&tree, 0o555);
        let copy = || {
            let bound = BoundByPermissions::new();
            let counts = copied(way, &[tree.join("")], &target, CopyOptions::default());
            drop(bound);
            assert_eq!(counts.failures, [], "{way:?}");
            assert_eq!(listed(&target), listed(&tree), "{way:?}");
            assert_eq!(fs::metadata(&target).expect("there").mode() & 0o7777, 0o555, "{way:?}");
            assert!(!has_partial(&target));
        };
        copy();
        set_modes(&tree, 0o755);
        fs::write(tree.join("top"), "new").expect("written");
        fs::write(tree.join("read only/changes"), "changed").expect("written");
        fs::write(tree.join("read only/below/large"), noise(1, 2 * BLOCK as usize)).expect("written");
        fs::create_dir(tree.join("read only/below/new")).expect("made");
        symlink("nowhere", tree.join("read only/link")).expect("linked");
        // An earlier copy left a part of it behind.
        set_modes(&target, 0o755);
        fs::write(target.join("read only/below").join(temporary_name(b"large")), "part").expect("written");
        set_modes(&target, 0o555);
        set_modes(&tree, 0o555);
        copy();
        set_modes(&tree, 0o755);
        set_modes(&target, 0o755);
    }
}

#[test]
fn a_read_only_target_of_something_else_stays_so() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("file");
    fs::write(&file, "content").expect("written");
    for way in WAYS {
        let target = folder.path().join(format!("{way:?}"));
        fs::create_dir(&target).expect("made");
        set_mode(&target, 0o555);
        let bound = BoundByPermissions::new();
        let counts = copied(way, std::slice::from_ref(&file), &target, CopyOptions::default());
        drop(bound);
        assert_eq!(counts.failures.len(), 1, "{way:?}");
        assert_eq!(fs::metadata(&target).expect("there").mode() & 0o7777, 0o555);
        set_mode(&target, 0o755);
    }
}

#[test]
fn preserve_gives_files_that_are_there_their_extended_attributes() {
    let folder = tempfile::tempdir().expect("a folder");
    let tree = folder.path().join("tree");
    fs::create_dir(&tree).expect("made");
    for (name, bytes) in [("small", 100), ("large", 2 * BLOCK as usize + 1)] {
        fs::write(tree.join(name), noise(3, bytes)).expect("written");
        if let Err(errno) = setxattr(tree.join(name), "user.origin", b"here", XattrFlags::empty()) {
            skipped(&format!("the file system of {} takes no attributes: {errno}", tree.display()));
            return;
        }
    }
    for way in WAYS {
        let target = folder.path().join(format!("{way:?}"));
        copied(way, &[tree.join("")], &target, CopyOptions::default());
        let preserve = CopyOptions { preserve: true, ..CopyOptions::default() };
        let dry = copied(way, &[tree.join("")], &target, CopyOptions { dry_run: Some(|_| ()), ..preserve });
        assert_eq!((dry.files, dry.unchanged), (0, 2), "{way:?}");
        let counts = copied(way, &[tree.join("")], &target, preserve);
        assert_eq!((counts.files, counts.unchanged, counts.moved), (0, 2, 0), "{way:?}");
        for name in ["small", "large"] {
            let mut value = [0; 4];
            getxattr(target.join(name), "user.origin", &mut value[..]).expect("there");
            assert_eq!(&value, b"here", "{way:?} {name}");
        }
        assert_eq!(listed(&target), listed(&tree), "{way:?}");
    }
}

#[test]
fn links_get_their_time_and_with_preserve_their_owner_even_those_that_are_there() {
    let folder = tempfile::tempdir().expect("a folder");
    let tree = folder.path().join("tree");
    fs::create_dir(&tree).expect("made");
    symlink("nowhere", tree.join("link")).expect("linked");
    let is_root = match lchown(tree.join("link"), Some(NOBODY), Some(NOBODY)) {
        Ok(()) => true,
        Err(error) => {
            skipped(&format!("needs root: {error}"));
            false
        }
    };
    let time = Timespec { tv_sec: 1_000_000_000, tv_nsec: 0 };
    let times = Timestamps { last_access: time, last_modification: time };
    utimensat(CWD, tree.join("link"), &times, AtFlags::SYMLINK_NOFOLLOW).expect("set");
    for way in WAYS {
        for is_there in [false, true] {
            let target = folder.path().join(format!("{way:?} {is_there}"));
            fs::create_dir(&target).expect("made");
            if is_there {
                symlink("nowhere", target.join("link")).expect("linked");
            }
            let options = CopyOptions { preserve: is_root, ..CopyOptions::default() };
            assert_eq!(copied(way, &[tree.join("")], &target, options).failures, []);
            let of = |root: &Path| {
                let about = fs::symlink_metadata(root.join("link")).expect("there");
                (about.mtime(), about.uid(), about.gid())
            };
            assert_eq!(of(&target), of(&tree), "{way:?} {is_there}");
        }
    }
}
