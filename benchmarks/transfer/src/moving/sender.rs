//! The part that is copied from: makes the set, and copies it again and again.

use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use seatrial_bench::directory::{Folder, Leftovers, opened, require_room};
use seatrial_bench::{Endpoint, Prepared, Running, Sink, Stop, call, interface_of};
use seatrial_model::{
    Case, Cause, Integrity, Nanos, Params, PartPlacement, Phase, Quantity, Reason, Sample, Unit,
};
use seatrial_mover::{ControlChannel, CopyError, CopyOptions, Progress, copy_here, roots, send};
use seatrial_sys::clock::now_ns;
use seatrial_sys::net::host_time;
use seatrial_sys::root::SysRoot;
use serde_json::json;

use super::busiest::Busiest;
use super::orders::{Checked, Order, ask, put};
use super::process;
use super::tool::{Route, Tool};
use super::{ID, SET};
use crate::set::{DataSet, FileTeam, Recipe, flush};

/// Sample channels of a copy: bytes, files; CPU time; bytes that left the interface.
pub const COPIED: &str = "copied";
pub const FILES: &str = "files";
pub const SENDER_BUSY: &str = "sender_busy";
pub const RECEIVER_BUSY: &str = "receiver_busy";
pub const BUSIEST: &str = "busiest";
pub const WIRE: &str = "wire";

/// Longest wait for a version or a login.
const ANSWER_WITHIN: Duration = Duration::from_secs(10);

/// How often the end of the phase is looked at, and polls between two looks at the CPU times.
const POLL_INTERVAL: Duration = Duration::from_millis(10);
const POLLS_OF_LOOK: u32 = 10;

/// Longer than making the set may take: its phase has a deadline.
const FOREVER: Duration = Duration::from_secs(24 * 3600);

#[derive(Debug)]
struct MoveConfig {
    tool: Tool,
    recipe: Recipe,
    options: CopyOptions,
    time: Nanos,
    is_cold: bool,
    is_flushed: bool,
    /// The receiver's node, if it is another.
    host: Option<String>,
}

pub fn prepare(case: &Case, place: &PartPlacement) -> Result<Prepared, Reason> {
    let (params, is_remote) = (&case.params, case.nodes.len() > 1);
    let config = MoveConfig {
        tool: Tool::of(params)?,
        recipe: Recipe::of(params)?,
        options: CopyOptions {
            streams: params.count("streams")? as usize,
            preserve: false,
            checksum: false,
            dry_run: None,
        },
        time: params.nanos("time")?,
        is_cold: params.text("cache")? == "cold",
        is_flushed: params.text("sync")? == "end",
        host: case.nodes.get(1).cloned(),
    };
    config.tool.require_programs(is_remote, true, &place.node)?;
    if let Some(host) = &config.host {
        config.require_login(host, &place.node)?;
    }
    let (path, at) = opened(params.text("source")?)?;
    require_room(&at, &path, config.recipe.files, config.recipe.bytes())?;
    let left = Leftovers::remove(&path);
    let folder = Folder::new(&path, ID)?;
    let number = now_ns();
    let set = DataSet::new(config.recipe, number);
    make(&set, &folder.inner(SET)?)?;
    call(place, Endpoint::of(case, place), 1, move |mut streams| {
        let missing = || Reason::new(Cause::Protocol, "no connection to the receiver was made");
        let control = streams.pop().ok_or_else(missing)?;
        let interface = config.host.as_ref().and_then(|_| interface_of(&control));
        Ok(Sender { config, folder, set, number, control, interface, left })
    })
}

/// Makes the set in `at` and flushes it.
fn make(set: &DataSet, at: &Path) -> Result<(), Reason> {
    set.make_directories(at)?;
    let stop = &Stop::after(FOREVER);
    thread::scope(|scope| {
        FileTeam::unpinned(scope, set.recipe)?.each(|number, buffer| set.make_file(at, number, buffer, stop))
    })?;
    flush(at)
}

