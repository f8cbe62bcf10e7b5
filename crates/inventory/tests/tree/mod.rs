//! Builds the files of a machine in a temporary folder: those of a fixture, and those that repeat.

mod dmi;
mod shape;

pub use dmi::Module;
pub use shape::Shape;

use std::fs;
use std::path::Path;

use seatrial_sys::root::SysRoot;

/// A tree of files that stands in for a machine; removed on drop.
pub struct Tree {
    dir: tempfile::TempDir,
}

impl Tree {
    /// The tree that `tests/fixtures/NAME/tree` describes.
    pub fn fixture(name: &str) -> Self {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name).join("tree");
        let text = fs::read_to_string(path).expect("the fixture");
        let tree = Self { dir: tempfile::tempdir().expect("a temporary folder") };
        for file in text.split("== ").skip(1) {
            let (path, content) = file.split_once('\n').expect("a path and a content");
            tree.write(path, content);
        }
        tree
    }

    /// Writes one file, unless the fixture has it already: what is told by hand holds.
    fn add(&self, path: &str, content: impl AsRef<[u8]>) {
        if !self.root().exists(path) {
            self.write(path, content);
        }
    }

    fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.root().locate(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("made");
        fs::write(path, content).expect("written");
    }

    /// Adds the CPUs, caches and nodes of a regular machine.
    #[must_use]
    pub fn with(self, shape: &Shape) -> Self {
        shape.add_to(&self);
        self
    }

    /// Adds the firmware's table with these slots.
    #[must_use]
    pub fn with_modules(self, modules: &[Module]) -> Self {
        self.add("/sys/firmware/dmi/tables/DMI", dmi::table(modules));
        self
    }

    /// Where it is.
    pub fn root(&self) -> SysRoot {
        SysRoot::at(self.dir.path())
    }
}
