//! Compares what the sender has with what is there.

use std::fs::File;
use std::io;

use rustix::fs::{AtFlags, FileType, Mode, OFlags, fchmod, openat, statat};

use crate::entry::Stamp;
use crate::need::Need;
use crate::source::hash_of;
use crate::target::Folders;
use crate::wire::Fields;

/// What a sender asks of the copies.
#[derive(Clone, Copy, Debug)]
pub struct Terms {
    pub preserve: bool,
    pub checksum: bool,
    pub is_dry: bool,
}

/// What is needed of each file of a [`crate::wire::FrameKind::Query`].
pub fn needs(content: &[u8], mut folders: Option<&mut Folders>, terms: Terms) -> io::Result<Vec<Need>> {
    let (mut fields, mut needs) = (Fields(content), Vec::new());
    while !fields.is_empty() {
        let (path, stamp) = (fields.bytes()?, fields.stamp()?);
        let need = folders.as_mut().and_then(|folders| need_of(path, &stamp, folders, terms));
        needs.push(need.unwrap_or(Need::Content));
    }
    Ok(needs)
}

/// What is needed of a file; `None` if all of it is, or if the file cannot be looked at: storing it will say why. With
/// `preserve` only the sender can tell whether there are other extended attributes.
pub fn need_of(path: &[u8], stamp: &Stamp, folders: &mut Folders, terms: Terms) -> Option<Need> {
    let Terms { preserve, checksum, is_dry } = terms;
    let spot = folders.spot(path, false).ok()?;
    let found = Stamp::of(&statat(spot.folder(), &spot.name, AtFlags::SYMLINK_NOFOLLOW).ok()?);
    if found.file_type() != FileType::RegularFile || found.size != stamp.size {
        return None;
    }
    let open = || {
        openat(spot.folder(), &spot.name, OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())
    };
    if checksum {
        return hash_of(&File::from(open().ok()?)).ok().map(Need::Other);
    }
    let is_owned_alike = (found.user, found.group) == (stamp.user, stamp.group);
    if !found.has_content_of(stamp) || (preserve && !is_owned_alike) {
        return None;
    }
    if preserve && !is_dry {
        return Some(Need::Attributes);
    }
    let wanted = Mode::from_raw_mode(stamp.mode & 0o7777).difference(Mode::SUID | Mode::SGID);
    if Mode::from_raw_mode(found.mode & 0o7777) != wanted && !is_dry {
        fchmod(open().ok()?, wanted).ok()?;
    }
    Some(Need::Nothing)
}
