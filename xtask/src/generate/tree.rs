//! Compares generated files with those on disk, and mends the difference.

use std::fmt;
use std::io::ErrorKind;
use std::path::Path;

use anyhow::{Context, Result};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Path below the workspace's root, with `/`.
    pub path: String,
    /// All of its text; ends with one line end.
    pub text: String,
}

impl File {
    /// A file; the end of the text is made to be one line end.
    pub fn new(path: impl Into<String>, text: &str) -> Self {
        Self { path: path.into(), text: format!("{}\n", text.trim_end()) }
    }
}

/// A path at which the disk differs from what the code makes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stale {
    Changed(String),
    /// The file is not there.
    Missing(String),
    /// A generated file that nothing makes any more.
    Orphan(String),
}

impl fmt::Display for Stale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Stale::Changed(path) => write!(f, "{path} (changed)"),
            Stale::Missing(path) => write!(f, "{path} (missing)"),
            Stale::Orphan(path) => write!(f, "{path} (nothing makes it any more)"),
        }
    }
}

/// All generated files, and where they belong.
pub struct Tree<'a> {
    /// The folder that paths start from.
    pub root: &'a Path,
    /// Folders that hold nothing but generated files.
    pub folders: &'a [&'a str],
    /// What the code makes.
    pub files: Vec<File>,
}

impl Tree<'_> {
    /// What differs on disk, in order of kind and path.
    ///
    /// # Errors
    /// When a file or folder that exists cannot be read.
    pub fn stale(&self) -> Result<Vec<Stale>> {
        let mut stale = Vec::new();
        for file in &self.files {
            match std::fs::read(self.root.join(&file.path)) {
                Ok(bytes) if bytes == file.text.as_bytes() => {}
                Ok(_) => stale.push(Stale::Changed(file.path.clone())),
                Err(error) if error.kind() == ErrorKind::NotFound => {
                    stale.push(Stale::Missing(file.path.clone()));
                }
                Err(error) => return Err(error).with_context(|| format!("cannot read {}", file.path)),
            }
        }
        for folder in self.folders {
            stale.extend(self.orphans(folder)?);
        }
        stale.sort();
        Ok(stale)
    }

    fn orphans(&self, folder: &str) -> Result<Vec<Stale>> {
        let entries = match std::fs::read_dir(self.root.join(folder)) {
            Ok(entries) => entries,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error).with_context(|| format!("cannot read {folder}")),
        };
        let mut orphans = Vec::new();
        for entry in entries {
            let entry = entry.with_context(|| format!("cannot read {folder}"))?;
            let path = format!("{folder}/{}", entry.file_name().to_string_lossy());
            if !self.files.iter().any(|file| file.path == path) {
                orphans.push(Stale::Orphan(path));
            }
        }
        Ok(orphans)
    }

    /// Makes one path what it should be.
    ///
    /// # Errors
    /// When the file cannot be written or removed.
    pub fn mend(&self, stale: &Stale) -> Result<()> {
        let (Stale::Changed(path) | Stale::Missing(path) | Stale::Orphan(path)) = stale;
        let target = self.root.join(path);
        let done = match self.files.iter().find(|file| file.path == *path) {
            None => std::fs::remove_file(&target),
            Some(file) => target
                .parent()
                .map_or(Ok(()), std::fs::create_dir_all)
                .and_then(|()| std::fs::write(&target, &file.text)),
        };
        done.with_context(|| format!("cannot bring {path} up to date"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_changed_missing_and_orphaned_files_and_mends_them() {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir(root.path().join("made")).unwrap();
        for (path, text) in [("made/same", "same\n"), ("made/changed", "old\n"), ("made/orphan", "left\n")] {
            std::fs::write(root.path().join(path), text).unwrap();
        }
        let files = ["same", "changed", "deep/missing"].map(|name| File::new(format!("made/{name}"), name));
        let tree = Tree { root: root.path(), folders: &["made", "absent"], files: files.to_vec() };

        let stale = tree.stale().unwrap();
        assert_eq!(
            stale,
            [
                Stale::Changed("made/changed".to_owned()),
                Stale::Missing("made/deep/missing".to_owned()),
                Stale::Orphan("made/orphan".to_owned()),
            ]
        );

        stale.iter().for_each(|one| tree.mend(one).unwrap());
        assert_eq!(std::fs::read_to_string(root.path().join("made/changed")).unwrap(), "changed\n");
        assert!(!root.path().join("made/orphan").exists());
        assert_eq!(std::fs::read_to_string(root.path().join("made/deep/missing")).unwrap(), "deep/missing\n");
    }

    #[test]
    fn a_mended_tree_is_not_stale() {
        let root = tempfile::tempdir().unwrap();
        let tree =
            Tree { root: root.path(), folders: &["made"], files: vec![File::new("made/one", "text\n\n")] };
        tree.stale().unwrap().iter().for_each(|one| tree.mend(one).unwrap());
        assert_eq!(tree.stale().unwrap(), []);
    }
}
