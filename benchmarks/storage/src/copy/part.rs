//! The worker of `storage.copy`: makes a source file and copies it again and again.

use std::os::fd::OwnedFd;

use rustix::fs::{fdatasync, fstatvfs};
use seatrial_model::{Case, Cause, Integrity, Nanos, Params, PartPlacement, Phase, Quantity, Reason, Sample};
use seatrial_sys::Errno;
use seatrial_sys::clock::now_ns;
use seatrial_sys::root::SysRoot;
use seatrial_sys::storage::{
    Moved, device_of, forget, moved_by_device, read_whole, resident, scratch, write_whole,
};
use serde_json::json;

use super::copying::{Copied, CopyConfig, Method, copy};
use super::plan::target;
use crate::device_bytes;
use crate::extents;
use seatrial_bench::directory::opened;
use seatrial_bench::directory::refused;
use seatrial_bench::payload::{Block, Payload};
use seatrial_bench::pin;
use seatrial_bench::space::lacking;
use seatrial_bench::{Running, Sink, Stop};

pub const COPIED: &str = "copied";
/// Sample channel: copies until the last byte was handed over, before the flush.
pub const HANDED_OVER: &str = "handed_over";
pub const USER: &str = "user";
pub const SYSTEM: &str = "system";

/// Bytes per write and per check of the file.
const PIECE: usize = 1 << 20;

#[derive(Debug)]
pub struct CopyWorker {
    config: CopyConfig,
    is_cold: bool,
    time: Nanos,
    payload: Payload,
    source: Vec<OwnedFd>,
    sink: OwnedFd,
    last: Vec<OwnedFd>,
}

impl CopyWorker {
    pub fn prepare(case: &Case, place: &PartPlacement) -> Result<Self, Reason> {
        let params = &case.params;
        let missing = |what: &str| Reason::new(Cause::Protocol, format!("the case carries no {what}"));
        let method = match params.text("method")? {
            "copy_file_range" => Method::CopyFileRange,
            _ => Method::ReadWrite,
        };
        let config = CopyConfig {
            size: params.bytes("size")?.ok_or_else(|| missing("size"))?.get(),
            block: params.bytes("block")?.ok_or_else(|| missing("block"))?.get() as usize,
            method,
            is_flushed: params.text("sync")? == "end",
        };
        let count = params.count("files")?;
        place.cpu(0).map_or(Ok(()), pin)?;
        let (from, at) = opened(params.text("from")?)?;
        let (to, sink) = match target(params)? {
            same if same == params.text("from")? => opened(&from.display().to_string())?,
            other => opened(other)?,
        };
        for (path, at) in [(&from, &at), (&to, &sink)] {
            let times = if from == to { 2 } else { 1 };
            let told = fstatvfs(at).ok().filter(|told| told.f_blocks > 0);
            let text = told.and_then(|told| {
                let bytes = |blocks: u64| blocks.saturating_mul(told.f_frsize);
                let place = path.display().to_string();
                lacking(times * count * config.size, bytes(told.f_bavail), bytes(told.f_blocks), &place)
            });
            if let Some(text) = text {
                return Err(Reason::new(Cause::NoSpace, text));
            }
        }
        let payload = Payload::new(now_ns(), 0.0);
        let source: Result<Vec<_>, _> =
            (0..count as u32).map(|number| make(&at, &payload, number, config.size)).collect();
        let (is_cold, time) = (params.text("source")? == "cold", params.nanos("time")?);
        Ok(Self { config, is_cold, time, payload, source: source?, sink, last: Vec::new() })
    }

    /// Bytes of all files.
    fn total(&self) -> u64 {
        self.config.size * self.source.len() as u64
    }

    /// Makes one copy in new files, which become `last`; also returns the part of the source that the page cache
    /// held, in percent.
    fn one(&mut self, buffer: &mut [u8], stop: &Stop) -> Result<Option<(Copied, f64)>, Reason> {
        // Closing the earlier copy frees its blocks before the clock starts.
        self.last.clear();
        let Self { source, sink, .. } = &*self;
        let made: Result<Vec<_>, Errno> =
            source.iter().map(|_| scratch(sink, false).map(|(file, _)| file)).collect();
        let files = made.map_err(|errno| refused("making the copy", errno))?;
        for file in source.iter().filter(|_| self.is_cold) {
            forget(file).map_err(|errno| refused("dropping the page cache of the file", errno))?;
        }
        let of = |file| resident(file, self.config.size).map_or(f64::NAN, |told| told.bytes as f64);
        let held: f64 = source.iter().map(of).sum();
        let copied = copy(source, &files, &self.config, buffer, stop)?;
        if copied.is_some() {
            self.last = files;
        }
        Ok(copied.map(|copied| (copied, 100.0 * held / self.total() as f64)))
    }

    fn moved(&self) -> [Result<Moved, String>; 2] {
        let of = |file: &OwnedFd| {
            let device = device_of(file).map_err(|errno| errno.to_string())?;
            moved_by_device(&SysRoot::live(), device).map_err(|error| error.to_string())
        };
        [&self.source[0], &self.sink].map(of)
    }
}

