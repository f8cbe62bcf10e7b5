//! Removes the files of workers that were killed before they could remove them.

use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

use seatrial_bench::Stop;
use seatrial_bench::stale_dirs::Announced;

/// How long the report of a worker's end waits for the removal, to say what stays.
pub(super) const SOON: Duration = Duration::from_secs(4);

pub(super) const LONGEST: Duration = Duration::from_secs(30);

/// Removal of the files of one worker, on its own thread: a file system may never answer.
#[derive(Debug, Default)]
pub(super) struct Removal {
    folders: Vec<String>,
    /// What stays and why, once known; `None` where nothing is to be removed.
    kept: Option<Receiver<Vec<String>>>,
}

impl Removal {
    /// Starts to remove what a worker announced. Call only when no process of the worker is left.
    pub(super) fn start(announced: Vec<Announced>) -> Self {
        if announced.is_empty() {
            return Self::default();
        }
        let folders = announced.iter().map(shown).collect();
        let (tell, told) = mpsc::channel();
        let remove = move || {
            let until = Stop::after(LONGEST);
            let stays = |one: &Announced| {
                let why = one.remove(&until).err()?;
                tracing::warn!("{} stays: {why}", shown(one));
                Some(format!("{} ({why})", shown(one)))
            };
            let _ = tell.send(announced.iter().filter_map(stays).collect());
        };
        if let Err(error) = thread::Builder::new().name("leftovers".to_owned()).spawn(remove) {
            tracing::warn!("cannot start a thread to remove what a worker left: {error}");
        }
        Self { folders, kept: Some(told) }
    }

    /// What stays, or is not removed within `patience`, and why.
    pub(super) fn kept(&self, patience: Duration) -> Vec<String> {
        let Some(told) = &self.kept else { return Vec::new() };
        let late = |folder: &String| format!("{folder} (not removed within {} s)", patience.as_secs());
        told.recv_timeout(patience).unwrap_or_else(|_| self.folders.iter().map(late).collect())
    }

    pub(super) fn finish(self) {
        if let Some(told) = self.kept {
            let _ = told.recv_timeout(LONGEST);
        }
    }
}

/// What stays because processes of the worker do not die.
pub(super) fn in_use(announced: &[Announced]) -> Vec<String> {
    let stays = |one: &Announced| format!("{} (processes of the worker may still use it)", shown(one));
    announced.iter().map(stays).collect()
}

fn shown(one: &Announced) -> String {
    one.path().display().to_string()
}
