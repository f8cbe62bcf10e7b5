//! Open files that outlive the process that made them: a descriptor store between processes.
//!
//! The store is a pair of connected datagram sockets. A process sends descriptors, which the kernel holds in the
//! socket's queue until a process receives them (unix(7), SCM_RIGHTS). The supervisor makes the pair and lends both
//! ends to each worker. So unnamed files last as long as the supervisor or one of its workers lives, whoever is
//! killed in between, and then vanish.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd, RawFd};
use std::os::unix::net::UnixDatagram;
use std::process::Command;
use std::sync::OnceLock;

use rustix::io::Errno;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags, recvmsg, sendmsg,
};

use crate::process::{adopt, inherit};

/// The purpose of a store; a process can be lent one store of each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Files that workers leave for later workers.
    Files,
    /// Directories in which a worker is about to create persistent files, for its supervisor to clean.
    Leftovers,
}

impl Purpose {
    /// The environment variable with the worker's two descriptor numbers.
    const fn variable(self) -> &'static str {
        match self {
            Self::Files => "SEATRIAL_SHELF",
            Self::Leftovers => "SEATRIAL_LEFTOVERS",
        }
    }
}

/// Descriptors in one message at most (SCM_MAX_FD).
pub const MOST_FILES: usize = 253;

const LABEL: usize = 4096;

#[derive(Debug)]
pub struct FdStore {
    put: OwnedFd,
    take: OwnedFd,
}

#[derive(Debug)]
pub struct Item {
    pub label: Vec<u8>,
    /// In the order in which they were put.
    pub files: Vec<OwnedFd>,
}

impl FdStore {
    pub fn new() -> io::Result<Self> {
        let (put, take) = UnixDatagram::pair()?;
        Ok(Self { put: put.into(), take: take.into() })
    }

    pub fn lend(&self, command: &mut Command, purpose: Purpose) -> io::Result<()> {
        let (put, take) = (self.put.try_clone()?, self.take.try_clone()?);
        let (put, take) = (inherit(command, put), inherit(command, take));
        command.env(purpose.variable(), format!("{put},{take}"));
        Ok(())
    }

    /// The store that the supervisor lent this process for `purpose`, if any.
    pub fn lent(purpose: Purpose) -> Option<&'static Self> {
        static LENT: [OnceLock<Option<FdStore>>; 2] = [OnceLock::new(), OnceLock::new()];
        let numbers = || {
            let both = std::env::var(purpose.variable()).ok()?;
            let (put, take) = both.split_once(',')?;
            let number = |word: &str| word.parse::<RawFd>().ok();
            Some((number(put)?, number(take)?))
        };
        LENT[purpose as usize]
            .get_or_init(|| {
                let (put, take) = numbers()?;
                Some(Self { put: adopt(put).ok()?, take: adopt(take).ok()? })
            })
            .as_ref()
    }

    /// Puts files with a label into the store; they stay open here as well. `E2BIG` above [`MOST_FILES`], `EMSGSIZE`
    /// for a label that is too long, `ETOOMANYREFS` above the limit on open files.
    pub fn put(&self, label: &[u8], files: &[impl AsFd]) -> Result<(), Errno> {
        if files.len() > MOST_FILES {
            return Err(Errno::TOOBIG);
        }
        if label.len() > LABEL {
            return Err(Errno::MSGSIZE);
        }
        let files: Vec<BorrowedFd<'_>> = files.iter().map(AsFd::as_fd).collect();
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_FILES))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        control.push(SendAncillaryMessage::ScmRights(&files));
        sendmsg(&self.put, &[IoSlice::new(label)], &mut control, SendFlags::DONTWAIT).map(drop)
    }

    pub fn take(&self) -> Option<Item> {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_FILES))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let mut label = vec![0; LABEL];
        let flags = RecvFlags::DONTWAIT | RecvFlags::CMSG_CLOEXEC;
        let told = recvmsg(&self.take, &mut [IoSliceMut::new(&mut label)], &mut control, flags).ok()?;
        label.truncate(told.bytes);
        let mut files = Vec::new();
        for message in control.drain() {
            if let RecvAncillaryMessage::ScmRights(rights) = message {
                files.extend(rights);
            }
        }
        Some(Item { label, files })
    }

    /// Empties the store. Files vanish when their last descriptor is closed, which may take a file system some time.
    pub fn clear(&self) {
        while self.take().is_some() {}
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::{Read, Seek, Write};
    use std::os::fd::AsRawFd;

    use super::*;

    fn file(text: &str) -> File {
        let mut file = tempfile::tempfile().expect("a file");
        file.write_all(text.as_bytes()).expect("written");
        file
    }

    fn text(file: OwnedFd) -> String {
        let (mut file, mut text) = (File::from(file), String::new());
        file.rewind().expect("rewound");
        file.read_to_string(&mut text).expect("read");
        text
    }

    #[test]
    fn files_outlive_whoever_put_them_there_and_come_back_in_order() {
        let fd_store = FdStore::new().expect("made");
        assert!(fd_store.take().is_none());
        let files: Vec<File> = (0..MOST_FILES).map(|number| file(&number.to_string())).collect();
        fd_store.put(b"many", &files).expect("put");
        fd_store.put(b"none", &[] as &[File]).expect("put");
        drop(files);
        let item = fd_store.take().expect("there");
        assert_eq!(item.label, b"many");
        let texts: Vec<String> = item.files.into_iter().map(text).collect();
        assert_eq!(texts, (0..MOST_FILES).map(|number| number.to_string()).collect::<Vec<_>>());
        assert_eq!(fd_store.take().map(|item| item.files.len()), Some(0));
        assert!(fd_store.take().is_none());
    }

    #[test]
    fn what_does_not_fit_is_refused_and_clearing_leaves_nothing() {
        let fd_store = FdStore::new().expect("made");
        let one = file("one");
        let many: Vec<&File> = std::iter::repeat_n(&one, MOST_FILES + 1).collect();
        assert_eq!(fd_store.put(b"too many", &many), Err(Errno::TOOBIG));
        assert_eq!(fd_store.put(&[b'x'; LABEL + 1], &[&one]), Err(Errno::MSGSIZE));
        fd_store.put(b"a", &[&one]).and_then(|()| fd_store.put(b"b", &[&one])).expect("put");
        fd_store.clear();
        assert!(fd_store.take().is_none());
    }

    #[test]
    fn a_child_is_lent_both_ends_and_nobody_else() {
        let fd_store = FdStore::new().expect("made");
        let listed = |lend: bool| {
            let mut command = Command::new("sh");
            command.args(["-c", "ls /proc/self/fd; echo $SEATRIAL_SHELF"]);
            command.env_remove(Purpose::Files.variable());
            if lend {
                fd_store.lend(&mut command, Purpose::Files).expect("lent");
            }
            let output = command.output().expect("run");
            String::from_utf8(output.stdout).expect("text")
        };
        let with = listed(true);
        let numbers = with.lines().last().expect("a line").to_owned();
        let (put, take) = numbers.split_once(',').expect("two numbers");
        assert!(with.lines().any(|line| line == put) && with.lines().any(|line| line == take), "{with}");
        let own = [fd_store.put.as_raw_fd(), fd_store.take.as_raw_fd()].map(|number| number.to_string());
        assert!(!own.iter().any(|number| number == put), "a copy is lent");
        assert!(!listed(false).contains(','));
    }
}
