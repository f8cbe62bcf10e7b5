//! The part that is copied to: makes a directory for every copy, compares the copy, and removes it.

use std::fs;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, SystemTime};

use seatrial_bench::directory::{Folder, Leftovers, failed, opened, require_room};
use seatrial_bench::{Endpoint, Listeners, Prepared, Running, ServerThread, Sink, Stop, second_handles};
use seatrial_model::{Case, Cause, Integrity, PartPlacement, Phase, Reason};
use seatrial_mover::{Reach, serve};
use seatrial_sys::clock::now_ns;
use seatrial_sys::net::{HostTime, host_time};
use seatrial_sys::root::SysRoot;

use super::done::done_times;
use super::orders::{Checked, Order, put, take};
use super::runner::{Ran, Runner};
use super::tool::Tool;
use super::{ID, SET};
use crate::set::{DataSet, FileTeam, Recipe, flush};

/// Longer than any copy takes to compare.
const FOREVER: Duration = Duration::from_secs(24 * 3600);

pub fn prepare(case: &Case, place: &PartPlacement) -> Result<Prepared, Reason> {
    let (recipe, is_remote) = (Recipe::of(&case.params)?, case.nodes.len() > 1);
    let is_kept = Tool::of(&case.params)?.keeps_attributes(case.params.flag("preserve")?);
    let runner = Runner::prepare(case, place)?;
    // Longer than the sender waits.
    let longest = Duration::from_nanos(case.budget.measure.get());
    let (path, at) = opened(case.params.text("target")?)?;
    require_room(&at, &path, recipe.files, recipe.bytes())?;
    let left = Leftovers::remove(&path);
    let folder = Arc::new(Folder::new(&path, ID)?);
    let listeners = Listeners::open(&[(Endpoint::of(case, place), 1)])?;
    Prepared::new(place, listeners.addresses()?, move |_| {
        let mut streams: Vec<TcpStream> =
            listeners.accept()?.into_iter().flat_map(|path| path.streams).collect();
        let handles = second_handles(&streams)?;
        let found = Arc::new(Mutex::new(Found::default()));
        let stream =
            streams.pop().ok_or_else(|| Reason::new(Cause::Protocol, "the sender did not connect"))?;
        let mut target = Target {
            folder: Arc::clone(&folder),
            recipe,
            is_kept,
            runner: runner.clone(),
            longest,
            reach: reach(&stream, is_remote),
            found: Arc::clone(&found),
            copy: None,
        };
        let server = ServerThread::start(handles, None, move |_| target.serve(&stream))?;
        Ok(Receiver { server, folder, found, left, recipe, runner })
    })
}

/// The mover's connections come to the address that this one came to.
fn reach(control: &TcpStream, is_remote: bool) -> Reach {
    if !is_remote {
        return Reach::Loopback;
    }
    Reach::Network { first: control.local_addr().ok().map(|address| address.ip().to_canonical()) }
}

/// What was wrong with the copies.
#[derive(Debug, Default)]
struct Found {
    copies: u64,
    wrong: u64,
    first: Option<String>,
}

struct Target {
    folder: Arc<Folder>,
    recipe: Recipe,
    /// Whether the tool promises to keep modes and times.
    is_kept: bool,
    /// That fetches the copies, with `direction=pull`.
    runner: Option<Runner>,
    /// A program that runs longer is ended.
    longest: Duration,
    reach: Reach,
    found: Arc<Mutex<Found>>,
    copy: Option<Begun>,
}

/// A copy that is made.
struct Begun {
    path: PathBuf,
    /// What its content follows from.
    set: u64,
    at: SystemTime,
    before: Option<HostTime>,
}

impl Target {
    /// Does what the sender says until it says the end.
    fn serve(&mut self, stream: &TcpStream) -> Result<(), Reason> {
        loop {
            match take(stream)? {
                Order::Ready { copy, set } => put(stream, &self.ready(copy, set))?,
                Order::Fetch { source, window } => put(stream, &self.fetch(&source, window))?,
                Order::Receive => {
                    // The sender has the same to tell, or has cut the copy off.
                    if serve(stream, stream, self.reach).is_err() {
                        return Ok(());
                    }
                }
                Order::Flush => put(stream, &flush(self.folder.path()))?,
                Order::Check => put(stream, &self.check())?,
                Order::End => return Ok(()),
            }
        }
    }

