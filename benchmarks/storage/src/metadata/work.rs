//! One thread's files, and the operations on them.

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Dir, Mode, OFlags, open, openat, renameat, statat, unlinkat};
use seatrial_model::{Nanos, Reason, Verification};
use seatrial_sys::Errno;
use seatrial_sys::clock::now_ns;
use seatrial_sys::storage::{read_whole, write_whole};

use seatrial_bench::Stop;
use seatrial_bench::directory::refused;
use seatrial_bench::payload::{Block, Fault, FaultKind, Payload};

/// Distance between the data of two files: the size of the largest file.
const APART: u64 = 1 << 20;

/// The operations of a round, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileOperation {
    /// A new file is created, written and closed.
    Create,
    /// stat(2) by name.
    Stat,
    Open,
    /// The file is opened, read, checked and closed.
    Read,
    Rename,
    List,
    Unlink,
}

impl FileOperation {
    pub const ALL: [Self; 7] =
        [Self::Create, Self::Stat, Self::Open, Self::Read, Self::Rename, Self::List, Self::Unlink];

    pub const fn word(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Stat => "stat",
            Self::Open => "open",
            Self::Read => "read",
            Self::Rename => "rename",
            Self::List => "list",
            Self::Unlink => "unlink",
        }
    }

    /// Whether it is done on each file once, however long that takes.
    pub const fn is_once(self) -> bool {
        matches!(self, Self::Create | Self::Unlink)
    }

    /// The start of an error message; the path follows.
    const fn tried(self) -> &'static str {
        match self {
            Self::Create => "making",
            Self::Stat => "reading the size of",
            Self::Open => "opening",
            Self::Read => "reading",
            Self::Rename => "renaming",
            Self::List => "listing",
            Self::Unlink => "removing",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pass {
    pub operation: FileOperation,
    pub start: Nanos,
    pub end: Nanos,
    pub count: u64,
    /// Whether the phase ended before the operation was complete.
    pub is_cut: bool,
}

/// Operations of one thread in a short time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Burst {
    pub start: Nanos,
    pub end: Nanos,
    pub count: u64,
}

/// Length of a slice, unless a single operation takes longer.
const SLICE: Nanos = Nanos::millis(5);

/// Names between two looks at the clock.
const LOOK: u64 = 256;

#[derive(Debug)]
pub struct Files {
    thread: u64,
    path: PathBuf,
    folder: OwnedFd,
    /// Part of the file names, so that no two threads or rounds collide.
    round: u64,
    made: u64,
    /// Renames in the round: each file in turn, then the first again.
    renamed: u64,
    /// Threads that create files in the same folder.
    sharing: u64,
    /// Whether an earlier round left files because the time was over.
    is_littered: bool,
    payload: Payload,
    block: Vec<u8>,
    pub checked: u64,
    pub wrong: u64,
    pub first: Option<String>,
    /// Latencies of the last pass, in nanoseconds.
    pub latencies: Vec<u64>,
}

