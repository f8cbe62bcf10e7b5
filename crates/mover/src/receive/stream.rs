//! One connection: reads frames, stores them, answers each.

use std::io;
use std::time::{Duration, Instant};

use super::large::LargeFiles;
use super::query::{Terms, needs};
use super::store::store_files;
use crate::stored::Stored;
use crate::target::Folders;
use crate::wire::{Frame, FrameKind, Incoming, Outgoing};

/// Reads until the sender's [`FrameKind::End`]. Without `folders` nothing is there and nothing is stored. The last answer tells
/// how many nanoseconds were spent in storing.
pub fn receive_stream(
    mut from: Incoming<'_>,
    mut to: Outgoing<'_>,
    mut folders: Option<Folders>,
    large: &LargeFiles,
    terms: Terms,
) -> io::Result<()> {
    let (mut content, mut frame, mut storing) = (Vec::new(), Frame::default(), Duration::ZERO);
    let mut answer = |kind, fill: &mut dyn FnMut(&mut Vec<u8>)| {
        fill(frame.begin());
        to.write(kind, &mut frame)
    };
    loop {
        let kind = from.read(&mut content)?;
        if kind == FrameKind::End {
            let storing = storing.as_nanos() as u64;
            return answer(FrameKind::End, &mut |content| content.extend_from_slice(&storing.to_le_bytes()));
        }
        if kind == FrameKind::Query {
            let needs = needs(&content, folders.as_mut(), terms)?;
            answer(FrameKind::Needs, &mut |content| needs.iter().for_each(|need| need.put(content)))?;
            continue;
        }
        let Some(folders) = folders.as_mut().filter(|_| !terms.is_dry) else {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "content in a dry run"));
        };
        let begin = Instant::now();
        let stored = match kind {
            FrameKind::Files => store_files(&content, folders, terms.preserve)?,
            FrameKind::Begin => match large.begin(&content, folders)? {
                Ok(hashes) => {
                    answer(FrameKind::Blocks, &mut |content| {
                        hashes.iter().for_each(|hash| content.extend_from_slice(hash));
                    })?;
                    continue;
                }
                Err(failure) => Stored::failed(failure),
            },
            FrameKind::Piece => large.piece(&content, terms.preserve)?,
            FrameKind::Commit => large.commit(&content, terms.preserve)?,
            FrameKind::Abort => large.abort(&content)?,
            _ => return Err(io::Error::new(io::ErrorKind::InvalidData, "an unexpected frame")),
        };
        storing += begin.elapsed();
        answer(FrameKind::Stored, &mut |content| stored.put(content))?;
    }
}
