//! A temporary home for runs.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;
use tempfile::TempDir;

use super::Call;
use super::process::{kill, of_home};

/// A folder with a home, scripts, profiles and output; removed with the last clone and command that use it.
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
        // Only a test that fails leaves processes.
        if std::thread::panicking() {
            of_home(&self.home).into_iter().for_each(|process| kill(process.pid));
        }
    }
}

impl Home {
    /// A home that does not exist yet, in a new folder.
    pub fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let home = folder.path().join("home");
        Self { place: Arc::new(Place { folder, home }) }
    }

    /// A home at `path`, which may be a mount or not a folder.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        Self { place: Arc::new(Place { folder, home: path.into() }) }
    }

    pub fn path(&self) -> &Path {
        &self.place.home
    }

    pub fn folder(&self) -> &Path {
        self.place.folder.path()
    }

    /// A command line without the program, split at blanks.
    pub fn seatrial(&self, line: &str) -> Call {
        Call::new(self, line)
    }

    pub fn file(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.folder().join(name);
        fs::write(&path, text).expect("written");
        path
    }

    pub fn runs(&self) -> Vec<PathBuf> {
        let Ok(entries) = fs::read_dir(self.path().join("runs")) else { return Vec::new() };
        let mut runs: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
        runs.sort();
        runs
    }

    #[track_caller]
    pub fn run(&self) -> PathBuf {
        let mut runs = self.runs();
        assert_eq!(runs.len(), 1, "{runs:?}");
        runs.remove(0)
    }

    #[track_caller]
    pub fn id(&self) -> String {
        let run = self.run();
        run.file_name().expect("a name").to_str().expect("an id is ASCII").to_owned()
    }

    /// Whole lines of the newest run's journal; empty without a run.
    pub fn events(&self) -> Vec<Value> {
        self.runs().last().map_or(Vec::new(), |run| {
            lines(&run.join("events.jsonl")).into_iter().map(|mut line| line["event"].take()).collect()
        })
    }

    pub fn results(&self) -> Vec<Value> {
        self.runs().last().map_or(Vec::new(), |run| lines(&run.join("results.jsonl")))
    }
}

fn lines(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap_or_default();
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    whole.lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect()
}
