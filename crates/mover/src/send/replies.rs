//! Reads the answers of one connection, in the order of what was sent.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::time::Duration;

use super::large::LargeSource;
use super::plan::{Plan, Wanted};
use crate::block::HASH;
use crate::entry::Entry;
use crate::need::Need;
use crate::options::CopyOptions;
use crate::progress::Progress;
use crate::source::OpenedSource;
use crate::stored::Stored;
use crate::wire::{Fields, FrameKind, Incoming};

/// What was sent and is not answered yet.
#[derive(Debug)]
pub enum Unanswered {
    Query(Vec<Entry>),
    Begin(Arc<LargeSource>),
    Piece(Arc<LargeSource>),
    Files,
    End,
}

/// Reads all answers until that to [`Unanswered::End`].
pub fn read_replies(
    mut from: Incoming<'_>,
    sent: &Receiver<Unanswered>,
    plan: &Plan,
    options: &CopyOptions,
    progress: &Progress,
) -> io::Result<()> {
    let mut content = Vec::new();
    let invalid = |text: &str| io::Error::new(io::ErrorKind::InvalidData, text.to_owned());
    loop {
        let kind = from.read(&mut content)?;
        let about = sent.try_recv().map_err(|_| invalid("an answer to nothing"))?;
        match (about, kind) {
            (Unanswered::Query(entries), FrameKind::Needs) => {
                plan.answered(needed(entries, &content, options, progress)?);
            }
            (Unanswered::Begin(large), FrameKind::Blocks) => {
                let hashes = content.as_chunks::<HASH>().0.to_vec();
                // Nobody else sets it.
                let _ = large.known.set(hashes);
                plan.begun(Some(large));
            }
            (Unanswered::Begin(_), FrameKind::Stored) => {
                Stored::read(&content)?.count(progress);
                plan.begun(None);
            }
            (Unanswered::Piece(large), FrameKind::Stored) => {
                let stored = Stored::read(&content)?;
                if !stored.failures.is_empty() {
                    large.give_up();
                }
                stored.count(progress);
            }
            (Unanswered::Files, FrameKind::Stored) => Stored::read(&content)?.count(progress),
            (Unanswered::End, FrameKind::End) => {
                progress.spent.storing.add(Duration::from_nanos(Fields(&content).u64()?));
                return Ok(());
            }
            _ => return Err(invalid("an answer to another question")),
        }
    }
}

/// Those of `entries` that the target needs.
fn needed(
    entries: Vec<Entry>,
    content: &[u8],
    options: &CopyOptions,
    progress: &Progress,
) -> io::Result<Vec<Wanted>> {
    let (mut fields, mut wanted) = (Fields(content), Vec::new());
    for entry in entries {
        let need = Need::read(&mut fields)?;
        if need == Need::Nothing {
            Progress::add(&progress.unchanged, 1);
            continue;
        }
        let wants = Wanted { entry, need };
        match options.dry_run {
            None => wanted.push(wants),
            Some(tell) => tell_if_other(&wants, tell, progress),
        }
    }
    Ok(wanted)
}

/// Tells that a file would be copied, if its content is another.
fn tell_if_other(wanted: &Wanted, tell: fn(&[u8]), progress: &Progress) {
    let is_same = match wanted.need {
        Need::Content => Ok(false),
        need => OpenedSource::open(wanted.entry.source())
            .and_then(|source| source.is_in_target(need, &wanted.entry.stamp)),
    };
    match is_same {
        Err(failure) => progress.fail(failure),
        Ok(true) => Progress::add(&progress.unchanged, 1),
        Ok(false) => {
            Progress::add(&progress.files, 1);
            Progress::add(&progress.bytes, wanted.entry.stamp.size);
            tell(&wanted.entry.target());
        }
    }
}
