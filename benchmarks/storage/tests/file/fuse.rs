//! A FUSE file system in memory that answers as ordered: late, short, with an error, or never.
//!
//! Speaks the kernel's protocol on `/dev/fuse` directly (linux/fuse.h, 7.31), with one folder and only the requests
//! that a case needs. Runs in its own process, so that kernel threads never wait for the process under test, and so
//! that it can die.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::fs::{Mode, OFlags, open};
use tempfile::TempDir;

use crate::rig::call;

/// Environment of the server: where to mount, and which faults to inject.
const ORDER: &str = "SEATRIAL_TEST_FUSE";

/// Request numbers of the kernel.
const LOOKUP: u32 = 1;
const FORGET: u32 = 2;
const GETATTR: u32 = 3;
const SETATTR: u32 = 4;
const UNLINK: u32 = 10;
const OPEN: u32 = 14;
const READ: u32 = 15;
const WRITE: u32 = 16;
const STATFS: u32 = 17;
const RELEASE: u32 = 18;
const FSYNC: u32 = 20;
const FLUSH: u32 = 25;
const INIT: u32 = 26;
const OPENDIR: u32 = 27;
const READDIR: u32 = 28;
const RELEASEDIR: u32 = 29;
const CREATE: u32 = 35;
const INTERRUPT: u32 = 36;
const BATCH_FORGET: u32 = 42;

const ENOENT: i32 = 2;
const ENOSYS: i32 = 38;

/// Bytes of `struct fuse_in_header`, and of the header of a write behind it.
const HEADER: usize = 40;
const WRITE_HEADER: usize = 40;

/// Most bytes per request.
const MOST: usize = 128 << 10;

const FOLDER: u64 = 1;

/// A mounted file system; dropping it kills the server and unmounts.
pub struct Fuse {
    folder: TempDir,
    server: Child,
}