    fn ready(&mut self, copy: u64, set: u64) -> Result<PathBuf, Reason> {
        let path = self.folder.inner(&format!("copy{copy}"))?;
        let before = host_time(&SysRoot::live()).ok();
        self.copy = Some(Begun { path: path.clone(), set, at: SystemTime::now(), before });
        Ok(path)
    }

    fn fetch(&self, source: &Path, window: Option<u64>) -> Result<Option<Ran>, Reason> {
        let (Some(runner), Some(copy)) = (&self.runner, &self.copy) else {
            return Err(Reason::new(Cause::Protocol, "there is nothing to fetch, or nobody to do it"));
        };
        runner.run(source, &copy.path, window, &Stop::after(self.longest))
    }

    fn check(&mut self) -> Result<Checked, Reason> {
        let now = host_time(&SysRoot::live()).ok();
        let nothing = || Reason::new(Cause::Protocol, "there is no copy to compare");
        let Begun { path, set, at: begin, before } = self.copy.take().ok_or_else(nothing)?;
        let busy_ns = now.zip(before).map(|(now, before)| now.since(&before).busy_ns());
        let (set, at, stop) = (&DataSet::new(self.recipe, set), &path.join(SET), &Stop::after(FOREVER));
        let done = done_times(set, at, begin);
        let verifying = now_ns();
        let (wrong, is_kept) = (&Mutex::new(Vec::new()), self.is_kept);
        thread::scope(|scope| {
            FileTeam::unpinned(scope, self.recipe)?.each(|number, buffer| {
                let content = set.check_file(at, number, buffer, stop)?.and_then(Result::err);
                let of_attributes = || is_kept.then(|| set.check_attributes(at, number)).flatten();
                if let Some(why) = content.or_else(of_attributes) {
                    wrong.lock().unwrap_or_else(PoisonError::into_inner).push(why.0);
                }
                Ok(true)
            })
        })?;
        let took_ns = now_ns() - verifying;
        let mut wrong = wrong.lock().unwrap_or_else(PoisonError::into_inner);
        if at.is_dir() {
            wrong.extend(set.miscounted(at, 0)?.map(|why| why.0));
        }
        fs::remove_dir_all(&path).map_err(|error| failed("removing", &path, &error))?;
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        found.copies += 1;
        found.wrong += wrong.len() as u64;
        found.first = found.first.take().or_else(|| wrong.first().cloned());
        Ok(Checked { busy_ns, done, is_right: wrong.is_empty(), took_ns })
    }
}

struct Receiver {
    // Hangs up before the folder goes.
    server: ServerThread,
    folder: Arc<Folder>,
    found: Arc<Mutex<Found>>,
    left: Leftovers,
    recipe: Recipe,
    runner: Option<Runner>,
}

impl Running for Receiver {
    /// The thread serves; the sender alone knows when the phase is over.
    fn run(&mut self, phase: Phase, _: &Stop, out: &mut dyn Sink) -> Result<(), Reason> {
        if phase == Phase::Measure {
            self.left.tell(out);
            if let Some(runner) = &self.runner {
                runner.tell(out);
            }
        }
        Ok(())
    }

    fn verify(&mut self) -> Result<Integrity, Reason> {
        let ended = self.server.end();
        self.folder.remove()?;
        ended?;
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        let (files, bytes) = (self.recipe.files, self.recipe.bytes());
        Ok(match found.first.take() {
            Some(first) => Integrity::Corrupt { wrong: found.wrong, of: found.copies * files, first },
            None if found.copies == 0 => Integrity::Unverified { why: "no copy came to its end".to_owned() },
            None => Integrity::Verified { checked: found.copies * bytes },
        })
    }
}