impl MoveConfig {
    /// Refuses a tool that cannot log in to the receiver's node, before anything is made.
    fn require_login(&self, host: &str, node: &str) -> Result<(), Reason> {
        let Some(login) = self.tool.login(host) else { return Ok(()) };
        let came = process::run(vec![login], &Stop::after(ANSWER_WITHIN), &mut Busiest::of_this_process())?;
        let words = match came {
            Some(ended) if ended.is_success => return Ok(()),
            Some(ended) => ended.words,
            None => format!("no answer within {} s", ANSWER_WITHIN.as_secs()),
        };
        let text = format!(
            "{node} cannot log in to {host} with ssh, which tool={} does: {words}; set up keys between the nodes, or \
             measure tool=native",
            self.tool.name()
        );
        Err(Reason::new(Cause::NeverReached, text))
    }

    /// What the tool says of its version, in one line.
    fn version(&self) -> Option<String> {
        let asked = vec![self.tool.version()?];
        let told = process::run(asked, &Stop::after(ANSWER_WITHIN), &mut Busiest::of_this_process());
        Some(told.ok()??.words.lines().next()?.to_owned())
    }
}

struct Sender {
    config: MoveConfig,
    folder: Folder,
    set: DataSet,
    /// What the content of the set follows from.
    number: u64,
    control: TcpStream,
    /// By which the receiver's node is reached.
    interface: Option<String>,
    left: Leftovers,
}

/// A copy that came to its end.
struct Copied {
    end: Nanos,
    words: String,
}

impl Sender {
    /// Makes and tells one copy; false when `stop` came first, or when the copy is wrong.
    fn one(&self, copy: u64, stop: &Stop, out: &mut dyn Sink) -> Result<bool, Reason> {
        let (set, source) = (&self.set, &self.folder.path().join(SET));
        let target: PathBuf = ask(&self.control, Order::Ready { copy, set: self.number })?;
        if self.config.is_cold {
            thread::scope(|scope| {
                FileTeam::unpinned(scope, set.recipe)?
                    .each(|number, _| set.forget_file(source, number).map(|()| true))
            })?;
        }
        let (root, mut busiest) = (SysRoot::live(), Busiest::of_this_process());
        let (wire, busy) = (self.wire(&root), host_time(&root).ok());
        let start = Nanos(now_ns());
        let Some(mut copied) = self.copy(source, &target, stop, &mut busiest)? else { return Ok(false) };
        if self.config.is_flushed {
            ask::<()>(&self.control, Order::Flush)?;
            copied.end = Nanos(now_ns());
        }
        let span = (start, copied.end);
        let mut tell = |channel: &str, amount: Quantity| {
            out.sample(Sample::new(channel, Params::default(), span, amount));
        };
        tell(COPIED, Quantity::bytes(set.recipe.bytes()));
        tell(FILES, Quantity::count(set.recipe.files));
        let nanos = |ns: u64| {
            Quantity::new(ns as f64, Unit::Nanosecond)
                .map_err(|error| Reason::new(Cause::Protocol, error.to_string()))
        };
        if let Some((before, now)) = busy.zip(host_time(&root).ok()) {
            tell(SENDER_BUSY, nanos(now.since(&before).busy_ns())?);
        }
        tell(BUSIEST, nanos(busiest.used().get())?);
        if let Some((before, now)) = wire.zip(self.wire(&root)) {
            tell(WIRE, Quantity::bytes(now.saturating_sub(before)));
        }
        let checked: Checked = ask(&self.control, Order::Check)?;
        if let Some(busy_ns) = checked.busy_ns {
            tell(RECEIVER_BUSY, nanos(busy_ns)?);
        }
        if !copied.words.is_empty() {
            out.evidence("words", json!(copied.words));
        }
        Ok(checked.is_right)
    }

