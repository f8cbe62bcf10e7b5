//! Stores small files, links and directories.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use rustix::fs::{Mode, OFlags, openat};

use crate::failure::{Failure, explained};
use crate::record::{Record, RecordKind};
use crate::stored::Stored;
use crate::target::{Folders, Temporary, leads_where, make_link, set_attributes, set_link_attributes};
use crate::wire::Fields;

/// What was being done, for the text of a failure.
const STORING: &str = "storing the file in the target";

/// Stores every record of a frame; one that fails does not stop the others.
pub fn store_files(content: &[u8], folders: &mut Folders, preserve: bool) -> io::Result<Stored> {
    let (mut fields, mut stored) = (Fields(content), Stored::default());
    while !fields.is_empty() {
        let record = Record::read(&mut fields)?;
        let done = match record.kind {
            RecordKind::File => {
                let content = fields.bytes()?;
                store_file(&record, content, folders, preserve).map(|()| {
                    stored.files += 1;
                    stored.bytes += content.len() as u64;
                })
            }
            RecordKind::Keep => keep_file(&record, folders, preserve).map(|()| stored.unchanged += 1),
            RecordKind::Link => {
                let leads_to = fields.bytes()?;
                store_link(&record, leads_to, folders, preserve).map(|()| stored.others += 1)
            }
            RecordKind::Directory => folders.directory(record.path, true).map(|_| stored.others += 1),
            RecordKind::Large => {
                return Err(io::Error::new(io::ErrorKind::InvalidData, "a large file in a pack"));
            }
        };
        if let Err(error) = done {
            stored.failures.push(Failure::new(record.path, explained(STORING, &error)));
        }
    }
    Ok(stored)
}

fn store_file(record: &Record<'_>, content: &[u8], folders: &mut Folders, preserve: bool) -> io::Result<()> {
    let temporary = Temporary::open(folders.spot(record.path, true)?)?;
    let written = (|| {
        if temporary.is_left_over {
            temporary.file.set_len(0)?;
        }
        temporary.file.write_all_at(content, 0)?;
        set_attributes(&temporary.file, &record.stamp, &record.attributes, preserve)
    })();
    complete(temporary, written)
}

/// Gives a written file its name, or removes it.
fn complete(temporary: Temporary, written: io::Result<()>) -> io::Result<()> {
    match written {
        Ok(()) => temporary.finish(),
        Err(error) => {
            temporary.remove();
            Err(error)
        }
    }
}

/// Gives a file whose content is there its attributes.
pub fn keep_file(record: &Record<'_>, folders: &mut Folders, preserve: bool) -> io::Result<()> {
    let spot = folders.spot(record.path, false)?;
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = openat(spot.folder(), &spot.name, flags, Mode::empty())?;
    set_attributes(&file, &record.stamp, &record.attributes, preserve)
}

/// Makes a symbolic link; it is never followed here.
pub fn store_link(
    record: &Record<'_>,
    leads_to: &[u8],
    folders: &mut Folders,
    preserve: bool,
) -> io::Result<()> {
    let spot = folders.spot(record.path, true)?;
    let set = |name: &[u8]| set_link_attributes(spot.folder(), name, &record.stamp, preserve);
    if leads_where(&spot, leads_to) { set(&spot.name) } else { make_link(&spot, leads_to, set) }
}

/// Gives directories their attributes.
pub fn store_directories(content: &[u8], folders: &mut Folders, preserve: bool) -> io::Result<Stored> {
    let (mut fields, mut stored) = (Fields(content), Stored::default());
    while !fields.is_empty() {
        let record = Record::read(&mut fields)?;
        let done = folders.directory(record.path, true).and_then(|directory| {
            set_attributes(File::from(directory.try_clone()?), &record.stamp, &record.attributes, preserve)
        });
        if let Err(error) = done {
            let text = explained("setting the attributes of the directory in the target", &error);
            stored.failures.push(Failure::new(record.path, text));
        }
    }
    Ok(stored)
}
