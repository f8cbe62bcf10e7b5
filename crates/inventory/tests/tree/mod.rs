//! Builds the files of a machine in a temporary folder, from a fixture and from repeated parts.

mod class;
mod device;
mod dmi;
mod shape;

pub use dmi::Module;
pub use shape::Shape;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use seatrial_sys::root::SysRoot;

pub struct Tree {
    dir: tempfile::TempDir,
}

impl Tree {
    /// The tree in `tests/fixtures/NAME/tree`; the README beside the fixtures has its format.
    pub fn fixture(name: &str) -> Self {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name).join("tree");
        let text = fs::read_to_string(path).expect("the fixture");
        let tree = Self { dir: tempfile::tempdir().expect("a temporary folder") };
        let mut rest = text.as_str();
        while let Some(part) = rest.strip_prefix("==").or_else(|| rest.strip_prefix("=/")) {
            let end = ["\n== ", "\n=/ "].iter().filter_map(|mark| part.find(mark)).min();
            let (body, behind) = part.split_at(end.map_or(part.len(), |end| end + 1));
            let (path, content) = body.trim_start().split_once('\n').unwrap_or((body.trim(), ""));
            match rest.starts_with("==") {
                true => tree.write(path, content),
                false => tree.folder(path, content),
            }
            rest = behind;
        }
        assert_eq!(rest, "", "a fixture is made of files and folders");
        tree
    }

    /// A folder of small files: `file value`, `link -> target`, `file !` (unreadable), `@…` (several files).
    fn folder(&self, path: &str, content: &str) {
        fs::create_dir_all(self.root().locate(path)).expect("made");
        let (several, single): (Vec<&str>, Vec<&str>) =
            content.lines().partition(|line| line.starts_with('@'));
        for line in single {
            let (name, value) = line.split_once(' ').unwrap_or((line, ""));
            let at = format!("{path}/{name}");
            match value.split_once("-> ") {
                Some(("", target)) => self.link(&at, target),
                _ if value == "!" => self.unreadable(&at),
                _ => self.write(&at, format!("{value}\n")),
            }
        }
        several.into_iter().for_each(|line| device::expand(self, path, line));
        class::link(self, path);
    }

    /// An unreadable file: a folder, which cannot be read like a file.
    fn unreadable(&self, path: &str) {
        fs::create_dir_all(self.root().locate(path)).expect("made");
    }

    /// A symbolic link, unless the path exists.
    fn link(&self, path: &str, target: &str) {
        let at = self.root().locate(path);
        if at.symlink_metadata().is_ok() {
            return;
        }
        fs::create_dir_all(at.parent().expect("a parent")).expect("made");
        symlink(target, at).expect("linked");
    }

    /// Writes a file, unless the fixture has it.
    pub fn add(&self, path: &str, content: impl AsRef<[u8]>) {
        if !self.root().exists(path) {
            self.write(path, content);
        }
    }

    fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.root().locate(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("made");
        fs::write(path, content).expect("written");
    }

    #[must_use]
    pub fn without(self, path: &str) -> Self {
        fs::remove_dir_all(self.root().locate(path)).expect("removed");
        self
    }

    pub fn fill_with(&self, content: &[u8]) {
        fill(self.dir.path(), content);
    }

    #[must_use]
    pub fn with(self, shape: &Shape) -> Self {
        shape.add_to(&self);
        self
    }

    #[must_use]
    pub fn with_modules(self, modules: &[Module]) -> Self {
        self.add("/sys/firmware/dmi/tables/DMI", dmi::table(modules));
        self
    }

    pub fn root(&self) -> SysRoot {
        SysRoot::at(self.dir.path())
    }
}

fn fill(folder: &Path, content: &[u8]) {
    for entry in fs::read_dir(folder).expect("listed") {
        let entry = entry.expect("an entry");
        let kind = entry.file_type().expect("told");
        if kind.is_dir() {
            fill(&entry.path(), content);
        } else if kind.is_file() {
            // A new file: ext4 waits for the disk when an old one is truncated and written.
            fs::remove_file(entry.path()).expect("removed");
            fs::write(entry.path(), content).expect("written");
        }
    }
}