impl Files {
    /// The files of `thread` in the folder at `path`, which `sharing` threads share, with `size` bytes each.
    pub fn new(
        thread: u64,
        path: &Path,
        sharing: u64,
        size: usize,
        verification: Verification,
    ) -> Result<Self, Reason> {
        let folder = open(path, OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
            .map_err(|errno| refused(&format!("opening {}", path.display()), errno))?;
        let payload = Payload::new(now_ns() ^ thread, 0.0).verified_by(verification);
        let mut block = vec![0; size];
        payload.prepare(Block { file: thread as u32, offset: 0, generation: 0 }, &mut block);
        Ok(Self {
            thread,
            path: path.to_owned(),
            folder,
            round: 0,
            made: 0,
            renamed: 0,
            sharing,
            is_littered: false,
            payload,
            block,
            checked: 0,
            wrong: 0,
            first: None,
            latencies: Vec::new(),
        })
    }

    /// The name of a file of the round by now.
    fn current(&self, number: u64) -> String {
        self.name(number, self.is_renamed(number))
    }

    fn is_renamed(&self, number: u64) -> bool {
        let rounds = self.renamed.checked_div(self.made).unwrap_or(0);
        let is_done = self.renamed % self.made.max(1) > number;
        (rounds + u64::from(is_done)) % 2 == 1
    }

    fn name(&self, number: u64, is_renamed: bool) -> String {
        let kind = if is_renamed { "renamed" } else { "file" };
        format!("{kind}.{}.{}.{number}", self.thread, self.round)
    }

    pub fn next_round(&mut self) {
        self.round += 1;
        (self.made, self.renamed) = (0, 0);
    }

    /// Does `operation` on all files of the round; creates at most `most` files, until `until`.
    pub fn pass(
        &mut self,
        operation: FileOperation,
        most: u64,
        until: Nanos,
        stop: &Stop,
    ) -> Result<Pass, Reason> {
        self.latencies.clear();
        let is_create = operation == FileOperation::Create;
        let wanted = match operation {
            FileOperation::Create => most,
            FileOperation::List => 1,
            _ => self.made,
        };
        let start = Nanos(now_ns());
        let (mut now, mut done, mut count) = (start, 0, 0);
        while done < wanted && !stop.is_over() && !(is_create && done > 0 && now >= until) {
            let answer = self.once(operation, done, None);
            count += answer.map_err(|errno| refused(&self.tried(operation, done), errno))?;
            let end = Nanos(now_ns());
            self.latencies.push(end.since(now).get());
            now = end;
            done += 1;
        }
        if is_create {
            self.made = done;
        }
        let is_cut = stop.is_over() && done < wanted;
        Ok(Pass { operation, start, end: now, count, is_cut })
    }

    /// Does `operation` until `until`: creates at most `most` files and removes each once, does anything else on the files of
    /// the round in turn. Nothing without files.
    pub fn repeat(
        &mut self,
        operation: FileOperation,
        most: u64,
        until: Nanos,
        stop: &Stop,
    ) -> Result<Vec<Burst>, Reason> {
        self.latencies.clear();
        let is_create = operation == FileOperation::Create;
        let wanted = match operation {
            FileOperation::Create => most,
            _ if self.made == 0 => 0,
            FileOperation::Unlink => self.made,
            _ => u64::MAX,
        };
        let (mut now, mut done, mut slices) = (Nanos(now_ns()), 0, Vec::new());
        let mut slice = Burst { start: now, end: now, count: 0 };
        while done < wanted && now < until && !stop.is_over() {
            let number = if is_create { done } else { done % self.made };
            let answer = self.once(operation, number, Some(until));
            slice.count += answer.map_err(|errno| refused(&self.tried(operation, number), errno))?;
            slice.end = Nanos(now_ns());
            self.latencies.push(slice.end.since(now).get());
            now = slice.end;
            done += 1;
            if now.since(slice.start) >= SLICE {
                slices.push(slice);
                slice = Burst { start: now, end: now, count: 0 };
            }
        }
        if slice.count > 0 {
            slices.push(slice);
        }
        if is_create {
            self.made = done;
        }
        Ok(slices)
    }

    fn tried(&self, operation: FileOperation, number: u64) -> String {
        let path = match operation {
            FileOperation::List => self.path.clone(),
            _ => self.path.join(self.current(number)),
        };
        format!("{} {}", operation.tried(), path.display())
    }

    /// Does the operation on one file (or folder, until `until`); returns how many operations it counts for.
    fn once(&mut self, operation: FileOperation, number: u64, until: Option<Nanos>) -> Result<u64, Errno> {
        let name = self.current(number);
        let name = name.as_str();
        match operation {
            FileOperation::Create => self.create(name, number)?,
            FileOperation::Stat => {
                let told = statat(&self.folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
                let right = u64::try_from(told.st_size) == Ok(self.block.len() as u64);
                let size = self.block.len();
                self.stat_one(right, || format!("{name} has a size of {} B instead of {size}", told.st_size));
            }
            FileOperation::Open => drop(self.open(name)?),
            FileOperation::Read => self.read(name, number)?,
            FileOperation::Rename => {
                let other = self.name(number, !self.is_renamed(number));
                renameat(&self.folder, name, &self.folder, other)?;
                self.renamed += 1;
            }
            FileOperation::List => return self.list(until),
            FileOperation::Unlink => unlinkat(&self.folder, name, AtFlags::empty())?,
        }
        Ok(1)
    }

    fn open(&self, name: &str) -> Result<OwnedFd, Errno> {
        openat(&self.folder, name, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())
    }

    fn block_of(&self, number: u64) -> Block {
        Block { file: self.thread as u32, offset: number * APART, generation: self.round }
    }

    fn create(&mut self, name: &str, number: u64) -> Result<(), Errno> {
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::CLOEXEC;
        let block = self.block_of(number);
        self.payload.fill(block, &mut self.block);
        let file = openat(&self.folder, name, flags, Mode::RUSR | Mode::WUSR)?;
        // A server may report a write error only at close(2), which dropping a descriptor ignores; the read finds
        // lost data.
        write_whole(&file, &self.block, 0)
    }

    fn read(&mut self, name: &str, number: u64) -> Result<(), Errno> {
        let file = self.open(name)?;
        self.payload.poison(&mut self.block);
        let got = read_whole(&file, &mut self.block, 0)?;
        let found = self.payload.check(self.block_of(number), &self.block[..got]);
        let right = found.is_ok() && got == self.block.len();
        let size = self.block.len();
        self.stat_one(right, || match found {
            Ok(()) => format!("{name} was read back with {got} B instead of {size}"),
            Err(fault) => format!("{name} was read back with {}", told(&fault)),
        });
        Ok(())
    }

    /// Reads the names of the folder, all of them unless `until` is over before; then they are not compared.
    fn list(&mut self, until: Option<Nanos>) -> Result<u64, Errno> {
        let mut names = 0;
        for entry in Dir::read_from(&self.folder)? {
            let entry = entry?;
            names += u64::from(!entry.file_name().to_bytes().starts_with(b"."));
            if names % LOOK == 0 && until.is_some_and(|until| now_ns() >= until.get()) {
                return Ok(names);
            }
        }
        let made = self.made;
        let right = if self.sharing > 1 || self.is_littered { names >= made } else { names == made };
        self.stat_one(right, || format!("the folder lists {names} names instead of {made}"));
        Ok(names)
    }

    fn stat_one(&mut self, right: bool, what: impl FnOnce() -> String) {
        self.checked += 1;
        if !right {
            self.wrong += 1;
            self.first.get_or_insert_with(what);
        }
    }

    /// Removes the files of the round, under either name, until `stop`; returns their number.
    pub fn clean(&mut self, stop: &Stop) -> u64 {
        let mut removed = 0;
        for number in 0..self.made {
            if stop.is_over() {
                self.is_littered = true;
                break;
            }
            let gone =
                |is_renamed| unlinkat(&self.folder, self.name(number, is_renamed), AtFlags::empty()).is_ok();
            removed += u64::from(gone(true) || gone(false));
        }
        removed
    }

    /// Copies the data of one file of the round into another, behind the test's back.
    #[cfg(test)]
    pub fn swap(&self, from: u64, to: u64) -> std::io::Result<u64> {
        std::fs::copy(self.path.join(self.name(from, false)), self.path.join(self.name(to, false)))
    }

    #[cfg(test)]
    pub fn spoil(&self, number: u64) -> Result<(), Errno> {
        let file = openat(&self.folder, self.name(number, false), OFlags::RDWR, Mode::empty())?;
        let mut byte = [0];
        read_whole(&file, &mut byte, 100)?;
        write_whole(&file, &[!byte[0]], 100)
    }
}

/// Describes a wrong block in terms of the named file, whose data are a slice of one long virtual file.
fn told(fault: &Fault) -> String {
    let at = fault.offset % APART;
    let from = |byte: &usize| at + *byte as u64;
    match &fault.kind {
        FaultKind::Flipped { byte, bits: 1 } => format!("a flipped bit in byte {}", from(byte)),
        FaultKind::Flipped { byte, bits } => format!("{bits} flipped bits from byte {} on", from(byte)),
        FaultKind::Elsewhere { file, offset, generation } => {
            format!("data of file.{file}.{generation}.{} from byte {at} on", offset / APART)
        }
        FaultKind::Stale { generation } => format!("data of round {generation} from byte {at} on"),
        FaultKind::Zeroed => format!("zeros from byte {at} on"),
        FaultKind::Unread { byte } => {
            format!("nothing from byte {} on: the system left the buffer as it was", from(byte))
        }
        FaultKind::Foreign => format!("data that this trial did not write from byte {at} on"),
    }
}