impl Fuse {
    /// `order` lists faults: `read:20=errno:5` answers the twentieth read and all later ones with error 5. Other
    /// faults are `stall`, `short`, `late` (by so many milliseconds) and `die`.
    pub fn new(order: &str) -> Result<Self, String> {
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        std::fs::create_dir(folder.path().join("mount")).map_err(|error| error.to_string())?;
        if !Path::new("/dev/fuse").exists() {
            return Err("there is no /dev/fuse".to_owned());
        }
        let me = std::env::current_exe().map_err(|error| error.to_string())?;
        let told = format!("{}\n{order}", folder.path().join("mount").display());
        let server = Command::new(me)
            .args(["--exact", "fuse::serves_when_it_is_told_to", "--ignored"])
            .env(ORDER, told)
            .stdout(Stdio::null())
            .spawn()
            .map_err(|error| error.to_string())?;
        let mut fuse = Self { folder, server };
        let began = Instant::now();
        let own = std::fs::metadata(fuse.folder.path()).map_err(|error| error.to_string())?;
        loop {
            use std::os::unix::fs::MetadataExt;
            if std::fs::metadata(fuse.mount()).is_ok_and(|told| told.dev() != own.dev()) {
                return Ok(fuse);
            }
            if let Ok(Some(status)) = fuse.server.try_wait() {
                return Err(format!("the server of the file system ended: {status}"));
            }
            if began.elapsed() > Duration::from_secs(60) {
                return Err("the file system was not mounted within a minute".to_owned());
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    pub fn mount(&self) -> PathBuf {
        self.folder.path().join("mount")
    }
}

impl Drop for Fuse {
    fn drop(&mut self) {
        // The kernel answers pending requests when the last descriptor of the connection is closed.
        let _ = self.server.kill();
        let _ = self.server.wait();
        let mount = self.mount();
        let _ = call("umount", &["-l", mount.to_str().expect("UTF-8")]);
    }
}

#[test]
#[ignore = "run by other tests, in a process of its own"]
fn serves_when_it_is_told_to() {
    let Ok(told) = std::env::var(ORDER) else { return };
    let (mount, order) = told.split_once('\n').expect("two lines");
    // Without O_CLOEXEC: the mount program passes the descriptor to the kernel by number.
    let connection: OwnedFd = open("/dev/fuse", OFlags::RDWR, Mode::empty()).expect("opened");
    let number = connection.as_raw_fd();
    let options = format!("fd={number},rootmode=40000,user_id=0,group_id=0,allow_other");
    call("mount", &["-i", "-t", "fuse", "-o", &options, "seatrial-test", mount]).expect("mounted");
    let mut server = Server::new(File::from(connection), order);
    let mut request = vec![0; HEADER + WRITE_HEADER + MOST + 4096];
    while let Ok(bytes) = server.connection.read(&mut request) {
        server.serve(&request[..bytes]);
    }
}

#[derive(Clone, Copy)]
enum Wrong {
    Errno(i32),
    Stall,
    Short,
    Late(u64),
    Die,
}

struct Server {
    connection: File,
    /// By kind of request: from which count on, and what.
    wrongs: Vec<(u32, u64, Wrong)>,
    counts: BTreeMap<u32, u64>,
    /// Files by number; names are needed only until they are removed.
    files: BTreeMap<u64, Vec<u8>>,
    names: BTreeMap<Vec<u8>, u64>,
    next: u64,
}

impl Server {
    fn new(connection: File, order: &str) -> Self {
        let wrong = |word: &str| {
            let (when, what) = word.split_once('=').expect("when=what");
            let (kind, from) = when.split_once(':').expect("kind:number");
            let kind = match kind {
                "create" => CREATE,
                "read" => READ,
                "write" => WRITE,
                "fsync" => FSYNC,
                other => panic!("no request '{other}'"),
            };
            let (what, number) = what.split_once(':').unwrap_or((what, "0"));
            let number: u64 = number.parse().expect("a number");
            let wrong = match what {
                "errno" => Wrong::Errno(number as i32),
                "stall" => Wrong::Stall,
                "short" => Wrong::Short,
                "late" => Wrong::Late(number),
                "die" => Wrong::Die,
                other => panic!("no way '{other}'"),
            };
            (kind, from.parse().expect("a number"), wrong)
        };
        Self {
            connection,
            wrongs: order.split_whitespace().map(wrong).collect(),
            counts: BTreeMap::new(),
            files: BTreeMap::new(),
            names: BTreeMap::new(),
            next: FOLDER + 1,
        }
    }

    fn serve(&mut self, request: &[u8]) {
        let (kind, unique) = (u32_at(request, 4), u64_at(request, 8));
        let count = self.counts.entry(kind).or_default();
        *count += 1;
        let due = |(of, from, _): &&(u32, u64, Wrong)| *of == kind && *count >= *from;
        let mut answer = match self.wrongs.iter().find(due).map(|(.., wrong)| *wrong) {
            Some(Wrong::Errno(errno)) => Err(errno),
            Some(Wrong::Stall) => return,
            Some(Wrong::Die) => std::process::exit(0),
            Some(Wrong::Late(ms)) => {
                std::thread::sleep(Duration::from_millis(ms));
                self.answer(kind, u64_at(request, 16), &request[HEADER..])
            }
            Some(Wrong::Short) => {
                let whole = self.answer(kind, u64_at(request, 16), &request[HEADER..]);
                whole.map(|bytes| bytes[..bytes.len() / 2].to_vec())
            }
            None => self.answer(kind, u64_at(request, 16), &request[HEADER..]),
        };
        // These three have no answer.
        if matches!(kind, FORGET | BATCH_FORGET | INTERRUPT) {
            return;
        }
        let body = answer.as_mut().map_or_else(|_| Vec::new(), std::mem::take);
        let mut reply = Vec::with_capacity(16 + body.len());
        reply.extend(((16 + body.len()) as u32).to_ne_bytes());
        reply.extend((-answer.err().unwrap_or(0)).to_ne_bytes());
        reply.extend(unique.to_ne_bytes());
        reply.extend(body);
        // ENOENT for a request that was interrupted.
        let _ = self.connection.write(&reply);
    }

    fn answer(&mut self, kind: u32, node: u64, body: &[u8]) -> Result<Vec<u8>, i32> {
        match kind {
            INIT => Ok(init()),
            LOOKUP => {
                let number = *self.names.get(name(body)).ok_or(ENOENT)?;
                Ok(self.entry(number))
            }
            GETATTR => Ok(self.attributes(node)),
            SETATTR => {
                // FATTR_SIZE of `valid`; the size follows the file handle.
                if u32_at(body, 0) & 8 != 0 {
                    let size = u64_at(body, 16) as usize;
                    self.files.get_mut(&node).ok_or(ENOENT)?.resize(size, 0);
                }
                Ok(self.attributes(node))
            }
            CREATE => {
                let number = self.next;
                self.next += 1;
                self.files.insert(number, Vec::new());
                // flags, mode, umask and open_flags precede the name.
                self.names.insert(name(&body[16..]).to_vec(), number);
                let mut both = self.entry(number);
                both.extend(opened());
                Ok(both)
            }
            UNLINK => self.names.remove(name(body)).map(|_| Vec::new()).ok_or(ENOENT),
            OPEN | OPENDIR => Ok(opened()),
            READ => {
                let (offset, size) = (u64_at(body, 8) as usize, u32_at(body, 16) as usize);
                let file = self.files.get(&node).ok_or(ENOENT)?;
                let end = file.len().min(offset + size);
                Ok(file.get(offset..end).unwrap_or_default().to_vec())
            }
            WRITE => {
                let (offset, size) = (u64_at(body, 8) as usize, u32_at(body, 16) as usize);
                let file = self.files.get_mut(&node).ok_or(ENOENT)?;
                file.resize(file.len().max(offset + size), 0);
                file[offset..offset + size].copy_from_slice(&body[WRITE_HEADER..WRITE_HEADER + size]);
                Ok([(size as u32).to_ne_bytes(), [0; 4]].concat())
            }
            STATFS => Ok(room()),
            RELEASE | RELEASEDIR | FLUSH | FSYNC | READDIR => Ok(Vec::new()),
            _ => Err(ENOSYS),
        }
    }

    /// `struct fuse_entry_out` with no validity, so that the kernel asks again.
    fn entry(&self, number: u64) -> Vec<u8> {
        let mut out = number.to_ne_bytes().to_vec();
        out.extend([0; 32]);
        out.extend(self.attribute(number));
        out
    }

    /// `struct fuse_attr_out`.
    fn attributes(&self, number: u64) -> Vec<u8> {
        let mut out = vec![0; 16];
        out.extend(self.attribute(number));
        out
    }

    /// `struct fuse_attr`.
    fn attribute(&self, number: u64) -> Vec<u8> {
        let size = self.files.get(&number).map_or(0, Vec::len) as u64;
        let mut out: Vec<u8> =
            [number, size, size.div_ceil(512), 0, 0, 0].into_iter().flat_map(u64::to_ne_bytes).collect();
        let (mode, links) = if number == FOLDER { (0o40_777, 2) } else { (0o100_600, 1) };
        let rest: [u32; 10] = [0, 0, 0, mode, links, 0, 0, 0, 4096, 0];
        out.extend(rest.into_iter().flat_map(u32::to_ne_bytes));
        out
    }
}

/// `struct fuse_init_out`: version 7.31; direct requests may run in parallel (FUSE_ASYNC_DIO).
fn init() -> Vec<u8> {
    let mut out: Vec<u8> = [7, 31, 0, 1 << 15].into_iter().flat_map(u32::to_ne_bytes).collect();
    out.extend([16_u16, 12].into_iter().flat_map(u16::to_ne_bytes));
    out.extend([MOST as u32, 1].into_iter().flat_map(u32::to_ne_bytes));
    out.extend([0; 36]);
    out
}

/// `struct fuse_open_out`.
fn opened() -> Vec<u8> {
    vec![0; 16]
}

/// `struct fuse_kstatfs`: 1 GiB in blocks of 4 KiB, all free.
fn room() -> Vec<u8> {
    let blocks = 1 << 18;
    let mut out: Vec<u8> =
        [blocks, blocks, blocks, 1000, 1000].into_iter().flat_map(u64::to_ne_bytes).collect();
    out.extend([4096_u32, 255, 4096, 0].into_iter().flat_map(u32::to_ne_bytes));
    out.extend([0; 24]);
    out
}

fn name(bytes: &[u8]) -> &[u8] {
    bytes.split(|byte| *byte == 0).next().unwrap_or_default()
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_ne_bytes(bytes[at..at + 4].try_into().expect("four"))
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_ne_bytes(bytes[at..at + 8].try_into().expect("eight"))
}
