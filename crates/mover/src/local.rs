//! Copies within one host: by the kernel, sharing blocks where the file system can.

use std::collections::VecDeque;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;

use rustix::fs::{FileType, copy_file_range, ioctl_ficlone};
use rustix::io::Errno;

use crate::block::BLOCK;
use crate::entry::{Entry, Root};
use crate::error::CopyError;
use crate::failure::{Failure, explained};
use crate::need::Need;
use crate::nested::refuse_into_itself;
use crate::options::CopyOptions;
use crate::progress::Progress;
use crate::receive::{Terms, keep_file, need_of, store_link};
use crate::record::{Record, RecordKind};
use crate::scan::{is_target_copied, only_file, renamed_roots, scan_with_directories};
use crate::source::{OpenedSource, attributes_of, data_from, link_target};
use crate::target::{Folders, Temporary, set_attributes, target_place};

/// Entries that wait; the scan waits beyond.
const MOST_WAITING: usize = 4096;

/// Bytes that the kernel copies at once, after which the copy can be stopped.
const KERNEL_PIECE: usize = 64 << 20;

/// Copies `roots` into `target` on this host.
///
/// # Errors
/// When the target cannot be used, or the copy was stopped. Single files that fail are told by `progress`.
pub fn copy_here(
    roots: &[Arc<Root>],
    target: &[u8],
    options: &CopyOptions,
    progress: &Progress,
) -> Result<(), CopyError> {
    refuse_into_itself(roots.iter().map(Arc::as_ref), target).map_err(CopyError::Refused)?;
    let only = only_file(roots);
    let place =
        target_place(target, only.as_deref(), options.dry_run.is_some()).map_err(CopyError::Refused)?;
    // Again: of a path with `..` behind a directory that was not there, only now is it known where it leads.
    let made = place.directory.as_os_str().as_bytes();
    refuse_into_itself(roots.iter().map(Arc::as_ref), made).map_err(CopyError::Refused)?;
    let failed = |error: io::Error| {
        CopyError::Refused(format!("{}: {}", place.directory.display(), explained("opening", &error)))
    };
    let folders = Folders::open(&place.directory, options.dry_run.is_some(), is_target_copied(roots))
        .map_err(failed)?;
    let roots = renamed_roots(roots, place.renamed);
    let (queue, mut directories) = (Queue::default(), Vec::new());
    thread::scope(|scope| {
        scope.spawn(|| {
            let put = |entries| queue.put(entries) && !progress.is_stopped();
            directories = scan_with_directories(&roots, progress, put);
            queue.end();
        });
        for _ in 0..options.streams.max(1) {
            let mut folders = folders.as_ref().map(Folders::again);
            let queue = &queue;
            scope.spawn(move || {
                while let Some(entry) = queue.take().filter(|_| !progress.is_stopped()) {
                    if let Err(failure) = copy_entry(&entry, folders.as_mut(), options, progress) {
                        progress.fail(failure);
                    }
                }
                queue.end();
            });
        }
    });
    if progress.is_stopped() {
        return Err(CopyError::Stopped);
    }
    if let (Some(mut folders), None) = (folders, options.dry_run) {
        for entry in directories.into_iter().rev() {
            if let Err(failure) = finish_directory(&entry, &mut folders, options) {
                progress.fail(failure);
            }
        }
    }
    Ok(())
}

fn finish_directory(entry: &Entry, folders: &mut Folders, options: &CopyOptions) -> Result<(), Failure> {
    let done = (|| {
        let attributes =
            if options.preserve { attributes_of(&std::fs::File::open(entry.source())?)? } else { Vec::new() };
        let directory = folders.directory(&entry.target(), true)?;
        set_attributes(&directory, &entry.stamp, &attributes, options.preserve)
    })();
    done.map_err(|error| Failure::of(entry.target(), "setting the attributes of the directory", &error))
}

