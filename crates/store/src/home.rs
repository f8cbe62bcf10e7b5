//! The home of runs, and finding runs by name.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use seatrial_model::name::nearest;

use crate::folder::RUN_FILE;
use crate::{StoreError, id};

/// Environment variables that name the home; the first one set wins. An empty variable counts as not set.
pub mod env {
    pub const SEATRIAL_HOME: &str = "SEATRIAL_HOME";
    /// Parent of the folder `seatrial` (XDG Base Directory Specification); ignored unless absolute.
    pub const XDG_DATA_HOME: &str = "XDG_DATA_HOME";
    /// Parent of the folder `.local/share/seatrial`; ignored unless absolute.
    pub const HOME: &str = "HOME";
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HomeEnv {
    pub seatrial_home: Option<OsString>,
    pub xdg_data_home: Option<OsString>,
    pub home: Option<OsString>,
}

/// The folder of runs. It may not exist until a run is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Home {
    path: PathBuf,
}

impl HomeEnv {
    pub fn of_process() -> Self {
        Self {
            seatrial_home: std::env::var_os(env::SEATRIAL_HOME),
            xdg_data_home: std::env::var_os(env::XDG_DATA_HOME),
            home: std::env::var_os(env::HOME),
        }
    }
}

impl Home {
    /// The home that `env` names; else [`StoreError::NoHome`], or [`StoreError::Io`] without working directory.
    pub fn resolve(env: &HomeEnv) -> Result<Self, StoreError> {
        let set = |value: &Option<OsString>| value.clone().filter(|text| !text.is_empty()).map(PathBuf::from);
        let absolute = |value: &Option<OsString>| set(value).filter(|path| path.is_absolute());
        if let Some(path) = set(&env.seatrial_home) {
            // A later change of the working directory must not move the home.
            let whole = std::path::absolute(&path);
            return whole.map(Self::at).map_err(|source| StoreError::io("resolving", &path, source));
        }
        let data = absolute(&env.xdg_data_home).or_else(|| Some(absolute(&env.home)?.join(".local/share")));
        data.map(|data| Self::at(data.join("seatrial"))).ok_or(StoreError::NoHome)
    }

    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn runs(&self) -> PathBuf {
        self.path.join("runs")
    }

    /// Whether the run folder `path` is in this home.
    pub fn holds(&self, path: &Path) -> bool {
        let whole = path.canonicalize().and_then(|path| Ok((path, self.runs().canonicalize()?)));
        whole.is_ok_and(|(path, runs)| path.parent() == Some(runs.as_path()))
    }

    /// Ids of all runs, oldest first; empty without home.
    pub fn ids(&self) -> Result<Vec<String>, StoreError> {
        let runs = self.runs();
        let failed = |source| StoreError::io("reading", &runs, source);
        let entries = match std::fs::read_dir(&runs) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.map_err(failed)?,
        };
        let mut ids = Vec::new();
        for entry in entries {
            let name = entry.map_err(failed)?.file_name();
            ids.extend(name.into_string().ok().filter(|name| id::is_id(name)));
        }
        ids.sort_unstable();
        Ok(ids)
    }

    /// The folder of the run `typed`: an id, a unique beginning or end of an id, `last`, `last~N` for the Nth before
    /// it, or a path.
    ///
    /// # Errors
    /// [`StoreError::NoSuchRun`] with the nearest id, [`StoreError::NoRunYet`], [`StoreError::Ambiguous`] with the matching ids, and
    /// [`StoreError::NotARun`] for a path without a run.
    pub fn find(&self, typed: &str) -> Result<PathBuf, StoreError> {
        if typed.contains('/') || typed == "." || typed == ".." {
            let path = PathBuf::from(typed);
            let folder =
                if path.file_name().is_some_and(|name| name == RUN_FILE) { path.parent() } else { None };
            let folder = folder.unwrap_or(&path).to_owned();
            return if folder.join(RUN_FILE).exists() {
                Ok(folder)
            } else {
                Err(StoreError::NotARun { path })
            };
        }
        let ids = self.ids()?;
        let missing = || {
            if ids.is_empty() {
                return StoreError::NoRunYet { home: self.path.clone() };
            }
            let nearest = nearest(typed, ids.iter().map(String::as_str)).map(str::to_owned);
            StoreError::NoSuchRun { typed: typed.to_owned(), home: self.path.clone(), nearest }
        };
        let found = if let Some(back) = steps_back(typed) {
            ids.iter().rev().nth(back)
        } else {
            let fits = |id: &&String| !typed.is_empty() && (id.starts_with(typed) || id.ends_with(typed));
            let fitting: Vec<&String> = ids.iter().filter(fits).collect();
            if fitting.len() > 1 {
                let ids = fitting.into_iter().cloned().collect();
                return Err(StoreError::Ambiguous { typed: typed.to_owned(), ids });
            }
            fitting.first().copied()
        };
        found.map(|id| self.runs().join(id)).ok_or_else(missing)
    }
}

