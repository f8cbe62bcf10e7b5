//! Trees to copy, ways to copy them, and comparing what arrived.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt, symlink};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, SystemTime};

use rustix::thread::{CapabilitySet, CapabilitySets, capabilities, set_capabilities};
use seatrial_mover::{
    BLOCK, Cipher, ControlChannel, CopyError, CopyOptions, Failure, Progress, Reach, copy_here, roots, send,
    serve,
};

/// How a copy is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Over data connections.
    Streams(usize),
    /// The same, encrypted.
    Sealed(usize, Cipher),
    /// Within this host.
    Here,
}

pub const WAYS: [Way; 5] = [
    Way::Streams(1),
    Way::Streams(3),
    Way::Sealed(2, Cipher::Aes256Gcm),
    Way::Sealed(1, Cipher::ChaCha20Poly1305),
    Way::Here,
];

/// What a copy counted.
#[derive(Debug)]
pub struct Counts {
    pub files: u64,
    pub unchanged: u64,
    pub bytes: u64,
    pub moved: u64,
    pub failures: Vec<Failure>,
}

/// Copies, and expects that the copy as a whole comes to its end.
pub fn copied(way: Way, sources: &[PathBuf], target: &Path, options: CopyOptions) -> Counts {
    let progress = Progress::default();
    copy(way, sources, target.as_os_str().as_bytes(), options, &progress).expect("the copy ends");
    Counts {
        files: Progress::get(&progress.files),
        unchanged: Progress::get(&progress.unchanged),
        bytes: Progress::get(&progress.bytes),
        moved: Progress::get(&progress.moved),
        failures: progress.take_failures(),
    }
}

pub fn copy(
    way: Way,
    sources: &[PathBuf],
    target: &[u8],
    options: CopyOptions,
    progress: &Progress,
) -> Result<(), CopyError> {
    let roots = roots(sources)?;
    let (streams, cipher) = match way {
        Way::Streams(streams) => (streams, None),
        Way::Sealed(streams, cipher) => (streams, Some(cipher)),
        Way::Here => return copy_here(&roots, target, &options, progress),
    };
    let (ours, theirs) = UnixStream::pair().expect("a pair");
    let receiving = thread::spawn(move || serve(&theirs, &theirs, Reach::Loopback));
    let control = ControlChannel { from: &ours, to: &ours };
    let sent = send(&roots, target, &CopyOptions { streams, cipher, ..options }, control, progress);
    drop(ours);
    let received = receiving.join().expect("joined");
    assert!(sent.is_err() || received.is_ok(), "{received:?}");
    sent
}

/// Bytes without a pattern that would hide a wrong place.
pub fn noise(seed: u64, length: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    (0..length)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state as u8
        })
        .collect()
}

/// Makes a tree with everything that a copy may meet.
pub fn make_tree(at: &Path) {
    let names: [&[u8]; 7] = [
        b"plain",
        b"two  spaces",
        b"new\nline",
        b"-rf",
        b"no utf-8 \xff\xfe",
        b"*?[a]\\\t'\"$HOME",
        &[b'x'; 255],
    ];
    for (number, name) in names.iter().enumerate() {
        let folder = at.join(OsStr::from_bytes(name));
        fs::create_dir_all(folder.join("deep/er")).expect("made");
        for (size, below) in
            [(0, "empty"), (1, "deep/one"), (5000 + number, "deep/er/file"), (70_000, "more")]
        {
            fs::write(folder.join(below), noise((number * 7 + size) as u64, size)).expect("written");
        }
    }
    fs::write(at.join("block"), noise(90, BLOCK as usize)).expect("written");
    fs::write(at.join("large"), noise(91, 3 * BLOCK as usize + 12_345)).expect("written");
    fs::create_dir(at.join("empty directory")).expect("made");
    let sparse = fs::File::create(at.join("sparse")).expect("made");
    sparse.set_len(8 * BLOCK).expect("set");
    sparse.write_all_at(b"in the middle", 4 * BLOCK + 77).expect("written");
    symlink("/etc", at.join("leaves the tree")).expect("linked");
    symlink("plain/more", at.join("stays in the tree")).expect("linked");
    symlink("nowhere", at.join("broken")).expect("linked");
    for (mode, name) in [(0o400, "read only"), (0o751, "program"), (0o666, "for all")] {
        fs::write(at.join(name), name).expect("written");
        fs::set_permissions(at.join(name), PermissionsExt::from_mode(mode)).expect("set");
    }
    let old = SystemTime::UNIX_EPOCH + Duration::new(1_000_000_000, 123_456_789);
    let file = fs::File::open(at.join("plain/more")).expect("opened");
    file.set_modified(old).expect("set");
    fs::set_permissions(at.join("-rf"), PermissionsExt::from_mode(0o550)).expect("set");
    fs::File::open(at.join("plain")).and_then(|folder| folder.set_modified(old)).expect("set");
}

/// A line for each file below `at`: name, type, mode, time, content.
pub fn listed(at: &Path) -> Vec<String> {
    let (mut lines, mut open) = (Vec::new(), vec![PathBuf::new()]);
    while let Some(path) = open.pop() {
        for entry in fs::read_dir(at.join(&path)).expect("listed") {
            let name = path.join(entry.expect("read").file_name());
            let about = fs::symlink_metadata(at.join(&name)).expect("there");
            let time = (about.mtime(), about.mtime_nsec());
            let content = if about.is_dir() {
                open.push(name.clone());
                String::new()
            } else if about.is_symlink() {
                format!("{:?}", fs::read_link(at.join(&name)).expect("read"))
            } else {
                format!("{:x?}", hash(&fs::read(at.join(&name)).expect("read")))
            };
            lines.push(format!("{name:?} {:o} {time:?} {content}", about.mode()));
        }
    }
    lines.sort();
    lines
}

fn hash(content: &[u8]) -> (usize, u64) {
    use std::hash::{DefaultHasher, Hasher};
    let mut hasher = DefaultHasher::new();
    hasher.write(content);
    (content.len(), hasher.finish())
}

/// Whether a partial file is left anywhere below `at`.
pub fn has_partial(at: &Path) -> bool {
    listed(at).iter().any(|line| line.contains(".seatrial-copy-"))
}

/// Says what a test could not try here.
#[expect(clippy::print_stdout, reason = "`cargo xtask test` counts these lines")]
pub fn skipped(why: &str) {
    println!("skipped: {why}");
}

/// Until this is dropped, permissions bind this thread and those that it starts, root too.
pub struct BoundByPermissions(CapabilitySets);

impl BoundByPermissions {
    pub fn new() -> Self {
        let all = capabilities(None).expect("the capabilities of this thread");
        let beyond = CapabilitySet::DAC_OVERRIDE | CapabilitySet::DAC_READ_SEARCH;
        set_capabilities(None, CapabilitySets { effective: all.effective - beyond, ..all }).expect("fewer");
        Self(all)
    }
}

impl Drop for BoundByPermissions {
    fn drop(&mut self) {
        set_capabilities(None, self.0).expect("those of before");
    }
}
