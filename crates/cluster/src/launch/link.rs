//! One agent as its controller holds it: a stream of frames each way, and the process at the near end if there is one.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::SyncSender;
use std::thread;

use super::outgoing::{BEAT, MOST, Outgoing, Queue, send_all};
use super::process::Process;
use super::relay::Gateway;
use crate::fleet::LaunchError;
use crate::frame::{FrameReader, FrameWriter};
use crate::message::{self, Report};

/// What came from an agent's stream: a report, or why there will be none.
#[derive(Debug)]
pub(super) struct Heard {
    /// The link, by its position.
    pub(super) link: usize,
    pub(super) said: Result<Report, Loss>,
}

impl Heard {
    /// Of no link at all: wakes who waits, and nothing follows from it.
    pub(super) fn nothing() -> Self {
        Self { link: usize::MAX, said: Err(Loss::Stream(String::new())) }
    }
}

/// Why nothing more comes from an agent.
#[derive(Debug)]
pub(super) enum Loss {
    /// What became of the stream.
    Stream(String),
    /// What became of the gateway that it was behind, with all others there.
    Gateway(String),
    /// A relay's word that no agent came, in the words a controller would have had.
    NeverCame(LaunchError),
}

impl Loss {
    pub(super) fn text(self) -> String {
        match self {
            Self::Stream(why) | Self::Gateway(why) => why,
            Self::NeverCame(why) => why.to_string(),
        }
    }
}

/// What is exchanged before the first frame, by the thread that then reads the frames: it may wait for the far end.
pub(super) type Preamble = Box<dyn FnOnce(&mut dyn Read, &mut dyn Write) -> Result<(), String> + Send>;

/// A running agent. Dropping it ends the connection, and with it the agent and its workers.
pub(super) struct Link {
    near: Near,
    commands: Option<Queue<message::Command>>,
}

/// What we hold of the connection.
enum Near {
    /// The agent, or a client such as ssh that leads to it.
    Process(Process),
    /// A connection that the agent opened to us, and whether its other end has closed it.
    Stream(TcpStream, Arc<AtomicBool>),
    /// A share in the connection to a relay: which child of it.
    Relayed(Arc<Gateway>, u32),
}

/// How the frames of a link begin and what keeps it alive.
#[derive(Default)]
pub(super) struct Manner {
    /// What comes before the frames.
    pub(super) preamble: Option<Preamble>,
    /// Whether the far end takes long silence for our death, so that it has to be told that we live.
    pub(super) signs_of_life: bool,
}

/// The half of a connection that commands go out on. Its end is the agent's end of file, as with a pipe.
struct WriteHalf(TcpStream);

impl Write for WriteHalf {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl Drop for WriteHalf {
    fn drop(&mut self) {
        let _ = self.0.shutdown(Shutdown::Write);
    }
}

impl Link {
    /// Starts an agent with `command`; what it says goes to `heard`, which is bounded, so that a controller that is
    /// busy slows its agents instead of filling up.
    pub(super) fn start(
        link: usize,
        command: &mut Command,
        manner: Manner,
        heard: SyncSender<Heard>,
    ) -> Result<Self, String> {
        let (process, pipes) = Process::start(command)?;
        let commands = serve(link, pipes.stdout, pipes.stdin, manner, heard, Arc::default())
            .map_err(|error| format!("starting the threads that serve it: {error}"))?;
        Ok(Self { near: Near::Process(process), commands: Some(commands) })
    }

    /// Takes over the connection of an agent that has proved who it is.
    pub(super) fn adopt(link: usize, stream: TcpStream, heard: SyncSender<Heard>) -> io::Result<Self> {
        let (read, write) = (stream.try_clone()?, WriteHalf(stream.try_clone()?));
        let closed = Arc::new(AtomicBool::new(false));
        let commands = serve(link, read, write, Manner::default(), heard, Arc::clone(&closed))?;
        Ok(Self { near: Near::Stream(stream, closed), commands: Some(commands) })
    }

    /// A child of a relay's.
    pub(super) fn relayed(gateway: Arc<Gateway>, child: u32) -> Self {
        Self { near: Near::Relayed(gateway, child), commands: None }
    }