    /// Bytes that the interface towards the receiver has sent.
    fn wire(&self, root: &SysRoot) -> Option<u64> {
        let interface = self.interface.as_ref()?;
        root.value(format!("/sys/class/net/{interface}/statistics/tx_bytes")).ok()
    }

    fn copy(
        &self,
        source: &Path,
        target: &Path,
        stop: &Stop,
        busiest: &mut Busiest,
    ) -> Result<Option<Copied>, Reason> {
        if self.config.tool == Tool::Native {
            return self.copy_natively(source, target, stop, busiest);
        }
        let commands = self.config.tool.commands(Route { source, target, host: self.config.host.as_deref() });
        let Some(ended) = process::run(commands, stop, busiest)? else { return Ok(None) };
        if !ended.is_success {
            let text = format!("{} failed: {}", self.config.tool.name(), ended.words);
            return Err(Reason::new(Cause::IoError, text));
        }
        Ok(Some(Copied { end: ended.at, words: ended.words }))
    }

    fn copy_natively(
        &self,
        source: &Path,
        target: &Path,
        stop: &Stop,
        busiest: &mut Busiest,
    ) -> Result<Option<Copied>, Reason> {
        let (progress, is_over) = (&Progress::default(), &AtomicBool::new(false));
        let failed = |error: CopyError| match error {
            CopyError::Connect(reason) => reason,
            other => Reason::new(Cause::IoError, format!("the mover: {other}")),
        };
        let roots = roots(&[source.to_owned()]).map_err(failed)?;
        let target = target.as_os_str().as_encoded_bytes();
        if self.config.host.is_some() {
            put(&self.control, &Order::Receive)?;
        }
        let (done, end) = thread::scope(|scope| {
            let watching = scope.spawn(move || {
                let mut polls = 0;
                while !is_over.load(Ordering::Relaxed) {
                    if stop.is_over() {
                        progress.stop.store(true, Ordering::Relaxed);
                    }
                    polls += 1;
                    if polls % POLLS_OF_LOOK == 0 {
                        busiest.look();
                    }
                    thread::park_timeout(POLL_INTERVAL);
                }
            });
            let options = &self.config.options;
            let done = match self.config.host {
                Some(_) => {
                    let control = ControlChannel { from: &self.control, to: &self.control };
                    send(&roots, target, options, control, progress)
                }
                None => copy_here(&roots, target, options, progress),
            };
            let end = Nanos(now_ns());
            is_over.store(true, Ordering::Relaxed);
            watching.thread().unpark();
            (done, end)
        });
        match done {
            Err(CopyError::Stopped) => Ok(None),
            Err(error) => Err(failed(error)),
            Ok(()) => match progress.take_failures().first() {
                Some(first) => {
                    let text = format!("{} of the files were not copied; {first}", progress.failed());
                    Err(Reason::new(Cause::IoError, text))
                }
                None => Ok(Some(Copied { end, words: String::new() })),
            },
        }
    }
}

impl Running for Sender {
    fn run(&mut self, phase: Phase, stop: &Stop, out: &mut dyn Sink) -> Result<(), Reason> {
        if phase == Phase::WarmUp {
            // Every copy, the first too, is made of new files.
            return Ok(());
        }
        self.left.tell(out);
        if let Some(version) = self.config.version() {
            out.evidence("version", json!(version));
        }
        let until = Nanos(now_ns()).plus(self.config.time);
        let mut copies = 0;
        while copies == 0 || Nanos(now_ns()) < until {
            if !self.one(copies, stop, out)? {
                break;
            }
            copies += 1;
        }
        out.evidence("copies", json!(copies));
        // A receiver whose copy was cut off has hung up.
        let _ = put(&self.control, &Order::End);
        Ok(())
    }

    fn verify(&mut self) -> Result<Integrity, Reason> {
        self.folder.remove()?;
        Ok(Integrity::Unverified { why: "the receiver compares the copies".to_owned() })
    }
}
