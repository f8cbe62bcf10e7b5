//! A benchmark whose part does what its case says, most of it wrong.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::fd::{IntoRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::{Child, Command};
use std::sync::{Arc, OnceLock};
use std::thread::sleep;
use std::time::Duration;

use rustix::io::{FdFlags, fcntl_setfd};
use rustix::process::{Signal, getpid, getppid, kill_process};
use seatrial_bench::{Benchmark, Part, Prepared, Registry, Running, Sink, Stop};
use seatrial_model::{
    About, Case, Cause, Integrity, Limits, Measures, Nanos, Params, PartPlacement, Parts, Phase, Quantity,
    Reason, Sample,
};
use seatrial_sys::clock::now_ns;
use seatrial_sys::process::adopt;
use seatrial_sys::storage::{FdStore, Purpose};
use serde_json::json;

pub static REGISTRY: Registry = Registry { families: &[&[BENCHMARK]], planned: &[], aliases: &[] };

pub static ABOUT: About = About {
    id: "toy.part",
    title: "does what its case says",
    parts: Parts::One("toy"),
    probes: &["vmstat", "no_such_probe"],
    ..About::WORKER
};

/// The socket to the agent, for toys that write garbage to it.
static CHANNEL: OnceLock<OwnedFd> = OnceLock::new();

/// Keeps a copy of the socket `fd`, and returns a descriptor that a worker can inherit.
pub fn share_channel(fd: RawFd) -> RawFd {
    let channel = adopt(fd).expect("started by an agent");
    CHANNEL.get_or_init(|| channel.try_clone().expect("cloned"));
    fcntl_setfd(&channel, FdFlags::empty()).expect("as it was inherited");
    channel.into_raw_fd()
}

const BENCHMARK: Benchmark = Benchmark {
    about: &ABOUT,
    factors: &[],
    plan: |_, _, _| Ok(Vec::new()),
    limits: |_, _, _| Limits::new(),
    part: |case, place| Part::new(case, place, prepare),
    liveness_check: |_, _| None,
    reduce: |_, _| Ok(Measures::default()),
};

struct ToyPart {
    does: String,
    node: String,
    open: Option<File>,
    _child: Option<Child>,
}

fn prepare(case: &Case, place: &PartPlacement) -> Result<Prepared, Reason> {
    let does = case.params.text("does")?;
    let (does, file) = does.split_once(' ').unwrap_or((does, ""));
    let io = |error: io::Error| Reason::new(Cause::IoError, error.to_string());
    let (mut child, mut open) = (None, None);
    match does {
        "starts_a_child" => child = Some(Command::new("sleep").arg("600").spawn().map_err(io)?),
        "starts_a_stray" => {
            child = Some(Command::new("setsid").args(["sleep", "600"]).spawn().map_err(io)?);
        }
        "leaves_a_folder" => leave_a_folder(Path::new(file)).map_err(io)?,
        "writes_to" => open = Some(OpenOptions::new().append(true).open(file).map_err(io)?),
        "is_stubborn" => {
            // A handler that only sets a flag, so that the signal does not end the process.
            signal_hook::flag::register(signal_hook::consts::SIGTERM, Arc::default()).map_err(io)?;
        }
        "has_no_memory" => {
            return Err(Reason::new(Cause::NoSpace, "mmap of 1 PiB: Cannot allocate memory"));
        }
        _ => {}
    }
    let number = |pid: Option<rustix::process::Pid>| pid.map(|pid| pid.as_raw_nonzero().get());
    let own_child = child.as_ref().map(Child::id);
    let told = json!({ "pid": number(Some(getpid())), "agent": number(getppid()), "child": own_child });
    let part = ToyPart { does: does.to_owned(), node: place.node.clone(), open, _child: child };
    Prepared::new(place, told, |peers| {
        let known = peers.iter().filter(|offer| offer.data["pid"].is_u64()).count();
        if known == 0 { Err(Reason::new(Cause::PartnerLost, "no peer has a pid")) } else { Ok(part) }
    })
}

impl Running for ToyPart {
    fn run(&mut self, phase: Phase, stop: &Stop, out: &mut dyn Sink) -> Result<(), Reason> {
        if phase == Phase::WarmUp {
            out.sample(sample("warm"));
            return Ok(());
        }
        match self.does.as_str() {
            "crashes" => loop {
                // Twice: the standard library's handler uninstalls itself at the first, which is no stack overflow.
                let _ = kill_process(getpid(), Signal::SEGV);
            },
            "aborts" => std::process::abort(),
            "leaves" => leave(),
            "loops" => loop {
                std::hint::spin_loop();
            },
            "is_stubborn" => loop {
                sleep(Duration::from_secs(1));
            },
            "panics" => panic!("the toy broke on {}", self.node),
            "says_garbage" => blurt(b"\x05\0\0\0hello"),
            "says_no_frame" => blurt(b"Segmentation fault (core dumped)\n"),
            "floods_its_output" => {
                while !stop.is_over() {
                    let _ = io::stdout()
                        .write_all(&[b'o'; 4096])
                        .and_then(|()| io::stderr().write_all(b"the end\n"));
                }
            }
            "floods_its_samples" => loop {
                out.sample(sample("flood"));
            },
            "writes_to" => {
                let write = self.open.as_mut().map(|file| file.write_all(b"x"));
                write.transpose().map_err(|error| Reason::new(Cause::IoError, error.to_string()))?;
            }
            // At least one, however late it starts.
            _ => loop {
                out.sample(sample("tick"));
                if stop.is_over() {
                    break;
                }
                sleep(Duration::from_millis(1));
            },
        }
        out.evidence("toy", json!(self.does));
        Ok(())
    }

    fn verify(&mut self) -> Result<Integrity, Reason> {
        Ok(Integrity::Verified { checked: 7 })
    }
}

/// Announces a folder, as parts do that create files, and creates only a part of it, without manifest.
fn leave_a_folder(path: &Path) -> io::Result<()> {
    let above = File::open(path.parent().expect("a folder above"))?;
    let fd_store = FdStore::lent(Purpose::Leftovers).expect("the agent holds the other end");
    fd_store.put(path.file_name().expect("a name").as_bytes(), &[above])?;
    std::fs::create_dir_all(path.join("thread.0"))?;
    std::fs::write(path.join("thread.0/file.0.0.0"), "half")
}

fn sample(channel: &str) -> Sample {
    let now = Nanos(now_ns());
    Sample::new(channel, Params::default(), (now, now), Quantity::count(1))
}

#[expect(clippy::exit, reason = "what a library does that thinks it owns the process")]
fn leave() -> ! {
    std::process::exit(0)
}

/// Writes raw bytes to the agent, and waits to be killed for it.
fn blurt(bytes: &[u8]) -> ! {
    let channel = CHANNEL.get().expect("shared before the worker began").try_clone().expect("cloned");
    File::from(channel).write_all(bytes).expect("written");
    loop {
        sleep(Duration::from_secs(1));
    }
}
