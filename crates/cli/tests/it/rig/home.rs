//! A home for runs that goes away with its test.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;
use tempfile::TempDir;

use super::Call;
use super::process::{kill, of_home};

/// A folder with the home of Seatrial in it, and room for scripts, profiles and what commands print. It goes away with the
/// last of the home and the commands that use it.
#[derive(Clone)]
pub struct Home {
    place: Arc<Place>,
}

struct Place {
    folder: TempDir,
    home: PathBuf,
}

impl Drop for Place {
    fn drop(&mut self) {
        // Only a test that fails leaves anything running.
        if std::thread::panicking() {
            of_home(&self.home).into_iter().for_each(|process| kill(process.pid));
        }
    }
}

impl Home {
    /// A home that does not exist yet, in a folder of its own.
    pub fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let home = folder.path().join("home");
        Self { place: Arc::new(Place { folder, home }) }
    }

    /// A home at `path`, which may be a mount or no folder at all.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        Self { place: Arc::new(Place { folder, home: path.into() }) }
    }

    /// What SEATRIAL_HOME is set to.
    pub fn path(&self) -> &Path {
        &self.place.home
    }

    /// The folder around the home.
    pub fn folder(&self) -> &Path {
        self.place.folder.path()
    }

    /// A command line without the program, its words parted by blanks.
    pub fn seatrial(&self, line: &str) -> Call {
        Call::new(self, line)
    }

    /// Writes a file beside the home.
    pub fn file(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.folder().join(name);
        fs::write(&path, text).expect("written");
        path
    }

    /// The folders of all runs, oldest first.
    pub fn runs(&self) -> Vec<PathBuf> {
        let Ok(entries) = fs::read_dir(self.path().join("runs")) else { return Vec::new() };
        let mut runs: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
        runs.sort();
        runs
    }

    /// The folder of the only run.
    #[track_caller]
    pub fn run(&self) -> PathBuf {
        let mut runs = self.runs();
        assert_eq!(runs.len(), 1, "{runs:?}");
        runs.remove(0)
    }

    /// The id of the only run.
    #[track_caller]
    pub fn id(&self) -> String {
        let run = self.run();
        run.file_name().expect("a name").to_str().expect("an id is ASCII").to_owned()
    }

    /// What the newest run's journal holds so far: the events, whole lines only. None while there is no run.
    pub fn events(&self) -> Vec<Value> {
        self.runs().last().map_or(Vec::new(), |run| {
            lines(&run.join("events.jsonl")).into_iter().map(|mut line| line["event"].take()).collect()
        })
    }

    /// The records of the newest run's cases so far, as they stand in the file.
    pub fn results(&self) -> Vec<Value> {
        self.runs().last().map_or(Vec::new(), |run| lines(&run.join("results.jsonl")))
    }
}

fn lines(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap_or_default();
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    whole.lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect()
}
