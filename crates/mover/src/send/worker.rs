//! One connection's sending half: does the steps of the plan.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use super::large::LargeSource;
use super::pack::{pack_into, put_head};
use super::plan::{Plan, Step, Wanted};
use super::replies::Unanswered;
use crate::block::block_hash;
use crate::failure::Failure;
use crate::options::CopyOptions;
use crate::progress::Progress;
use crate::record::RecordKind;
use crate::source::OpenedSource;
use crate::wire::{Frame, FrameKind, Outgoing, put_bytes, put_stamp};

/// What the connections of a copy share.
#[derive(Debug)]
pub struct Shared<'a> {
    pub plan: &'a Plan,
    pub options: &'a CopyOptions,
    pub progress: &'a Progress,
    /// The number of the next large file.
    pub next_id: AtomicU64,
}

/// A connection and the memory of its frames.
#[derive(Debug)]
pub struct Worker<'a> {
    shared: &'a Shared<'a>,
    to: Outgoing<'a>,
    sent: Sender<Unanswered>,
    frame: Frame,
    reading: Duration,
}

impl<'a> Worker<'a> {
    pub fn new(shared: &'a Shared<'a>, to: Outgoing<'a>, sent: Sender<Unanswered>) -> Self {
        Self { shared, to, sent, frame: Frame::default(), reading: Duration::ZERO }
    }

    /// Does steps until none is left, and counts what they took.
    pub fn work(mut self) -> io::Result<()> {
        self.steps()?;
        let spent = &self.shared.progress.spent;
        spent.reading.add(self.reading);
        spent.sending.add(self.to.writing);
        Ok(())
    }

    fn steps(&mut self) -> io::Result<()> {
        let Shared { plan, options, progress, .. } = *self.shared;
        loop {
            if progress.is_stopped() {
                plan.give_up();
            }
            match plan.next() {
                Step::Query(entries) => {
                    let content = self.frame.begin();
                    for entry in &entries {
                        put_bytes(content, &entry.target());
                        put_stamp(content, &entry.stamp);
                    }
                    self.write(FrameKind::Query, Unanswered::Query(entries))?;
                }
                // Nothing without content is made in a dry run.
                Step::Pack(_) if options.dry_run.is_some() => {}
                Step::Pack(pack) => {
                    let begin = Instant::now();
                    pack_into(self.frame.begin(), pack, plan, options, progress);
                    self.reading += begin.elapsed();
                    if self.frame.len() > 0 {
                        self.write(FrameKind::Files, Unanswered::Files)?;
                    }
                }
                Step::Begin(wanted) => self.begin(wanted)?,
                Step::Piece { large, offset, length } => {
                    self.piece(&large, offset, length)?;
                    if large.sent() {
                        self.close(&large)?;
                    }
                }
                Step::Close(large) => self.close(&large)?,
                Step::End => {
                    self.frame.begin();
                    return self.write(FrameKind::End, Unanswered::End);
                }
            }
        }
    }

    /// Announces a large file; or has the target keep what it has.
    fn begin(&mut self, wanted: Wanted) -> io::Result<()> {
        let target = wanted.entry.target();
        let opened = OpenedSource::open(wanted.entry.source()).and_then(|source| {
            let attributes = source.attributes(self.shared.options.preserve)?;
            let is_same = source.is_in_target(wanted.need, &wanted.entry.stamp)?;
            Ok((source, attributes, is_same))
        });
        let (source, attributes, is_same) = match opened {
            Ok(opened) => opened,
            Err(failure) => {
                self.shared.progress.fail(failure);
                self.shared.plan.begun(None);
                return Ok(());
            }
        };
        let content = self.frame.begin();
        if is_same {
            put_head(content, RecordKind::Keep, &target, &source.stamp, &attributes);
            self.shared.plan.begun(None);
            return self.write(FrameKind::Files, Unanswered::Files);
        }
        let id = self.shared.next_id.fetch_add(1, Ordering::Relaxed);
        content.extend_from_slice(&id.to_le_bytes());
        put_head(content, RecordKind::Large, &target, &source.stamp, &attributes);
        self.write(FrameKind::Begin, Unanswered::Begin(Arc::new(LargeSource::new(id, source))))
    }

    /// Sends a piece, unless the target has it.
    fn piece(&mut self, large: &Arc<LargeSource>, offset: u64, length: usize) -> io::Result<()> {
        let content = self.frame.begin();
        content.extend_from_slice(&large.id.to_le_bytes());
        content.extend_from_slice(&offset.to_le_bytes());
        let (start, begin) = (content.len(), Instant::now());
        let read = large.source.read_to(content, offset, length);
        self.reading += begin.elapsed();
        if let Err(failure) = read {
            large.give_up();
            self.fail(failure);
            return Ok(());
        }
        if large.known_hash(offset).is_some_and(|known| *known == block_hash(&content[start..])) {
            Progress::add(&self.shared.progress.bytes, length as u64);
            return Ok(());
        }
        large.count_piece();
        Progress::add(&self.shared.progress.moved, length as u64);
        self.write(FrameKind::Piece, Unanswered::Piece(Arc::clone(large)))
    }

    /// Completes a large file in the target, or has the target give it up.
    fn close(&mut self, large: &Arc<LargeSource>) -> io::Result<()> {
        let mut is_whole = !large.is_given_up.load(Ordering::Relaxed);
        match large.source.is_unchanged() {
            _ if !is_whole => {}
            Ok(true) => {}
            Ok(false) => {
                is_whole = false;
                self.fail(large.source.changed());
            }
            Err(failure) => {
                is_whole = false;
                self.fail(failure);
            }
        }
        let content = self.frame.begin();
        content.extend_from_slice(&large.id.to_le_bytes());
        content.extend_from_slice(&large.pieces().to_le_bytes());
        self.write(if is_whole { FrameKind::Commit } else { FrameKind::Abort }, Unanswered::Files)?;
        self.shared.plan.closed();
        Ok(())
    }

    fn fail(&self, failure: Failure) {
        self.shared.progress.fail(failure);
    }

    fn write(&mut self, kind: FrameKind, about: Unanswered) -> io::Result<()> {
        // The reader of the answers has ended when the stream has.
        let _ = self.sent.send(about);
        self.to.write(kind, &mut self.frame)
    }
}
