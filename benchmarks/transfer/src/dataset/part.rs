//! The worker of `transfer.dataset`: makes a data set, reads it, and removes it, again and again.

use std::fs;
#[cfg(test)]
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::thread;

use seatrial_model::{
    Binding, Case, Integrity, Nanos, Params, PartPlacement, Phase, Quantity, Reason, Sample,
};
use seatrial_sys::clock::now_ns;
use serde_json::json;

use super::ID;
use crate::set::{DataSet, FileTeam, Recipe, Wrong, flush, special};
use seatrial_bench::directory::{Folder, Leftovers, failed, opened, require_room};
use seatrial_bench::{Running, Sink, Stop, ThreadSpec};

/// Sample channels. Of the first three the amount is in bytes, of the others a number of files.
pub const WRITTEN: &str = "written";
pub const UNSYNCED: &str = "unsynced";
pub const READ: &str = "read";
pub const MADE: &str = "made";
pub const REMOVED: &str = "removed";

#[derive(Debug)]
pub struct DatasetWorker {
    recipe: Recipe,
    time: Nanos,
    bindings: Vec<Binding>,
    threads: usize,
    folder: Folder,
    left: Leftovers,
    checked: u64,
    wrong: Vec<Wrong>,
}

impl DatasetWorker {
    pub fn prepare(case: &Case, place: &PartPlacement) -> Result<Self, Reason> {
        let recipe = Recipe::of(&case.params)?;
        let (path, at) = opened(case.params.text("directory")?)?;
        require_room(&at, &path, recipe.files, recipe.bytes())?;
        let left = Leftovers::remove(&path);
        Ok(Self {
            recipe,
            time: case.params.nanos("time")?,
            bindings: place.bindings.clone(),
            threads: case.planned.count("threads")? as usize,
            folder: Folder::new(&path, ID)?,
            left,
            checked: 0,
            wrong: Vec::new(),
        })
    }

    /// Makes, reads and removes a set; false when `stop` came first.
    fn one(&mut self, number: u64, stop: &Stop, out: &mut dyn Sink) -> Result<bool, Reason> {
        let set = &DataSet::new(self.recipe, now_ns() ^ number);
        let at = &self.folder.inner(&format!("set{number}"))?;
        let (files, bytes) = (Quantity::count(self.recipe.files), Quantity::bytes(self.recipe.bytes()));
        let mut tell = |channel: &str, span: (Nanos, Nanos), amount: Quantity| {
            out.sample(Sample::new(channel, Params::default(), span, amount));
        };
        let (threads, wrong, checked) = (self.specs(), &mut self.wrong, &mut self.checked);
        let found = &Mutex::new(Vec::new());
        thread::scope(|scope| {
            let team = FileTeam::start_in(scope, threads, set.recipe)?;
            let start = Nanos(now_ns());
            set.make_directories(at)?;
            if !team.each(|number, buffer| set.make_file(at, number, buffer, stop))? {
                return Ok(false);
            }
            if self.recipe.has_special {
                special::make(at)?;
            }
            let handed_over = Nanos(now_ns());
            flush(at)?;
            let end = Nanos(now_ns());
            tell(WRITTEN, (start, end), bytes);
            tell(UNSYNCED, (start, handed_over), bytes);
            tell(MADE, (start, end), files);
            team.each(|number, _| set.forget_file(at, number).map(|()| true))?;
            let start = Nanos(now_ns());
            let is_whole = team.each(|number, buffer| {
                let came = set.check_file(at, number, buffer, stop)?;
                if let (Some(Err(why)), Ok(mut found)) = (&came, found.lock()) {
                    found.push(why.clone());
                }
                Ok(came.is_some())
            })?;
            if !is_whole {
                return Ok(false);
            }
            tell(READ, (start, Nanos(now_ns())), bytes);
            *checked += set.recipe.bytes();
            wrong.append(&mut found.lock().unwrap_or_else(PoisonError::into_inner));
            if self.recipe.has_special {
                wrong.extend(special::check(at)?);
            }
            wrong.extend(set.miscounted(at, if self.recipe.has_special { special::NUMBER } else { 0 })?);
            let start = Nanos(now_ns());
            team.each(|number, _| {
                let path = at.join(set.path(number));
                fs::remove_file(&path).map_err(|error| failed("removing", &path, &error)).map(|()| true)
            })?;
            tell(REMOVED, (start, Nanos(now_ns())), files);
            fs::remove_dir_all(at).map_err(|error| failed("removing", at, &error))?;
            Ok(true)
        })
    }

    fn specs(&self) -> Vec<ThreadSpec> {
        let cpu = |number: usize| self.bindings.get(number).map(|binding| binding.cpu);
        (0..self.threads).map(|number| ThreadSpec::new(format!("files{number}"), cpu(number))).collect()
    }
}

impl Running for DatasetWorker {
    fn run(&mut self, phase: Phase, stop: &Stop, out: &mut dyn Sink) -> Result<(), Reason> {
        if phase == Phase::WarmUp {
            // Every set, the first too, is made of new files.
            return Ok(());
        }
        self.left.tell(out);
        let until = Nanos(now_ns()).plus(self.time);
        let mut sets = 0;
        while sets == 0 || Nanos(now_ns()) < until {
            if !self.one(sets, stop, out)? {
                break;
            }
            sets += 1;
        }
        out.evidence("sets", json!(sets));
        Ok(())
    }

    /// What the reading of all sets found; then removes what is left.
    fn verify(&mut self) -> Result<Integrity, Reason> {
        self.folder.remove()?;
        Ok(match self.wrong.first() {
            Some(first) => Integrity::Corrupt {
                wrong: self.wrong.len() as u64,
                of: self.checked.div_ceil(self.recipe.bytes().max(1)) * self.recipe.files,
                first: first.0.clone(),
            },
            None if self.checked == 0 && self.recipe.bytes() > 0 => {
                Integrity::Unverified { why: "no set was read to its end".to_owned() }
            }
            None => Integrity::Verified { checked: self.checked },
        })
    }
}

#[cfg(test)]
impl DatasetWorker {
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }
}
