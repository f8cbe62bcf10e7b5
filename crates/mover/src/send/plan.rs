//! What is to be done next: shared by the scan, the connections and the replies.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use rustix::fs::FileType;

use super::large::{LargeSource, NextPiece};
use crate::block::BLOCK;
use crate::entry::Entry;
use crate::need::Need;

/// Scanned entries that wait; the scan waits beyond.
const MOST_SCANNED: usize = 4096;

/// Files that wait to be sent; nothing is asked for beyond.
const ENOUGH_WANTED: usize = 512;

/// Files of one question.
const ASKED_AT_ONCE: usize = 256;

/// Files in one pack, so that the target is not silent for long.
const PACKED_AT_ONCE: usize = 512;

/// Large files that are open at once.
const MOST_LARGE: usize = 16;

/// An entry that the target needs.
#[derive(Debug)]
pub struct Wanted {
    pub entry: Entry,
    pub need: Need,
}

impl Wanted {
    /// Whether the file goes in pieces.
    pub fn is_large(&self) -> bool {
        let stamp = &self.entry.stamp;
        stamp.file_type() == FileType::RegularFile && (stamp.size > BLOCK || self.entry.is_sparse)
    }
}

/// What a connection does next.
#[derive(Debug)]
pub enum Step {
    /// Ask which of these files the target needs.
    Query(Vec<Entry>),
    /// Send these in one frame.
    Pack(Vec<Wanted>),
    /// Announce a large file.
    Begin(Wanted),
    /// Send a piece of a large file.
    Piece { large: Arc<LargeSource>, offset: u64, length: usize },
    /// All pieces of a large file were sent.
    Close(Arc<LargeSource>),
    /// Nothing is left.
    End,
}

#[derive(Debug, Default)]
pub struct Plan {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    scanned: VecDeque<Entry>,
    is_scanned: bool,
    wanted: VecDeque<Wanted>,
    large: VecDeque<Arc<LargeSource>>,
    /// Large files that were begun and not closed.
    large_open: usize,
    /// Questions without an answer.
    unanswered: usize,
    is_over: bool,
}

impl Plan {
    /// Takes what the scan found; false when the copy has ended.
    pub fn scanned(&self, entries: Vec<Entry>) -> bool {
        let mut state = self.state();
        while state.scanned.len() >= MOST_SCANNED && !state.is_over {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        for entry in entries {
            // What has no content is cheaper to make than to ask for.
            if entry.stamp.file_type() == FileType::RegularFile {
                state.scanned.push_back(entry);
            } else {
                state.wanted.push_back(Wanted { entry, need: Need::Content });
            }
        }
        self.changed.notify_all();
        !state.is_over
    }

    pub fn end_of_scan(&self) {
        self.state().is_scanned = true;
        self.changed.notify_all();
    }

    /// Ends the copy before its time.
    pub fn give_up(&self) {
        self.state().is_over = true;
        self.changed.notify_all();
    }

    /// The answer to a [`Step::Query`].
    pub fn answered(&self, wanted: Vec<Wanted>) {
        let mut state = self.state();
        state.unanswered -= 1;
        state.wanted.extend(wanted);
        self.changed.notify_all();
    }

    /// The answer to a [`Step::Begin`]: the file's pieces can be taken, if the target takes it.
    pub fn begun(&self, large: Option<Arc<LargeSource>>) {
        let mut state = self.state();
        state.unanswered -= 1;
        match large {
            Some(large) => state.large.push_back(large),
            None => state.large_open -= 1,
        }
        self.changed.notify_all();
    }

    /// A large file was closed.
    pub fn closed(&self) {
        self.state().large_open -= 1;
        self.changed.notify_all();
    }

    /// A file turned out to be larger than it was, or another that was asked for: it is done later.
    pub fn later(&self, wanted: Wanted) {
        self.state().wanted.push_back(wanted);
        self.changed.notify_all();
    }

    /// What to do next; waits until there is something.
    pub fn next(&self) -> Step {
        let mut state = self.state();
        loop {
            if let Some(step) = state.step() {
                if matches!(step, Step::Query(_)) {
                    // The scan may be waiting.
                    self.changed.notify_all();
                }
                return step;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn step(&mut self) -> Option<Step> {
        if self.is_over {
            return Some(Step::End);
        }
        if self.wanted.len() < ENOUGH_WANTED && !self.scanned.is_empty() {
            self.unanswered += 1;
            let count = self.scanned.len().min(ASKED_AT_ONCE);
            return Some(Step::Query(self.scanned.drain(..count).collect()));
        }
        while let Some(large) = self.large.front() {
            match large.take() {
                NextPiece::Piece { offset, length } => {
                    return Some(Step::Piece { large: Arc::clone(large), offset, length });
                }
                NextPiece::End { closes } => {
                    let large = self.large.pop_front();
                    if let Some(large) = large.filter(|_| closes) {
                        return Some(Step::Close(large));
                    }
                }
            }
        }
        let is_large_next = self.wanted.front().is_some_and(Wanted::is_large);
        if is_large_next && self.large_open < MOST_LARGE {
            self.unanswered += 1;
            self.large_open += 1;
            return self.wanted.pop_front().map(Step::Begin);
        }
        let pack = self.pack();
        if !pack.is_empty() {
            return Some(Step::Pack(pack));
        }
        let is_idle = self.scanned.is_empty() && self.wanted.is_empty() && self.unanswered == 0;
        (self.is_scanned && is_idle && self.large_open == 0).then_some(Step::End)
    }

    /// The next small files, about a block of them; none while a large one is next.
    fn pack(&mut self) -> Vec<Wanted> {
        let (mut pack, mut bytes) = (Vec::new(), 0);
        while let Some(next) = self.wanted.front() {
            let size =
                if next.entry.stamp.file_type() == FileType::RegularFile { next.entry.stamp.size } else { 0 };
            if next.is_large() || (bytes > 0 && bytes + size > BLOCK) || pack.len() >= PACKED_AT_ONCE {
                break;
            }
            bytes += size;
            pack.extend(self.wanted.pop_front());
        }
        pack
    }
}
