//! Access to the kernel's files, `/sys`, `/proc`, `/etc`, `/run`, below a prefix that tests can choose.

mod link;
pub mod space;
mod tree;

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::{Arc, RwLock};

use rustix::io::Errno;

pub use tree::Tree;
use tree::TreeEntry;

/// The root of the kernel's files: `/`, or a directory or memory tree of a test.
///
/// Paths given to the methods are absolute, as on the live system (`/proc/stat`), and errors name them so.
#[derive(Clone, Debug)]
pub struct SysRoot {
    prefix: PathBuf,
    tree: Option<Arc<RwLock<Tree>>>,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    #[error("{path} does not exist")]
    Missing {
        /// The path on the live system.
        path: String,
    },
    #[error("cannot read {path}: {errno}")]
    Unreadable { path: String, errno: Errno },
    #[error("{path} holds {text:?}, expected {expected}")]
    Garbage { path: String, text: String, expected: String },
}

impl ReadError {
    pub fn garbage(path: impl AsRef<Path>, text: &str, expected: &str) -> Self {
        let text = text.trim_end().chars().take(60).collect();
        Self::Garbage { path: path.as_ref().display().to_string(), text, expected: expected.to_owned() }
    }

    pub const fn is_missing(&self) -> bool {
        matches!(self, Self::Missing { .. })
    }

    /// The error number; none where the file was read.
    pub const fn errno(&self) -> Option<Errno> {
        match self {
            Self::Missing { .. } => Some(Errno::NOENT),
            Self::Unreadable { errno, .. } => Some(*errno),
            Self::Garbage { .. } => None,
        }
    }

    fn io(path: &Path, error: &io::Error) -> Self {
        let path = path.display().to_string();
        match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Self::Missing { path },
            _ => Self::Unreadable { path, errno: Errno::from_io_error(error).unwrap_or(Errno::IO) },
        }
    }
}

/// A field of a line of `/proc/self/mountinfo`, in which blanks and backslashes are octal escapes.
pub fn unescape(field: &str) -> String {
    field.replace("\\040", " ").replace("\\011", "\t").replace("\\012", "\n").replace("\\134", "\\")
}

impl Default for SysRoot {
    fn default() -> Self {
        Self::live()
    }
}

impl SysRoot {
    pub fn live() -> Self {
        Self::at("/")
    }

    pub fn at(prefix: impl Into<PathBuf>) -> Self {
        Self { prefix: prefix.into(), tree: None }
    }

    pub fn of(tree: Tree) -> Self {
        Self { prefix: PathBuf::from("/dev/null"), tree: Some(Arc::new(RwLock::new(tree))) }
    }

    /// Replaces the tree in memory for all clones of this root.
    pub fn change(&self, tree: Tree) {
        if let Some(own) = &self.tree {
            *own.write().expect("not poisoned") = tree;
        }
    }

    /// Whether this is the running system, so that system calls and files describe the same machine.
    pub fn is_live(&self) -> bool {
        self.prefix == Path::new("/")
    }

    pub fn locate(&self, path: impl AsRef<Path>) -> PathBuf {
        let path = path.as_ref();
        self.prefix.join(path.strip_prefix("/").unwrap_or(path))
    }

    /// Whether the file exists; false without permission.
    pub fn exists(&self, path: impl AsRef<Path>) -> bool {
        match &self.tree {
            Some(_) => self.in_memory(path.as_ref(), |_, _| Ok(())).is_ok(),
            None => self.locate(path).exists(),
        }
    }

    pub fn bytes(&self, path: impl AsRef<Path>) -> Result<Vec<u8>, ReadError> {
        let path = path.as_ref();
        let read = match &self.tree {
            Some(_) => self.in_memory(path, |tree, at| match tree.at(at)? {
                TreeEntry::File(contents) => Ok(contents.clone()),
                _ => Err(Errno::ISDIR.into()),
            }),
            None => fs::read(self.locate(path)),
        };
        read.map_err(|error| ReadError::io(path, &error))
    }

    /// Applies `look` in the memory tree to `path` with all links resolved.
    fn in_memory<T>(&self, path: &Path, look: impl FnOnce(&Tree, &Path) -> io::Result<T>) -> io::Result<T> {
        let tree = self.tree.as_ref().ok_or(io::ErrorKind::NotFound)?.read().expect("not poisoned");
        if tree.is_plain(path) {
            return look(&tree, path);
        }
        drop(tree);
        let behind = self.resolve(path).map_err(|_| io::ErrorKind::NotFound)?;
        let tree = self.tree.as_ref().ok_or(io::ErrorKind::NotFound)?.read().expect("not poisoned");
        look(&tree, Path::new(&behind))
    }

    /// The target of the symbolic link at a path; `None` for other files.
    fn target(&self, path: &Path) -> io::Result<Option<PathBuf>> {
        match &self.tree {
            Some(tree) => match tree.read().expect("not poisoned").at(path)? {
                TreeEntry::Link(target) => Ok(Some(target.clone())),
                _ => Ok(None),
            },
            None => {
                let at = self.locate(path);
                let is_link = fs::symlink_metadata(&at)?.is_symlink();
                is_link.then(|| fs::read_link(&at)).transpose()
            }
        }
    }

