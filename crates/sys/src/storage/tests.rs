//! Both engines on files of their own.

use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{Timespec, Timestamps, fstat, futimens};
use rustix::io::{Errno, pread, pwrite};

use super::*;
use crate::memory::{MapRequest, Mapping, Pages, Place};
use crate::root::SysRoot;

const BLOCK: usize = 4096;

fn buffers(count: usize) -> Buffers {
    let bytes = Buffers::needed(BLOCK, count);
    let request = MapRequest { bytes, cap_bytes: 2 * bytes, pages: &[Pages::Base], place: Place::Local };
    Buffers::new(Mapping::map(&request).expect("memory"), BLOCK)
}

fn file() -> OwnedFd {
    tempfile::tempfile().expect("a file").into()
}

fn engines(slots: usize, make: impl Fn() -> Vec<OwnedFd>) -> Vec<Box<dyn Engine>> {
    let mut all: Vec<Box<dyn Engine>> = vec![Box::new(Sync::new(make(), buffers(slots)))];
    match Ring::new(slots, false) {
        Ok(ring) => {
            let uring = Uring::new(ring, make(), buffers(slots));
            assert_eq!(uring.setup().fixed_files, Ok(()));
            all.push(Box::new(uring));
        }
        Err(errno) => {
            #[expect(clippy::print_stdout, reason = "says what was not tested")]
            {
                println!("skipped: no io_uring: {errno}");
            }
        }
    }
    all
}

fn request(slot: usize, operation: Operation, offset: u64) -> Request {
    Request { slot, file: 0, operation, offset, bytes: BLOCK }
}

fn all_of(engine: &mut dyn Engine) -> Vec<Completion> {
    let mut done = Vec::new();
    while engine.under_way() > 0 {
        engine.wait(1, &mut done).expect("works");
    }
    done.sort_by_key(|completion| completion.slot);
    done
}

#[test]
fn both_engines_read_what_they_wrote_in_whatever_order() {
    for mut engine in engines(8, || vec![file()]) {
        let places = [3_u64, 0, 7, 1, 6, 2, 5, 4];
        for (slot, place) in places.into_iter().enumerate() {
            engine.buffer(slot).fill(place as u8 + 1);
            engine.queue(request(slot, Operation::Write, place * BLOCK as u64));
        }
        engine.hand_over().expect("works");
        assert!(all_of(&mut *engine).iter().all(|one| one.result == Ok(BLOCK)), "{}", engine.name());
        for slot in 0..8 {
            engine.buffer(slot).fill(0);
            engine.queue(request(slot, Operation::Read, slot as u64 * BLOCK as u64));
        }
        assert_eq!(all_of(&mut *engine).len(), 8);
        for slot in 0..8 {
            assert!(engine.buffer(slot).iter().all(|byte| *byte == slot as u8 + 1), "{}", engine.name());
        }
        assert_eq!(engine.slots(), 8);
    }
}

#[test]
fn the_end_of_the_file_and_a_refusal_are_told_alike() {
    let short = || {
        let file = file();
        pwrite(&file, &[9; BLOCK / 2], 0).expect("written");
        let read_only = rustix::fs::open("/dev/null", rustix::fs::OFlags::RDONLY, rustix::fs::Mode::empty());
        vec![file, read_only.expect("opened")]
    };
    for mut engine in engines(3, short) {
        engine.queue(request(0, Operation::Read, 0));
        engine.queue(request(1, Operation::Read, 1 << 20));
        engine.queue(Request { file: 1, ..request(2, Operation::Write, 0) });
        let results: Vec<_> = all_of(&mut *engine).iter().map(|one| one.result).collect();
        assert_eq!(results, [Ok(BLOCK / 2), Ok(0), Err(Errno::BADF)], "{}", engine.name());
    }
}

#[test]
fn one_buffer_carries_data_from_one_file_to_another() {
    let pair = || {
        let files = vec![file(), file()];
        pwrite(&files[0], &[5; BLOCK], 0).expect("written");
        files
    };
    for mut engine in engines(1, pair) {
        engine.queue(request(0, Operation::Read, 0));
        all_of(&mut *engine);
        engine.queue(Request { file: 1, ..request(0, Operation::Write, 0) });
        all_of(&mut *engine);
        engine.buffer(0).fill(0);
        engine.queue(Request { file: 1, ..request(0, Operation::Read, 0) });
        all_of(&mut *engine);
        let name = engine.name();
        assert_eq!(engine.buffer(0), [5; BLOCK], "{name}");
    }
}