fn make(at: &OwnedFd, payload: &Payload, number: u32, size: u64) -> Result<OwnedFd, Reason> {
    let (file, _) = scratch(at, false).map_err(|errno| refused("making the file", errno))?;
    let mut piece = vec![0; PIECE];
    for (offset, bytes) in pieces(size) {
        payload.fill(Block { file: number, offset, generation: 0 }, &mut piece[..bytes]);
        write_whole(&file, &piece[..bytes], offset).map_err(|errno| refused("writing the file", errno))?;
    }
    fdatasync(&file).map_err(|errno| refused("flushing the file", errno))?;
    Ok(file)
}

fn pieces(size: u64) -> impl Iterator<Item = (u64, usize)> {
    (0..size).step_by(PIECE).map(move |offset| (offset, (size - offset).min(PIECE as u64) as usize))
}

impl Running for CopyWorker {
    fn run(&mut self, phase: Phase, stop: &Stop, out: &mut dyn Sink) -> Result<(), Reason> {
        if phase == Phase::WarmUp {
            // No warm-up: every copy, the first too, goes into a new file.
            return Ok(());
        }
        let mut buffer = vec![0; self.config.block];
        let until = Nanos(now_ns()).plus(self.time);
        let before = self.moved();
        let (mut copies, mut resident) = (0, Vec::new());
        while copies == 0 || Nanos(now_ns()) < until {
            let Some((copied, held)) = self.one(&mut buffer, stop)? else { break };
            tell(&copied, &self.config, self.total(), out);
            copies += 1;
            resident.push(held);
        }
        let after = self.moved();
        let asked = copies * self.total();
        let between = |end: usize, of: fn(&Moved) -> u64| match (&before[end], &after[end]) {
            (Ok(before), Ok(after)) => Ok(of(&after.since(before))),
            (Err(why), _) | (_, Err(why)) => Err(why.clone()),
        };
        let mut paths = Vec::new();
        if self.is_cold {
            paths.push(device_bytes::evidence(
                "the device that is read",
                asked,
                between(0, |moved| moved.read),
            ));
        }
        if self.config.is_flushed {
            paths.push(device_bytes::evidence(
                "the device that is written",
                asked,
                between(1, |moved| moved.written),
            ));
        }
        out.evidence("path", paths.into());
        out.evidence("copies", copies.into());
        out.evidence(
            "extents",
            json!({ "from": extents::evidence(&self.source), "to": extents::evidence(&self.last) }),
        );
        let known: Vec<f64> = resident.into_iter().filter(|percent| percent.is_finite()).collect();
        out.evidence("resident_percent_before", json!(known));
        Ok(())
    }

    fn verify(&mut self) -> Result<Integrity, Reason> {
        if self.last.is_empty() {
            return Ok(Integrity::Unverified { why: "no copy was finished".to_owned() });
        }
        let (mut piece, mut wrong, mut first) = (vec![0; PIECE], 0, None);
        for (number, copy) in (0..).zip(std::mem::take(&mut self.last)) {
            forget(&copy).map_err(|errno| refused("dropping the page cache of the copy", errno))?;
            for (offset, bytes) in pieces(self.config.size) {
                let piece = &mut piece[..bytes];
                self.payload.poison(piece);
                // Bytes beyond the end of the file keep their poison and fail the check.
                read_whole(&copy, piece, offset).map_err(|errno| refused("reading the copy", errno))?;
                let block = Block { file: number, offset, generation: 0 };
                if let Err(fault) = self.payload.check(block, piece) {
                    wrong += 1;
                    first.get_or_insert_with(|| format!("the first wrong piece of the copy: {fault}"));
                }
            }
        }
        let of = self.config.size.div_ceil(PIECE as u64) * self.source.len() as u64;
        Ok(match first {
            Some(first) => Integrity::Corrupt { wrong, of, first },
            None => Integrity::Verified { checked: self.total() },
        })
    }
}

fn tell(copied: &Copied, config: &CopyConfig, total: u64, out: &mut dyn Sink) {
    let &Copied { start, handed_over, end, user, system } = copied;
    let bytes = Quantity::bytes(total);
    let all = [
        (COPIED, end, bytes),
        (HANDED_OVER, handed_over, bytes),
        (USER, end, Quantity::time(user)),
        (SYSTEM, end, Quantity::time(system)),
    ];
    for (channel, end, amount) in all {
        if channel != HANDED_OVER || config.is_flushed {
            out.sample(Sample::new(channel, Params::default(), (start, end), amount));
        }
    }
}

#[cfg(test)]
impl CopyWorker {
    pub fn spoil(&mut self) {
        let copy = self.last.last().expect("a copy");
        let mut byte = [0];
        read_whole(copy, &mut byte, 5000).expect("read");
        write_whole(copy, &[!byte[0]], 5000).expect("changed");
    }
}
