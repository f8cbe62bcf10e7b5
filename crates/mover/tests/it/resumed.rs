//! Copies that go on with what an interrupted one left.

use std::fs;
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use seatrial_mover::{BLOCK, CopyOptions, Progress, temporary_name};

use crate::rig::{BoundByPermissions, WAYS, Way, copied, copy, has_partial, listed, make_tree, noise};

#[test]
fn a_partial_file_goes_on_where_it_was_cut() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("file");
    let content = noise(1, 20 * BLOCK as usize + 5);
    fs::write(&file, &content).expect("written");
    for way in WAYS {
        let target = folder.path().join(format!("{way:?}"));
        fs::create_dir(&target).expect("made");
        // As a receiver leaves it that was killed: 12 blocks and a half one, of which block 3 is of an older content.
        let left = target.join(temporary_name(b"file"));
        fs::write(&left, &content[..12 * BLOCK as usize + 700]).expect("written");
        fs::File::options()
            .write(true)
            .open(&left)
            .and_then(|left| left.write_all_at(b"old", 3 * BLOCK + 9))
            .expect("written");
        let counts = copied(way, std::slice::from_ref(&file), &target, CopyOptions::default());
        assert_eq!((counts.files, counts.failures.len()), (1, 0), "{way:?}");
        assert!(fs::read(target.join("file")).expect("there") == content, "{way:?}");
        // At most the half block and the old one are moved again; the kernel's copy goes on from the first difference.
        let most = if way == Way::Here { 18 * BLOCK } else { 10 * BLOCK };
        assert!(counts.moved < most, "{way:?} moved {} blocks", counts.moved / BLOCK);
    }
}

#[test]
fn a_partial_file_that_its_owner_cannot_write_is_no_obstacle() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("file");
    let content = noise(2, 2 * BLOCK as usize);
    fs::write(&file, &content).expect("written");
    for way in WAYS {
        let target = folder.path().join(format!("{way:?}"));
        fs::create_dir(&target).expect("made");
        // As a copy leaves it that was killed after it had set the permissions.
        let left = target.join(temporary_name(b"file"));
        fs::write(&left, &content[..7]).expect("written");
        fs::set_permissions(&left, PermissionsExt::from_mode(0o444)).expect("set");
        let bound = BoundByPermissions::new();
        let counts = copied(way, std::slice::from_ref(&file), &target, CopyOptions::default());
        drop(bound);
        assert_eq!(counts.failures, [], "{way:?}");
        assert!(fs::read(target.join("file")).expect("there") == content, "{way:?}");
        assert!(!has_partial(&target));
    }
}

#[test]
fn nothing_old_stays_in_the_holes_of_a_resumed_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("file");
    let sparse = fs::File::create(&file).expect("made");
    sparse.set_len(6 * BLOCK).expect("set");
    sparse.write_all_at(b"end", 6 * BLOCK - 3).expect("written");
    // Full of something else: longer than the file, and shorter than the first block that could have a hash.
    for (way, left) in WAYS.iter().flat_map(|way| [(*way, 7 * BLOCK as usize), (*way, 70_000)]) {
        let target = folder.path().join(format!("{way:?} {left}"));
        fs::create_dir(&target).expect("made");
        fs::write(target.join(temporary_name(b"file")), noise(3, left)).expect("written");
        copied(way, std::slice::from_ref(&file), &target, CopyOptions::default());
        let is_same = fs::read(target.join("file")).expect("there") == fs::read(&file).expect("there");
        assert!(is_same, "{way:?} over {left} bytes");
    }
}

#[test]
fn a_copy_that_was_stopped_anywhere_is_completed_by_the_next() {
    let folder = tempfile::tempdir().expect("a folder");
    let tree = folder.path().join("tree");
    make_tree(&tree);
    fs::write(tree.join("larger"), noise(5, 30 * BLOCK as usize)).expect("written");
    for way in WAYS {
        let target = folder.path().join(format!("{way:?}"));
        for round in 0..4_u64 {
            let progress = Progress::default();
            let options = CopyOptions::default();
            thread::scope(|scope| {
                scope.spawn(|| {
                    thread::sleep(Duration::from_millis(round * 7));
                    progress.stop.store(true, Ordering::Relaxed);
                });
                // Stopped or complete, as it comes.
                let _ =
                    copy(way, &[tree.join("")], target.as_os_str().as_encoded_bytes(), options, &progress);
            });
            assert_eq!(progress.take_failures(), [], "{way:?}");
            // What has its final name is whole.
            let whole = listed(&tree);
            for line in listed(&target).iter().filter(|line| !line.contains(".seatrial-copy-")) {
                let is_directory = line.contains(" 4");
                assert!(is_directory || whole.contains(line), "{way:?}: {line}");
            }
        }
        let counts = copied(way, &[tree.join("")], &target, CopyOptions::default());
        assert_eq!(counts.failures, []);
        assert_eq!(listed(&target), listed(&tree), "{way:?}");
        assert!(!has_partial(&target));
    }
}
