//! The part that is copied from: makes the set, and copies it again and again.

use std::net::{Shutdown, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use seatrial_bench::directory::{Folder, Leftovers, opened, require_room};
use seatrial_bench::{Endpoint, Prepared, Running, Sink, Stop, call, interface_of};
use seatrial_model::{
    Bytes, Case, Cause, Integrity, Nanos, Params, PartPlacement, Phase, Quantity, Reason, Sample, Unit,
};
use seatrial_mover::{
    ChosenWindow, ControlChannel, CopyError, CopyOptions, Progress, Window, copy_here, roots, send,
};
use seatrial_sys::clock::now_ns;
use seatrial_sys::net::host_time;
use seatrial_sys::probe::{Difference, Watch, probe};
use seatrial_sys::root::SysRoot;
use serde_json::json;

use super::busiest::Busiest;
use super::curve::watched;
use super::orders::{Checked, Order, ask, put};
use super::runner::{Ran, Runner, is_pull};
use super::tool::{Tool, cipher_of, window_of};
use super::{ID, SET};
use crate::set::{DataSet, FileTeam, Recipe, flush};

/// Sample channels of a copy: bytes, files; CPU time; bytes that left the interface, of the whole copy and by time; time until the
/// first and the last file were done; bytes by the size of the files.
pub const COPIED: &str = "copied";
pub const FILES: &str = "files";
pub const SENDER_BUSY: &str = "sender_busy";
pub const RECEIVER_BUSY: &str = "receiver_busy";
pub const BUSIEST: &str = "busiest";
pub const WIRE: &str = "wire";
pub const WIRE_CURVE: &str = "wire_curve";
/// TCP segments that the node sent for the first time, and again.
pub const SEGMENTS: &str = "segments";
pub const SENT_AGAIN: &str = "sent_again";
pub const FIRST_DONE: &str = "first_done";
pub const LAST_DONE: &str = "last_done";
pub const OF_CLASS: &str = "of_class";
/// Of the mover's connections, summed over them, and of the receiver after each copy.
pub const READING: &str = "reading";
pub const SENDING: &str = "sending";
pub const STORING: &str = "storing";
pub const WINDOW: &str = "window";
pub const VERIFYING: &str = "verifying";

/// Evidence: the name of the busiest thread.
pub const BUSIEST_THREAD: &str = "busiest_thread";

/// Evidence: the congestion control that TCP has on this node unless a program chooses another.
pub const CONGESTION: &str = "congestion";

/// How often the end of the phase is looked at, and polls between two looks at the CPU times.
const POLL_INTERVAL: Duration = Duration::from_millis(10);
const POLLS_OF_LOOK: u32 = 10;

const CONTROL: &str = "/proc/sys/net/ipv4/tcp_congestion_control";

/// Longer than making the set may take: its phase has a deadline.
const FOREVER: Duration = Duration::from_secs(24 * 3600);

#[derive(Debug)]
struct MoveConfig {
    recipe: Recipe,
    /// The program that copies; none is the mover, or the target's node runs the program.
    runner: Option<Runner>,
    is_pull: bool,
    is_kept: bool,
    options: CopyOptions,
    time: Nanos,
    is_cold: bool,
    is_flushed: bool,
    /// The receiver's node, if it is another.
    host: Option<String>,
}

pub fn prepare(case: &Case, place: &PartPlacement) -> Result<Prepared, Reason> {
    let params = &case.params;
    let (tool, preserve, window) = (Tool::of(params)?, params.flag("preserve")?, window_of(params)?);
    let mut config = MoveConfig {
        recipe: Recipe::of(params)?,
        runner: Runner::prepare(case, place)?,
        is_pull: is_pull(case)?,
        is_kept: tool.keeps_attributes(preserve),
        options: CopyOptions {
            streams: params.count("streams")? as usize,
            preserve,
            cipher: if tool == Tool::Native { cipher_of(params)? } else { None },
            ..CopyOptions::default()
        },
        time: params.nanos("time")?,
        is_cold: params.text("cache")? == "cold",
        is_flushed: params.text("sync")? == "end",
        host: case.nodes.get(1).cloned(),
    };
    let (path, at) = opened(params.text("source")?)?;
    require_room(&at, &path, config.recipe.files, config.recipe.bytes())?;
    let left = Leftovers::remove(&path);
    let folder = Folder::new(&path, ID)?;
    let number = now_ns();
    let set = DataSet::new(config.recipe, number);
    make(&set, &folder.inner(SET)?, config.is_kept)?;
    call(place, Endpoint::of(case, place), 1, move |mut streams| {
        let missing = || Reason::new(Cause::Protocol, "no connection to the receiver was made");
        let control = streams.pop().ok_or_else(missing)?;
        let interface = config.host.as_ref().and_then(|_| interface_of(&control));
        let unknown = |why: String| Reason::new(Cause::Missing, format!("window=bdp: {why}"));
        let window = window.choose(&control).map_err(unknown)?;
        config.options.window = window.map_or(Window::Auto, |window| Window::Fixed(window.bytes));
        Ok(Sender { config, folder, set, number, control, interface, window, left })
    })
}

/// Makes the set in `at`, with modes and times if these are to be kept, and flushes it.
fn make(set: &DataSet, at: &Path, is_kept: bool) -> Result<(), Reason> {
    set.make_directories(at)?;
    let stop = &Stop::after(FOREVER);
    thread::scope(|scope| {
        FileTeam::unpinned(scope, set.recipe)?.each(|number, buffer| {
            let is_whole = set.make_file(at, number, buffer, stop)?;
            if is_kept {
                set.set_attributes(at, number)?;
            }
            Ok(is_whole)
        })
    })?;
    flush(at)
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
    window: Option<ChosenWindow>,
    left: Leftovers,
}

/// What both ways of copying tell.
struct Copied {
    ran: Ran,
    /// The buffers of the mover's connections, where a window was asked for.
    buffers: Option<[u64; 2]>,
    /// What the mover's connections spent their time on.
    spent: Vec<(&'static str, Duration)>,
}

impl Sender {
    /// Makes and tells one copy; false when `stop` came first, or when the copy is wrong.
    fn one(&self, copy: u64, stop: &Stop, out: &mut dyn Sink) -> Result<bool, Reason> {
        let (set, source) = (&self.set, &self.folder.path().join(SET));
        if self.config.is_cold {
            thread::scope(|scope| {
                FileTeam::unpinned(scope, set.recipe)?
                    .each(|number, _| set.forget_file(source, number).map(|()| true))
            })?;
        }
        let target: PathBuf = ask(&self.control, Order::Ready { copy, set: self.number })?;
        let root = SysRoot::live();
        let (wire, busy) = (self.wire(&root), host_time(&root).ok());
        let segments = self.interface.as_ref().and_then(|_| Some(probe("snmp")?.watch(&root)));
        let start = Nanos(now_ns());
        let (copied, curve) = watched(|| self.wire(&SysRoot::live()), || self.copy(source, &target, stop));
        let Some(Copied { ran, buffers, spent }) = copied? else { return Ok(false) };
        let mut end = start.plus(Nanos(ran.took_ns));
        if self.config.is_flushed {
            ask::<()>(&self.control, Order::Flush)?;
            end = Nanos(now_ns());
        }
        let (busy_now, wire_now) = (host_time(&root).ok(), self.wire(&root));
        let segments = segments.map(Watch::end);
        let checked: Checked = ask(&self.control, Order::Check)?;

        let nanos = |ns: u64| {
            Quantity::new(ns as f64, Unit::Nanosecond)
                .map_err(|error| Reason::new(Cause::Protocol, error.to_string()))
        };
        let mut tell = |channel: &str, amount: Quantity| {
            out.sample(Sample::new(channel, Params::default(), (start, end), amount));
        };
        tell(COPIED, Quantity::bytes(set.recipe.bytes()));
        tell(FILES, Quantity::count(set.recipe.files));
        if let Some((before, now)) = busy.zip(busy_now) {
            tell(SENDER_BUSY, nanos(now.since(&before).busy_ns())?);
        }
        tell(BUSIEST, nanos(ran.busiest_ns)?);
        if let Some((before, now)) = wire.zip(wire_now) {
            tell(WIRE, Quantity::bytes(now.saturating_sub(before)));
        }
        if let Some(Difference { counts, .. }) = &segments {
            for (channel, counter) in [(SEGMENTS, "tcp_segments_out"), (SENT_AGAIN, "tcp_retransmits")] {
                if let Some(count) = counts.get(counter) {
                    tell(channel, Quantity::count(*count));
                }
            }
        }
        if let Some(busy_ns) = checked.busy_ns {
            tell(RECEIVER_BUSY, nanos(busy_ns)?);
        }
        tell(VERIFYING, nanos(checked.took_ns)?);
        for (channel, time) in spent {
            tell(channel, nanos(time.as_nanos() as u64)?);
        }
        if let Some(done) = &checked.done {
            tell(FIRST_DONE, nanos(done.first_ns)?);
            tell(LAST_DONE, nanos(done.last_ns)?);
        }
        for class in checked.done.iter().flat_map(|done| &done.classes).filter(|class| class.ns > 0) {
            let at = Params::from_iter([("size".to_owned(), Bytes(class.size).into())]);
            let span = (Nanos(0), Nanos(class.ns));
            out.sample(Sample::new(OF_CLASS, at, span, Quantity::bytes(class.bytes)));
        }
        // Of the first copy: those behind it would be as many values for one time.
        for pair in curve.windows(2).filter(|_| copy == 0) {
            let [(from, before), (to, now)] = [pair[0], pair[1]];
            let sent = Quantity::bytes(now.saturating_sub(before));
            out.sample(Sample::new(WIRE_CURVE, Params::default(), (from, to), sent));
        }
        self.tell_evidence(&ran, buffers, out);
        Ok(checked.is_right)
    }

    fn tell_evidence(&self, ran: &Ran, buffers: Option<[u64; 2]>, out: &mut dyn Sink) {
        for (name, words) in
            [("words", &ran.words), ("command", &ran.command), (BUSIEST_THREAD, &ran.busiest_thread)]
        {
            if !words.is_empty() {
                out.evidence(name, json!(words));
            }
        }
        if let Some(control) = self.interface.as_ref().and_then(|_| SysRoot::live().text(CONTROL).ok()) {
            out.evidence(CONGESTION, json!(control));
        }
        if let Some(window) = &self.window {
            let [send_buffer, receive_buffer] = buffers.map_or([None; 2], |both| both.map(Some));
            let buffers = json!({ "send_buffer": send_buffer, "receive_buffer": receive_buffer });
            out.evidence("window", json!({ "asked": window, "given": buffers }));
        }
    }

    /// Bytes that the interface towards the receiver has sent.
    fn wire(&self, root: &SysRoot) -> Option<u64> {
        let interface = self.interface.as_ref()?;
        root.value(format!("/sys/class/net/{interface}/statistics/tx_bytes")).ok()
    }

    fn copy(&self, source: &Path, target: &Path, stop: &Stop) -> Result<Option<Copied>, Reason> {
        let window = self.window.map(|window| window.bytes);
        let ran = match &self.config.runner {
            Some(runner) => runner.run(source, target, window, stop)?,
            None if self.config.is_pull => {
                ask(&self.control, Order::Fetch { source: source.to_owned(), window })?
            }
            None => return self.copy_natively(source, target, stop),
        };
        Ok(ran.map(|ran| Copied { ran, buffers: None, spent: Vec::new() }))
    }

    fn copy_natively(&self, source: &Path, target: &Path, stop: &Stop) -> Result<Option<Copied>, Reason> {
        let (progress, is_over) = (&Progress::default(), &AtomicBool::new(false));
        let failed = |error: CopyError| match error {
            CopyError::Connect(reason) => reason,
            other => Reason::new(Cause::IoError, format!("the mover: {other}")),
        };
        let roots = roots(&[source.to_owned()]).map_err(failed)?;
        let target = target.as_os_str().as_encoded_bytes();
        let (mut busiest, start) = (Busiest::of_this_process(), now_ns());
        if self.config.host.is_some() {
            put(&self.control, &Order::Receive)?;
        }
        let looking = &mut busiest;
        let (done, end) = thread::scope(|scope| {
            let watching = scope.spawn(move || {
                let mut polls = 0;
                while !is_over.load(Ordering::Relaxed) {
                    if stop.is_over() {
                        progress.stop.store(true, Ordering::Relaxed);
                    }
                    polls += 1;
                    if polls % POLLS_OF_LOOK == 0 {
                        looking.look();
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
            let end = now_ns();
            is_over.store(true, Ordering::Relaxed);
            watching.thread().unpark();
            (done, end)
        });
        match done {
            Err(CopyError::Stopped) => {
                if self.config.host.is_some() {
                    // The receiver's mover waits for a frame: it would take an order for the beginning of one.
                    let _ = self.control.shutdown(Shutdown::Both);
                }
                Ok(None)
            }
            Err(error) => Err(failed(error)),
            Ok(()) => match progress.take_failures().first() {
                Some(first) => {
                    let text = format!("{} of the files were not copied; {first}", progress.failed());
                    Err(Reason::new(Cause::IoError, text))
                }
                None => {
                    let buffers = [&progress.send_buffer, &progress.receive_buffer].map(Progress::get);
                    let (used, name) = busiest.used();
                    let ran = Ran {
                        took_ns: end - start,
                        busiest_ns: used.get(),
                        busiest_thread: name.to_owned(),
                        words: String::new(),
                        command: String::new(),
                    };
                    let of = &progress.spent;
                    let spent = [
                        (READING, &of.reading),
                        (SENDING, &of.sending),
                        (STORING, &of.storing),
                        (WINDOW, &of.window),
                    ];
                    let is_over_connections = self.config.host.is_some();
                    let spent = spent.into_iter().filter(|_| is_over_connections);
                    let spent = spent.map(|(channel, total)| (channel, total.get())).collect();
                    Ok(Some(Copied { ran, buffers: self.window.map(|_| buffers), spent }))
                }
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
        if let Some(runner) = &self.config.runner {
            runner.tell(out);
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
