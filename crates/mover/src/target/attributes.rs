//! Permissions, times, owners and extended attributes of what was copied.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use rustix::fs::{
    AtFlags, Gid, Mode, Timespec, Timestamps, Uid, XattrFlags, chownat, fchmod, fchown, fsetxattr, fstat,
    futimens, statat, utimensat,
};
use rustix::io::Errno;

use crate::entry::Stamp;

/// Extended attributes, names and values; none unless they are preserved.
pub type Attributes = Vec<(Vec<u8>, Vec<u8>)>;

/// Gives an open file or directory the attributes of its source: the owner and extended attributes only with `preserve`,
/// without which bits that lend the owner's rights (setuid, setgid) are left out.
pub fn set_attributes(
    file: impl AsFd,
    stamp: &Stamp,
    attributes: &[(Vec<u8>, Vec<u8>)],
    preserve: bool,
) -> io::Result<()> {
    let mut mode = Mode::from_raw_mode(stamp.mode & 0o7777);
    let is_of_users = |attribute: &&(Vec<u8>, Vec<u8>)| attribute.0.starts_with(b"user.");
    if attributes.iter().any(|attribute| is_of_users(&attribute)) {
        // The owner too needs the permission to write for these (xattr(7)), which the final mode below may not give.
        let there = Mode::from_raw_mode(fstat(&file)?.st_mode);
        if !there.contains(Mode::WUSR) {
            fchmod(&file, there | Mode::WUSR)?;
        }
        set_each(&file, attributes.iter().filter(is_of_users))?;
    }
    if preserve {
        fchown(&file, Some(Uid::from_raw(stamp.user)), Some(Gid::from_raw(stamp.group)))?;
    } else {
        mode.remove(Mode::SUID | Mode::SGID);
    }
    // Before the other attributes: an access control list says more than the mode.
    fchmod(&file, mode)?;
    set_each(&file, attributes.iter().filter(|attribute| !is_of_users(attribute)))?;
    Ok(futimens(&file, &times(stamp))?)
}

fn set_each<'a>(file: impl AsFd, attributes: impl Iterator<Item = &'a (Vec<u8>, Vec<u8>)>) -> io::Result<()> {
    for (name, value) in attributes {
        fsetxattr(&file, &name[..], value, XattrFlags::empty())
            .map_err(|errno| attribute_failed(errno, name))?;
    }
    Ok(())
}

fn attribute_failed(errno: Errno, name: &[u8]) -> io::Error {
    let error = io::Error::from(errno);
    let name = String::from_utf8_lossy(name);
    io::Error::new(error.kind(), format!("the extended attribute {name}: {error}; copy without --preserve"))
}

/// Gives the symbolic link `name` in `folder` the time of its source, with `preserve` also the owner. Nothing is set that is
/// so already: the link may be of another user.
pub fn set_link_attributes(
    folder: BorrowedFd<'_>,
    name: &[u8],
    stamp: &Stamp,
    preserve: bool,
) -> io::Result<()> {
    let there = Stamp::of(&statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?);
    if preserve && (there.user, there.group) != (stamp.user, stamp.group) {
        let (user, group) = (Uid::from_raw(stamp.user), Gid::from_raw(stamp.group));
        chownat(folder, name, Some(user), Some(group), AtFlags::SYMLINK_NOFOLLOW)?;
    }
    if (there.seconds, there.nanoseconds) != (stamp.seconds, stamp.nanoseconds) {
        utimensat(folder, name, &times(stamp), AtFlags::SYMLINK_NOFOLLOW)?;
    }
    Ok(())
}

/// The time of the last change; that of the last access is now.
fn times(stamp: &Stamp) -> Timestamps {
    Timestamps {
        last_access: Timespec { tv_sec: 0, tv_nsec: rustix::fs::UTIME_NOW },
        last_modification: Timespec { tv_sec: stamp.seconds, tv_nsec: i64::from(stamp.nanoseconds) },
    }
}