#[test]
#[should_panic(expected = "under way")]
fn a_slot_under_way_is_out_of_reach() {
    let Ok(ring) = Ring::new(1, false) else { panic!("under way") };
    let mut engine = Uring::new(ring, vec![file()], buffers(1));
    engine.queue(request(0, Operation::Read, 0));
    engine.buffer(0);
}

#[test]
fn memory_outlives_an_engine_that_is_dropped_at_work() {
    let (read, _write) = rustix::pipe::pipe().expect("a pipe");
    let Ok(ring) = Ring::new(1, false) else { return };
    let mut engine = Uring::new(ring, vec![read], buffers(1));
    let address = engine.buffer(0).as_ptr().addr();
    engine.queue(request(0, Operation::Read, u64::MAX));
    engine.hand_over().expect("works");
    drop(engine);
    let maps = std::fs::read_to_string("/proc/self/maps").expect("maps");
    assert!(maps.contains(&format!("{address:x}-")), "the kernel may still write there");
}

#[test]
fn a_scratch_file_has_no_name_and_can_be_had_directly_or_says_why() {
    // The working tree: the directory for temporary files is often in memory.
    let folder = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).expect("a folder");
    let at = std::fs::File::open(folder.path()).expect("opened");
    let (file, hiding) = scratch(&at, true).expect("made");
    assert_eq!(std::fs::read_dir(folder.path()).expect("listed").count(), 0, "{}", hiding.word());
    pwrite(&file, &[3; 8192], 0).expect("written");
    match direct(&SysRoot::live(), &file) {
        Ok(found) => {
            assert!(found.offset.is_power_of_two() && found.memory >= 1, "{found:?}");
            let mut room = vec![0; 3 * BLOCK];
            let start = BLOCK - room.as_ptr().addr() % BLOCK;
            assert_eq!(pread(&file, &mut room[start..start + BLOCK], 0), Ok(BLOCK));
            assert_eq!(room[start], 3);
            buffered(&file).expect("taken back");
            assert_eq!(pread(&file, &mut room[1..11], 1), Ok(10), "now unaligned ones go through as well");
        }
        Err(why) => assert!(!why.to_string().is_empty()),
    }
    assert!(scratch(std::fs::File::open("/proc").expect("opened").as_fd(), false).is_err());
}

#[test]
fn a_removed_directory_takes_no_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = std::fs::File::open(folder.path()).expect("opened");
    folder.close().expect("removed");
    assert_eq!(scratch(&at, true).expect_err("gone"), Errno::NOENT);
}

#[test]
fn reads_leave_the_time_of_last_access_alone_when_they_are_told_to() {
    let file = file();
    pwrite(&file, b"text", 0).expect("written");
    without_access_times(&file).expect("our own file");
    // Older than the last change: with `relatime` (mount(8)) the next read would update it.
    let old = Timespec { tv_sec: 1_000_000, tv_nsec: 0 };
    let times =
        Timestamps { last_access: old, last_modification: Timespec { tv_sec: 2_000_000, tv_nsec: 0 } };
    futimens(&file, &times).expect("set");
    pread(&file, &mut [0; 4], 0).expect("read");
    assert_eq!(fstat(&file).expect("told").st_atime, 1_000_000);
}

#[test]
fn a_file_with_a_hole_has_an_extent_more_where_the_file_system_tells() {
    // The working tree: the directory for temporary files is often in memory.
    let folder = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).expect("a folder");
    let file = std::fs::File::create_new(folder.path().join("sparse")).expect("made");
    match extents(&file) {
        Ok(found) => assert_eq!(found, 0, "an empty file"),
        Err(errno) => {
            return assert!([Errno::OPNOTSUPP, Errno::NOTTY].contains(&errno), "{errno}");
        }
    }
    pwrite(&file, &[1; BLOCK], 0).expect("written");
    pwrite(&file, &[1; BLOCK], 1 << 30).expect("written");
    assert!(extents(&file).expect("told") >= 2);
}