fn copy_entry(
    entry: &Entry,
    folders: Option<&mut Folders>,
    options: &CopyOptions,
    progress: &Progress,
) -> Result<(), Failure> {
    let target = entry.target();
    let failed = |error: io::Error| Failure::of(&target, "storing in the target", &error);
    let record = |kind, attributes| Record { kind, path: &target, stamp: entry.stamp, attributes };
    let is_file = entry.stamp.file_type() == FileType::RegularFile;
    let Some(folders) = folders.filter(|_| options.dry_run.is_none() || is_file) else {
        if is_file {
            would_copy(entry, options, progress);
        }
        return Ok(());
    };
    match entry.stamp.file_type() {
        FileType::Directory => {
            folders.directory(&target, true).map_err(failed)?;
            Progress::add(&progress.others, 1);
        }
        FileType::Symlink => {
            let source = entry.source();
            let leads_to = link_target(&source)
                .map_err(|error| Failure::of(source.as_os_str().as_bytes(), "reading the link", &error))?;
            let link = record(RecordKind::Link, Vec::new());
            store_link(&link, &leads_to, folders, options.preserve).map_err(failed)?;
            Progress::add(&progress.others, 1);
        }
        _ => {
            let is_dry = options.dry_run.is_some();
            let terms = Terms { preserve: options.preserve, checksum: options.checksum, is_dry };
            let need = need_of(&target, &entry.stamp, folders, terms);
            if need == Some(Need::Nothing) {
                Progress::add(&progress.unchanged, 1);
                return Ok(());
            }
            let source = OpenedSource::open(entry.source())?;
            if source.is_in_target(need.unwrap_or(Need::Content), &entry.stamp)? {
                if !is_dry {
                    let attributes = source.attributes(options.preserve)?;
                    let kept = record(RecordKind::Keep, attributes);
                    keep_file(&kept, folders, options.preserve).map_err(failed)?;
                }
                Progress::add(&progress.unchanged, 1);
            } else if is_dry {
                would_copy(entry, options, progress);
            } else {
                copy_file(&source, &target, folders, options, progress)?;
            }
        }
    }
    Ok(())
}

fn would_copy(entry: &Entry, options: &CopyOptions, progress: &Progress) {
    Progress::add(&progress.files, 1);
    Progress::add(&progress.bytes, entry.stamp.size);
    if let Some(tell) = options.dry_run {
        tell(&entry.target());
    }
}

fn copy_file(
    source: &OpenedSource,
    target: &[u8],
    folders: &mut Folders,
    options: &CopyOptions,
    progress: &Progress,
) -> Result<(), Failure> {
    let failed = |error: io::Error| Failure::of(target, "storing the file in the target", &error);
    let attributes = source.attributes(options.preserve)?;
    let temporary = Temporary::open(folders.spot(target, true).map_err(failed)?).map_err(failed)?;
    let copied = copy_content(source, &temporary, progress);
    if progress.is_stopped() {
        // What is there stays for the next copy, which can write into it.
        return Ok(());
    }
    let set = |()| set_attributes(&temporary.file, &source.stamp, &attributes, options.preserve);
    match copied.and_then(set) {
        Err(error) => {
            temporary.remove();
            return Err(failed(error));
        }
        Ok(()) if !source.is_unchanged()? => {
            temporary.remove();
            return Err(source.changed());
        }
        Ok(()) => temporary.finish().map_err(failed)?,
    }
    Progress::add(&progress.files, 1);
    Progress::add(&progress.bytes, source.stamp.size);
    Ok(())
}

fn copy_content(source: &OpenedSource, temporary: &Temporary, progress: &Progress) -> io::Result<()> {
    let (from, to, size) = (&source.file, &temporary.file, source.stamp.size);
    let mut done = 0;
    if temporary.is_left_over {
        done = same_until(source, temporary)?;
        to.set_len(done)?;
    } else if ioctl_ficlone(to, from).is_ok() {
        Progress::add(&progress.moved, size);
        return Ok(());
    }
    let mut by_hand = Vec::new();
    while let Some((start, end)) = data_from(from, done, size) {
        done = start;
        while done < end && !progress.is_stopped() {
            let length = (end - done).min(KERNEL_PIECE as u64) as usize;
            let copied = copy_range(source, temporary, done, length, &mut by_hand)?;
            done += copied as u64;
            Progress::add(&progress.moved, copied as u64);
        }
        if progress.is_stopped() {
            return Ok(());
        }
    }
    to.set_len(size)
}