    /// Queues a command; the agent always reads, so the queue stays short. One that is gone swallows it.
    pub(super) fn send(&self, command: message::Command) {
        match (&self.commands, &self.near) {
            (Some(commands), _) => commands.put(command),
            (None, Near::Relayed(gateway, child)) => gateway.send(*child, command),
            (None, _) => {}
        }
    }

    /// The way of commands, for a thread that only sends.
    pub(super) fn commands(&self) -> Option<Queue<message::Command>> {
        self.commands.clone()
    }

    /// Asks the agent to leave and closes the way to it.
    pub(super) fn quit(&mut self) {
        self.send(message::Command::Quit);
        self.commands = None;
    }

    /// Whether the process has ended, or the agent has closed its connection.
    pub(super) fn has_ended(&mut self) -> bool {
        match &mut self.near {
            Near::Process(process) => process.has_ended(),
            Near::Stream(_, closed) => closed.load(Ordering::Acquire),
            Near::Relayed(gateway, child) => gateway.has_ended(*child),
        }
    }

    /// The relay that this agent is behind.
    pub(super) fn gateway(&self) -> Option<(&Gateway, u32)> {
        match &self.near {
            Near::Relayed(gateway, child) => Some((gateway, *child)),
            Near::Process(_) | Near::Stream(..) => None,
        }
    }

    /// Ends the connection and says what is known of its end.
    pub(super) fn exit_report(&mut self, why: &str) -> String {
        self.commands = None;
        match &mut self.near {
            Near::Process(process) => format!("{why}; {}", process.exit_report()),
            Near::Stream(stream, _) => {
                let _ = stream.shutdown(Shutdown::Both);
                why.to_owned()
            }
            // A relay says all that it knows with the loss.
            Near::Relayed(gateway, child) => {
                gateway.close(*child);
                why.to_owned()
            }
        }
    }
}

/// The two threads of a link: one reads, and talks first where something comes before the frames; one writes.
fn serve(
    link: usize,
    mut from: impl Read + Send + 'static,
    mut to: impl Write + Send + 'static,
    manner: Manner,
    heard: SyncSender<Heard>,
    closed: Arc<AtomicBool>,
) -> io::Result<Queue<message::Command>> {
    let complaints = heard.clone();
    let stuck = move |why| _ = complaints.send(Heard { link, said: Err(Loss::Stream(why)) });
    let (commands, queue) = Outgoing::new(MOST, stuck);
    thread::Builder::new().name("hear".to_owned()).spawn(move || {
        let begun = manner.preamble.map_or(Ok(()), |preamble| preamble(&mut from, &mut to));
        let begun = begun.and_then(|()| {
            let mut frames = FrameWriter::new(to);
            let alive = manner.signs_of_life.then_some((&message::Command::Alive, BEAT));
            let send = move || send_all(&queue, alive, |command| frames.write(command));
            let started = thread::Builder::new().name("send".to_owned()).spawn(send);
            started.map(drop).map_err(|error| format!("starting a thread that sends: {error}"))
        });
        match begun {
            Ok(()) => hear_all(link, FrameReader::new(from), &heard),
            Err(why) => _ = heard.send(Heard { link, said: Err(Loss::Stream(why)) }),
        }
        closed.store(true, Ordering::Release);
    })?;
    Ok(commands)
}

impl Drop for Link {
    fn drop(&mut self) {
        if let Near::Stream(stream, _) = &self.near {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }
}

fn hear_all(link: usize, mut frames: FrameReader<impl Read>, heard: &SyncSender<Heard>) {
    loop {
        let said = match frames.read::<Report>() {
            Ok(Some(report)) => Ok(report),
            Ok(None) => Err("the agent closed its pipe".to_owned()),
            Err(error) if error.is_hang_up() => Err(format!("the connection to the agent broke: {error}")),
            Err(error) => Err(format!("the agent said something that is not a message: {error}")),
        };
        let last = said.is_err();
        if heard.send(Heard { link, said: said.map_err(Loss::Stream) }).is_err() || last {
            return;
        }
    }
}