/// N of `last~N`, 0 for `last`; `None` for other forms.
fn steps_back(typed: &str) -> Option<usize> {
    match typed.strip_prefix("last")? {
        "" => Some(0),
        rest => rest.strip_prefix('~')?.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn env(seatrial: &str, xdg: &str, home: &str) -> HomeEnv {
        let set = |text: &str| Some(OsString::from(text));
        HomeEnv { seatrial_home: set(seatrial), xdg_data_home: set(xdg), home: set(home) }
    }

    #[test]
    fn the_first_variable_that_is_set_names_the_home() {
        let resolved = |env| Home::resolve(&env).unwrap().path().to_owned();
        assert_eq!(resolved(env("/a", "/b", "/c")), Path::new("/a"));
        assert_eq!(resolved(env("", "/b", "/c")), Path::new("/b/seatrial"));
        assert_eq!(resolved(env("", "relative", "/c")), Path::new("/c/.local/share/seatrial"));
        assert!(resolved(env("relative", "", "")).is_absolute());
        assert!(matches!(Home::resolve(&HomeEnv::default()), Err(StoreError::NoHome)));
    }

    fn home_of(ids: &[&str]) -> (tempfile::TempDir, Home) {
        let folder = tempfile::tempdir().unwrap();
        for id in ids {
            std::fs::create_dir_all(folder.path().join("runs").join(id)).unwrap();
        }
        let home = Home::at(folder.path());
        (folder, home)
    }

    #[test]
    fn a_run_is_found_by_id_by_either_end_and_by_age() {
        let ids = ["20260921-083015-bcdf", "20260921-090000-ghjk", "20260922-000000-mnpq"];
        let (_folder, home) = home_of(&ids);
        let found = |typed: &str| home.find(typed).unwrap().file_name().unwrap().to_str().unwrap().to_owned();
        assert_eq!(found(ids[0]), ids[0]);
        assert_eq!(found("20260922"), ids[2]);
        assert_eq!(found("ghjk"), ids[1]);
        assert_eq!((found("last"), found("last~2")), (ids[2].to_owned(), ids[0].to_owned()));
    }

    #[test]
    fn what_names_no_run_or_several_says_so() {
        let (_folder, home) = home_of(&["20260921-083015-bcdf", "20260921-090000-ghjk"]);
        assert!(matches!(home.find("20260921"), Err(StoreError::Ambiguous { ids, .. }) if ids.len() == 2));
        assert!(matches!(home.find("last~2"), Err(StoreError::NoSuchRun { .. })));
        assert!(matches!(home.find(""), Err(StoreError::NoSuchRun { .. })));
        assert!(matches!(home.find("./nowhere"), Err(StoreError::NotARun { .. })));
        let (_empty, none) = home_of(&[]);
        assert!(matches!(none.find("last"), Err(StoreError::NoRunYet { .. })));
        let error = home.find("20260921-090000-ghjj").unwrap_err().to_string();
        assert!(error.contains("did you mean '20260921-090000-ghjk'?"), "{error}");
    }

    #[test]
    fn a_home_that_does_not_exist_has_no_runs() {
        assert_eq!(Home::at("/nonexistent/seatrial").ids().unwrap(), Vec::<String>::new());
    }
}