    /// The text of a file without trailing white space.
    pub fn text(&self, path: impl AsRef<Path>) -> Result<String, ReadError> {
        let bytes = self.bytes(&path)?;
        let mut text = String::from_utf8(bytes).map_err(|error| {
            ReadError::garbage(&path, &String::from_utf8_lossy(error.as_bytes()), "text in UTF-8")
        })?;
        text.truncate(text.trim_end().len());
        Ok(text)
    }

    /// Writes `text` to a file that exists, by one call, as files of the kernel need it.
    pub fn write(&self, path: impl AsRef<Path>, text: &str) -> Result<(), Errno> {
        let written = OpenOptions::new().write(true).truncate(true).open(self.locate(path));
        let written = written.and_then(|mut file| file.write_all(text.as_bytes()));
        written.map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))
    }

    pub fn value<T: FromStr>(&self, path: impl AsRef<Path>) -> Result<T, ReadError> {
        let text = self.text(&path)?;
        text.trim().parse().map_err(|_| ReadError::garbage(&path, &text, std::any::type_name::<T>()))
    }

    pub fn list(&self, path: impl AsRef<Path>) -> Result<Vec<String>, ReadError> {
        let fail = |error| ReadError::io(path.as_ref(), &error);
        if self.tree.is_some() {
            return self.in_memory(path.as_ref(), Tree::list).map_err(fail);
        }
        let mut names = Vec::new();
        for entry in fs::read_dir(self.locate(&path)).map_err(fail)? {
            names.push(entry.map_err(fail)?.file_name().to_string_lossy().into_owned());
        }
        names.sort_unstable();
        Ok(names)
    }

    /// The numbers N of the entries `STEMN` in a directory (`cpu0`, `node3`), sorted.
    pub fn numbered(&self, path: impl AsRef<Path>, stem: &str) -> Result<Vec<u32>, ReadError> {
        let names = self.list(path)?;
        let mut numbers: Vec<u32> =
            names.iter().filter_map(|name| name.strip_prefix(stem)?.parse().ok()).collect();
        numbers.sort_unstable();
        Ok(numbers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree() -> (tempfile::TempDir, SysRoot) {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let root = SysRoot::at(dir.path());
        (dir, root)
    }

    #[test]
    fn tells_missing_unreadable_and_garbage_apart() {
        let (dir, root) = tree();
        fs::write(dir.path().join("number"), "seven\n").expect("written");
        fs::write(dir.path().join("bytes"), [0xff, 0xfe]).expect("written");
        fs::create_dir(dir.path().join("folder")).expect("made");
        assert_eq!(root.value::<u32>("/absent").unwrap_err().to_string(), "/absent does not exist");
        assert!(root.text("/number/below").unwrap_err().is_missing());
        let denied = root.text("/folder").unwrap_err();
        assert!(matches!(denied, ReadError::Unreadable { errno: Errno::ISDIR, .. }), "{denied}");
        let garbage = root.value::<u32>("/number").unwrap_err().to_string();
        assert_eq!(garbage, r#"/number holds "seven", expected u32"#);
        assert!(matches!(root.text("/bytes").unwrap_err(), ReadError::Garbage { .. }));
    }

    #[test]
    fn reads_values_below_its_prefix() {
        let (dir, root) = tree();
        fs::create_dir_all(dir.path().join("proc/sys")).expect("made");
        fs::write(dir.path().join("proc/sys/n"), " 42 \n").expect("written");
        assert_eq!(root.value::<u64>("/proc/sys/n"), Ok(42));
        assert!(root.exists("/proc/sys/n") && !root.exists("/proc/sys/m"));
        assert!(!root.is_live() && SysRoot::default().is_live());
    }

    #[test]
    fn writes_only_to_files_that_exist() {
        let (dir, root) = tree();
        fs::write(dir.path().join("n"), "long\n").expect("written");
        assert_eq!((root.write("/n", "1\n"), root.text("/n")), (Ok(()), Ok("1".to_owned())));
        assert_eq!(root.write("/m", "1\n"), Err(Errno::NOENT));
        assert!(!root.exists("/m"));
    }

    #[test]
    fn sorts_numbered_entries_as_numbers() {
        let (dir, root) = tree();
        for name in ["cpu10", "cpu2", "cpufreq", "cpu", "node1"] {
            fs::write(dir.path().join(name), "").expect("written");
        }
        assert_eq!(root.numbered("/", "cpu"), Ok(vec![2, 10]));
        assert_eq!(root.list("/").map(|names| names.len()), Ok(5));
    }

    #[test]
    fn cuts_long_garbage() {
        let error = ReadError::garbage("/x", &"y".repeat(5000), "less");
        assert!(error.to_string().len() < 120);
    }
}
