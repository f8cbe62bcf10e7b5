//! Bytes of the tar archive around the contents, all of which follow from names and sizes.

use std::io;

use tar::{Builder, EntryType, Header};

/// Block size; every entry begins at a multiple.
pub const BLOCK: usize = 512;

/// End of an archive: two blocks of zeros (POSIX, pax, "ustar Interchange Format").
pub const END: usize = 2 * BLOCK;

/// Time of every file: 1980-01-01 00:00 UTC in seconds, since GNU tar warns about the year 1970.
const TIME: u64 = 315_532_800;

pub fn preamble(name: &str, bytes: u64) -> io::Result<Vec<u8>> {
    let mut header = Header::new_gnu();
    header.set_entry_type(EntryType::Regular);
    header.set_size(bytes);
    header.set_mode(0o644);
    header.set_mtime(TIME);
    header.set_uid(0);
    header.set_gid(0);
    let mut builder = Builder::new(Vec::new());
    // Names of more than 100 characters get an extra entry before, in the GNU tar format.
    builder.append_data(&mut header, name, io::empty())?;
    Ok(builder.get_ref().clone())
}

/// Zeros between the end of a file of `bytes` bytes and the next block.
pub const fn padding(bytes: u64) -> usize {
    let over = (bytes % BLOCK as u64) as usize;
    (BLOCK - over) % BLOCK
}

/// How `found` differs from the header of `name` with `bytes` bytes, in words.
pub fn difference(found: &[u8], name: &str, bytes: u64) -> String {
    let Some(block) = found.get(..BLOCK) else { return "it is missing".to_owned() };
    if block.iter().all(|byte| *byte == 0) {
        return "it is missing: the archive ends before it".to_owned();
    }
    let header = Header::from_byte_slice(block);
    let there = String::from_utf8_lossy(&header.path_bytes()).escape_default().to_string();
    let shown = format!("'{there}'");
    match header.entry_type() {
        EntryType::Regular | EntryType::GNULongName => {}
        EntryType::Symlink | EntryType::Link => {
            let to = header.link_name_bytes().map(|to| String::from_utf8_lossy(&to).into_owned());
            let to = to.unwrap_or_default();
            return format!("its place is taken by a link, {shown} to '{}'", to.escape_default());
        }
        EntryType::Directory => return format!("its place is taken by a folder, {shown}"),
        other => return format!("its place is taken by {shown}, which is not a file ({other:?})"),
    }
    if there != name && header.entry_type() == EntryType::Regular {
        let leads = there.starts_with('/') || there.split('/').any(|part| part == "..");
        let outside = if leads { ", a path outside of the run" } else { "" };
        return format!("its place is taken by {shown}{outside}");
    }
    match header.size() {
        Ok(size) if header.entry_type() == EntryType::Regular && size != bytes => {
            format!("it has {size} B, the manifest says {bytes} B")
        }
        _ => "its header was changed: owner, time or mode are not those of an export".to_owned(),
    }
}
