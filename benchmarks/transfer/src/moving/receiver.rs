//! The part that is copied to: makes a directory for every copy, compares the copy, and removes it.

use std::fs;
use std::net::TcpStream;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use seatrial_bench::directory::{Folder, Leftovers, failed, opened, require_room};
use seatrial_bench::{Endpoint, Listeners, Prepared, Running, ServerThread, Sink, Stop, second_handles};
use seatrial_model::{Case, Cause, Integrity, PartPlacement, Phase, Reason};
use seatrial_mover::{Reach, serve};
use seatrial_sys::net::{HostTime, host_time};
use seatrial_sys::root::SysRoot;

use super::orders::{Checked, Order, put, take};
use super::tool::Tool;
use super::{ID, SET};
use crate::set::{DataSet, FileTeam, Recipe, flush};

/// Longer than any copy takes to compare.
const FOREVER: Duration = Duration::from_secs(24 * 3600);

pub fn prepare(case: &Case, place: &PartPlacement) -> Result<Prepared, Reason> {
    let (recipe, is_remote) = (Recipe::of(&case.params)?, case.nodes.len() > 1);
    Tool::of(&case.params)?.require_programs(is_remote, false, &place.node)?;
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
            reach: reach(&stream, is_remote),
            found: Arc::clone(&found),
            copy: None,
            before: None,
        };
        let server = ServerThread::start(handles, None, move |_| target.serve(&stream))?;
        Ok(Receiver { server, folder, found, left, recipe })
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
    reach: Reach,
    found: Arc<Mutex<Found>>,
    /// The directory of the copy that is made, and the number that its content follows from.
    copy: Option<(PathBuf, u64)>,
    before: Option<HostTime>,
}

impl Target {
    /// Does what the sender says until it says the end.
    fn serve(&mut self, stream: &TcpStream) -> Result<(), Reason> {
        loop {
            match take(stream)? {
                Order::Ready { copy, set } => put(stream, &self.ready(copy, set))?,
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
        self.copy = Some((path.clone(), set));
        self.before = host_time(&SysRoot::live()).ok();
        Ok(path)
    }

    fn check(&mut self) -> Result<Checked, Reason> {
        let now = host_time(&SysRoot::live()).ok();
        let busy_ns = now.zip(self.before).map(|(now, before)| now.since(&before).busy_ns());
        let nothing = || Reason::new(Cause::Protocol, "there is no copy to compare");
        let (path, number) = self.copy.take().ok_or_else(nothing)?;
        let (set, at, stop) = (&DataSet::new(self.recipe, number), &path.join(SET), &Stop::after(FOREVER));
        let wrong = &Mutex::new(Vec::new());
        thread::scope(|scope| {
            FileTeam::unpinned(scope, self.recipe)?.each(|number, buffer| {
                if let Some(Err(why)) = set.check_file(at, number, buffer, stop)? {
                    wrong.lock().unwrap_or_else(PoisonError::into_inner).push(why.0);
                }
                Ok(true)
            })
        })?;
        let mut wrong = wrong.lock().unwrap_or_else(PoisonError::into_inner);
        if at.is_dir() {
            wrong.extend(set.miscounted(at, 0)?.map(|why| why.0));
        }
        fs::remove_dir_all(&path).map_err(|error| failed("removing", &path, &error))?;
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        found.copies += 1;
        found.wrong += wrong.len() as u64;
        found.first = found.first.take().or_else(|| wrong.first().cloned());
        Ok(Checked { busy_ns, is_right: wrong.is_empty() })
    }
}

struct Receiver {
    // Hangs up before the folder goes.
    server: ServerThread,
    folder: Arc<Folder>,
    found: Arc<Mutex<Found>>,
    left: Leftovers,
    recipe: Recipe,
}

impl Running for Receiver {
    /// The thread serves; the sender alone knows when the phase is over.
    fn run(&mut self, phase: Phase, _: &Stop, out: &mut dyn Sink) -> Result<(), Reason> {
        if phase == Phase::Measure {
            self.left.tell(out);
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
