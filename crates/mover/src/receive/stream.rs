//! One connection: reads frames, stores them, answers each.

use std::io;
use std::net::TcpStream;

use super::query::needs;
use super::reception::Reception;
use super::store::store_files;
use crate::stored::Stored;
use crate::target::Folders;
use crate::wire::{Frame, FrameKind, read_frame};

/// Reads until the sender's [`FrameKind::End`]. Without `folders` nothing is there and nothing is stored.
pub fn receive_stream(
    stream: &TcpStream,
    mut folders: Option<Folders>,
    reception: &Reception,
) -> io::Result<()> {
    let (mut from, mut to) = (stream, stream);
    let (mut content, mut frame) = (Vec::new(), Frame::default());
    let mut answer = |kind, fill: &mut dyn FnMut(&mut Vec<u8>)| {
        fill(frame.begin());
        frame.write(kind, &mut to)
    };
    loop {
        let kind = read_frame(&mut from, &mut content)?.ok_or(io::ErrorKind::UnexpectedEof)?;
        if kind == FrameKind::End {
            return answer(FrameKind::End, &mut |_| {});
        }
        if kind == FrameKind::Query {
            let needs = needs(&content, folders.as_mut(), reception)?;
            answer(FrameKind::Needs, &mut |content| needs.iter().for_each(|need| need.put(content)))?;
            continue;
        }
        let Some(folders) = folders.as_mut().filter(|_| !reception.is_dry) else {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "content in a dry run"));
        };
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
        answer(FrameKind::Stored, &mut |content| stored.put(content))?;
    }
}
