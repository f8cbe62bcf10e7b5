//! One connection: reads frames, stores them, answers each.

use std::io;
use std::time::{Duration, Instant};

use super::query::needs;
use super::reception::Reception;
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
    reception: &Reception,
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
            let needs = needs(&content, folders.as_mut(), reception)?;
            answer(FrameKind::Needs, &mut |content| needs.iter().for_each(|need| need.put(content)))?;
            continue;
        }
        let Some(folders) = folders.as_mut().filter(|_| !reception.is_dry) else {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "content in a dry run"));
        };
        let begin = Instant::now();
        let stored = match kind {
            FrameKind::Files => store_files(&content, folders, reception.preserve)?,
            FrameKind::Begin => match reception.large.begin(&content, folders)? {
                Ok(hashes) => {
                    answer(FrameKind::Blocks, &mut |content| {
                        hashes.iter().for_each(|hash| content.extend_from_slice(hash));
                    })?;
                    continue;
                }
                Err(failure) => Stored::failed(failure),
            },
            FrameKind::Piece => reception.large.piece(&content, reception.preserve)?,
            FrameKind::Commit => reception.large.commit(&content, reception.preserve)?,
            FrameKind::Abort => reception.large.abort(&content)?,
            _ => return Err(io::Error::new(io::ErrorKind::InvalidData, "an unexpected frame")),
        };
        storing += begin.elapsed();
        answer(FrameKind::Stored, &mut |content| stored.put(content))?;
    }
}
