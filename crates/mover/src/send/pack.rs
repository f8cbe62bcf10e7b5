//! Small files, links and directories in one frame.

use rustix::fs::FileType;

use super::plan::{Plan, Wanted};
use crate::block::BLOCK;
use crate::failure::Failure;
use crate::options::CopyOptions;
use crate::progress::Progress;
use crate::record::RecordKind;
use crate::source::{OpenedSource, attributes_of, link_target};
use crate::target::Attributes;
use crate::wire::{put_bytes, put_stamp};
use std::os::unix::ffi::OsStrExt;

/// How often a file is read that changes while it is read.
const ATTEMPTS: u32 = 3;

/// Appends everything of `pack` that can be read to `content`; what cannot is a failure.
pub fn pack_into(
    content: &mut Vec<u8>,
    pack: Vec<Wanted>,
    plan: &Plan,
    options: &CopyOptions,
    progress: &Progress,
) {
    for wanted in pack {
        let packed = match wanted.entry.stamp.file_type() {
            FileType::Directory => {
                put_head(content, RecordKind::Directory, &wanted.entry.target(), &wanted.entry.stamp, &[]);
                Ok(())
            }
            FileType::Symlink => put_link(content, &wanted),
            _ => put_file(content, wanted, plan, options, progress),
        };
        if let Err(failure) = packed {
            progress.fail(failure);
        }
    }
}

fn put_link(content: &mut Vec<u8>, wanted: &Wanted) -> Result<(), Failure> {
    let path = wanted.entry.source();
    let leads_to = link_target(&path)
        .map_err(|error| Failure::of(path.as_os_str().as_bytes(), "reading the link", &error))?;
    put_head(content, RecordKind::Link, &wanted.entry.target(), &wanted.entry.stamp, &[]);
    put_bytes(content, &leads_to);
    Ok(())
}

fn put_file(
    content: &mut Vec<u8>,
    wanted: Wanted,
    plan: &Plan,
    options: &CopyOptions,
    progress: &Progress,
) -> Result<(), Failure> {
    let start = content.len();
    let mut attempts = 0;
    loop {
        content.truncate(start);
        attempts += 1;
        let source = OpenedSource::open(wanted.entry.source())?;
        if source.stamp.size > BLOCK {
            // It has grown since it was found.
            let mut wanted = wanted;
            wanted.entry.stamp = source.stamp;
            plan.later(wanted);
            return Ok(());
        }
        let attributes = kept_attributes(&source, options)?;
        let (target, size) = (wanted.entry.target(), source.stamp.size as usize);
        put_head(content, RecordKind::File, &target, &source.stamp, &attributes);
        content.extend_from_slice(&source.stamp.size.to_le_bytes()[..4]);
        let begin = content.len();
        let read = source.read_to(content, 0, size);
        if read.is_err() || !source.is_unchanged()? {
            if attempts < ATTEMPTS {
                continue;
            }
            content.truncate(start);
            return Err(read.err().unwrap_or_else(|| source.changed()));
        }
        if wanted.known.is_some_and(|known| blake3::hash(&content[begin..]) == known) {
            content.truncate(start);
            put_head(content, RecordKind::Keep, &target, &source.stamp, &attributes);
        } else {
            Progress::add(&progress.moved, source.stamp.size);
        }
        return Ok(());
    }
}

/// The extended attributes of a source, if they are preserved.
pub fn kept_attributes(source: &OpenedSource, options: &CopyOptions) -> Result<Attributes, Failure> {
    if !options.preserve {
        return Ok(Vec::new());
    }
    attributes_of(&source.file).map_err(|error| source.failed("reading the extended attributes", &error))
}

/// Appends what every record begins with.
pub fn put_head(
    content: &mut Vec<u8>,
    kind: RecordKind,
    path: &[u8],
    stamp: &crate::entry::Stamp,
    attributes: &[(Vec<u8>, Vec<u8>)],
) {
    content.push(kind as u8);
    put_bytes(content, path);
    put_stamp(content, stamp);
    content.extend_from_slice(&(attributes.len() as u32).to_le_bytes());
    for (name, value) in attributes {
        put_bytes(content, name);
        put_bytes(content, value);
    }
}
