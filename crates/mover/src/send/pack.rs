//! Small files, links and directories in one frame.

use rustix::fs::FileType;

use super::plan::{Plan, Wanted};
use crate::block::BLOCK;
use crate::entry::Entry;
use crate::failure::Failure;
use crate::need::Need;
use crate::options::CopyOptions;
use crate::progress::Progress;
use crate::record::RecordKind;
use crate::source::{OpenedSource, link_target};
use crate::wire::{put_bytes, put_stamp};
use std::os::unix::ffi::OsStrExt;

/// Bytes of a pack beyond which the rest of its files waits for the next one: with the file that comes last, and its
/// attributes, it is far from the largest frame.
const MOST_PACKED: usize = 4 * BLOCK as usize;

/// How often a file is read that changes while it is read.
const ATTEMPTS: u32 = 3;

/// Appends everything of `pack` that can be read to `content`; what cannot is a failure. What is too much for one frame goes
/// back into the plan.
pub fn pack_into(
    content: &mut Vec<u8>,
    pack: Vec<Wanted>,
    plan: &Plan,
    options: &CopyOptions,
    progress: &Progress,
) {
    for wanted in pack {
        if content.len() > MOST_PACKED {
            // Files have grown since they were found, or have large attributes.
            plan.later(wanted);
            continue;
        }
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
            let entry = Entry { stamp: source.stamp, ..wanted.entry };
            plan.later(Wanted { entry, need: Need::Content });
            return Ok(());
        }
        let attributes = source.attributes(options.preserve)?;
        let (target, size) = (wanted.entry.target(), source.stamp.size as usize);
        if wanted.need == Need::Attributes && source.is_in_target(wanted.need, &wanted.entry.stamp)? {
            put_head(content, RecordKind::Keep, &target, &source.stamp, &attributes);
            return Ok(());
        }
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
        if matches!(wanted.need, Need::Other(known) if blake3::hash(&content[begin..]) == known) {
            content.truncate(start);
            put_head(content, RecordKind::Keep, &target, &source.stamp, &attributes);
        } else {
            Progress::add(&progress.moved, source.stamp.size);
        }
        return Ok(());
    }
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::sync::Arc;

    use super::*;
    use crate::entry::{Root, Stamp};
    use crate::record::Record;
    use crate::send::plan::Step;
    use crate::wire::Fields;

    #[test]
    fn files_that_have_all_grown_come_once_each_in_frames_that_are_not_too_long() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = Arc::new(Root { base: folder.path().to_owned(), name: Vec::new() });
        let (plan, progress) = (Plan::default(), Progress::default());
        const FILES: usize = 40;
        for number in 0..FILES {
            let name = number.to_string();
            let file = std::fs::File::create(folder.path().join(&name)).expect("made");
            // As found: so small that all of them fit into one pack.
            let mode = FileType::RegularFile.as_raw_mode() | 0o644;
            let stamp = Stamp { size: 10, mode, ..Stamp::default() };
            file.set_len(BLOCK).expect("set");
            let path = name.into_bytes();
            let entry = Entry { root: Arc::clone(&root), path, stamp, is_sparse: false };
            plan.later(Wanted { entry, need: Need::Content });
        }
        plan.end_of_scan();
        let mut sent = Vec::new();
        while let Step::Pack(pack) = plan.next() {
            let mut content = Vec::new();
            pack_into(&mut content, pack, &plan, &CopyOptions::default(), &progress);
            assert!(content.len() < 8 * BLOCK as usize, "{} bytes in a frame", content.len());
            let mut fields = Fields(&content);
            while !fields.is_empty() {
                let record = Record::read(&mut fields).expect("a record");
                assert_eq!(fields.bytes().expect("the content").len() as u64, BLOCK);
                sent.push(record.path.to_vec());
            }
        }
        assert_eq!((sent.len(), sent.iter().collect::<BTreeSet<_>>().len()), (FILES, FILES));
        assert_eq!(progress.take_failures(), []);
    }
}