/// Copies a range, at least one byte of it. `by_hand` is empty until the kernel refuses to copy this file, and then the memory that
/// its pieces go through.
fn copy_range(
    source: &OpenedSource,
    temporary: &Temporary,
    offset: u64,
    length: usize,
    by_hand: &mut Vec<u8>,
) -> io::Result<usize> {
    if by_hand.is_empty() {
        let (mut from, mut to) = (offset, offset);
        match copy_file_range(&source.file, Some(&mut from), &temporary.file, Some(&mut to), length) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(copied) => return Ok(copied),
            // Between two file systems of which one cannot, or of different kinds.
            Err(Errno::XDEV | Errno::NOSYS | Errno::OPNOTSUPP | Errno::INVAL) => {
                // Small files come in thousands: no more than one takes.
                *by_hand = vec![0; source.stamp.size.clamp(1, BLOCK) as usize];
            }
            Err(errno) => return Err(errno.into()),
        }
    }
    let length = length.min(by_hand.len());
    let read = source.file.read_at(&mut by_hand[..length], offset)?;
    temporary.file.write_all_at(&by_hand[..read], offset)?;
    if read == 0 { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(read) }
}

/// Bytes at the beginning that a partial file has like its source, in whole blocks.
fn same_until(source: &OpenedSource, temporary: &Temporary) -> io::Result<u64> {
    let there = temporary.file.metadata()?.len().min(source.stamp.size);
    let (mut one, mut other) = (vec![0; BLOCK as usize], vec![0; BLOCK as usize]);
    for number in 0..there / BLOCK {
        source.file.read_exact_at(&mut one, number * BLOCK)?;
        temporary.file.read_exact_at(&mut other, number * BLOCK)?;
        if one != other {
            return Ok(number * BLOCK);
        }
    }
    Ok(there / BLOCK * BLOCK)
}

/// Entries that wait for a thread.
#[derive(Debug, Default)]
struct Queue {
    entries: Mutex<(VecDeque<Entry>, bool)>,
    changed: Condvar,
}

impl Queue {
    /// False when nobody takes anything any more.
    fn put(&self, entries: Vec<Entry>) -> bool {
        let mut state = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        while state.0.len() >= MOST_WAITING && !state.1 {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.0.extend(entries);
        self.changed.notify_all();
        !state.1
    }

    fn end(&self) {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner).1 = true;
        self.changed.notify_all();
    }

    fn take(&self) -> Option<Entry> {
        let mut state = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(entry) = state.0.pop_front() {
                if state.0.len() == MOST_WAITING / 2 {
                    self.changed.notify_all();
                }
                return Some(entry);
            }
            if state.1 {
                return None;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    use std::sync::atomic::Ordering;

    use super::*;
    use crate::temporary_name::temporary_name;

    #[test]
    fn what_a_stopped_copy_leaves_of_a_read_only_file_can_be_written() {
        let folder = tempfile::tempdir().expect("a folder");
        let (file, target) = (folder.path().join("file"), folder.path().join("target"));
        fs::write(&file, "content").expect("written");
        fs::set_permissions(&file, PermissionsExt::from_mode(0o444)).expect("set");
        fs::create_dir(&target).expect("made");
        let source = OpenedSource::open(file).expect("opened");
        let mut folders = Folders::new(&target).expect("opened");
        let progress = Progress::default();
        progress.stop.store(true, Ordering::Relaxed);
        copy_file(&source, b"file", &mut folders, &CopyOptions::default(), &progress).expect("stopped");
        let left = fs::metadata(target.join(temporary_name(b"file"))).expect("there");
        assert_eq!(left.mode() & 0o7777, 0o600);
    }
}
