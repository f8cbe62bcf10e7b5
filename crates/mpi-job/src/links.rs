//! The connections of the part that starts a job to the parts on the other nodes.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use seatrial_model::{Cause, Reason};
use socket2::Socket;

use super::hosts::JobHosts;
use super::node::{NO_EXIT_CODE, relay, serve_commands, spawn};
use super::process::{CallListener, NodeCall};
use super::wire::{RemoteAnswer, RemoteCommand, messages, send};

/// The connections to the part on another node.
pub struct HostLink {
    pub commands: Socket,
    pub phases: TcpStream,
    /// One for each rank.
    pub ranks: Vec<Socket>,
}

impl HostLink {
    /// The links of all other nodes, whose parts made these connections.
    pub fn of_streams(streams: Vec<TcpStream>, of_node: usize) -> Vec<Self> {
        let mut streams = streams.into_iter();
        let mut links = Vec::new();
        while let (Some(commands), Some(phases)) = (streams.next(), streams.next()) {
            let ranks = streams.by_ref().take(of_node - super::node::CONNECTIONS).map(Socket::from).collect();
            links.push(Self { commands: commands.into(), phases, ranks });
        }
        links
    }

    /// How ranks on the node call its part, the first line that the part sends.
    pub fn call(&self) -> std::io::Result<NodeCall> {
        let (mut line, mut byte) = (Vec::new(), [0]);
        // What follows is for a remote shell.
        while (&self.commands).read(&mut byte)? == 1 && byte != *b"\n" {
            line.push(byte[0]);
        }
        Ok(serde_json::from_slice(&line)?)
    }
}

/// Tells the parts on the other nodes that the ranks have ended a phase.
pub fn end_phase(phases: &[TcpStream]) {
    for mut phases in phases {
        // A part that is gone is told by its ranks.
        let _ = phases.write_all(&[1]);
    }
}

/// Whether the part at the other end is gone.
pub fn is_gone(phases: &TcpStream) -> bool {
    let nonblocking = phases.set_nonblocking(true);
    let peeked = phases.peek(&mut [0]);
    nonblocking.is_ok() && phases.set_nonblocking(false).is_ok() && matches!(peeked, Ok(0))
        || peeked.is_err_and(|error| error.kind() == std::io::ErrorKind::ConnectionReset)
}

/// Passes the commands of the launcher's remote shells on to the nodes, until it is dropped.
pub struct RemoteShells {
    is_over: Arc<AtomicBool>,
}

impl RemoteShells {
    /// `shells` is where remote shells call, and `ranks` where the ranks of the own node do; `commands` are the connections to
    /// the other nodes.
    pub fn serve(
        shells: CallListener,
        ranks: Arc<CallListener>,
        hosts: &JobHosts,
        commands: Vec<Socket>,
    ) -> Result<Self, Reason> {
        let failed = |error: std::io::Error| {
            Reason::new(Cause::Launcher, format!("cannot serve a launcher's remote shells: {error}"))
        };
        let is_over = Arc::new(AtomicBool::new(false));
        if commands.is_empty() {
            return Ok(Self { is_over });
        }
        // A launcher that does not know the address of its own node starts a command there too.
        let (ours, theirs) = UnixStream::pair().map_err(failed)?;
        spawn("own commands", move || serve_commands(theirs.into(), &ranks)).map_err(failed)?;
        let own: Socket = ours.into();
        let streams = std::iter::once(own).chain(commands);
        let mut free: Vec<(String, Option<Socket>)> =
            hosts.addresses.iter().cloned().zip(streams.map(Some)).collect();
        let over = Arc::clone(&is_over);
        spawn("remote shells", move || {
            while let Ok(Some((stream, _))) = shells.accept(|| Ok(over.load(Ordering::Relaxed))) {
                let _ = pass_on(stream.into(), &mut free);
            }
        })
        .map_err(failed)?;
        Ok(Self { is_over })
    }
}

impl Drop for RemoteShells {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
    }
}

/// Joins a remote shell and the node that it asks for. The command ends with the shell.
fn pass_on(shell: Socket, free: &mut [(String, Option<Socket>)]) -> std::io::Result<()> {
    let Some(command) = messages::<RemoteCommand>(shell.try_clone()?).next() else { return Ok(()) };
    let found = free.iter_mut().find(|(address, _)| *address == command.host);
    let why = match found {
        None => format!("seatrial: {} is the address of no node of the case\n", command.host),
        Some((_, stream)) => match stream.take() {
            Some(stream) => {
                send(&stream, &command)?;
                let answers = shell.try_clone()?;
                relay(&stream, &shell, move || {
                    let _ = answers.shutdown(Shutdown::Both);
                })?;
                return relay(&shell, &stream, || ());
            }
            None => format!("seatrial: a command was started on {} before\n", command.host),
        },
    };
    send(&shell, &RemoteAnswer::Printed { text: why })?;
    send(&shell, &RemoteAnswer::Ended { code: NO_EXIT_CODE })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::net::TcpListener;

    use super::*;

    fn asked(host: &str, free: &mut [(String, Option<Socket>)]) -> Vec<RemoteAnswer> {
        let (shell, ours) = UnixStream::pair().expect("a pair");
        let (line, program, host) = ("true".to_owned(), "/p".to_owned(), host.to_owned());
        send(&shell, &RemoteCommand { host, line, program, environment: BTreeMap::new(), talks: false })
            .expect("sent");
        pass_on(ours.into(), free).expect("answered");
        messages(shell).collect()
    }

    #[test]
    fn a_host_that_is_no_node_and_a_second_command_are_told() {
        let mut free = vec![("10.0.0.1".to_owned(), None)];
        for (host, why) in [("10.0.0.9", "is the address of no node"), ("10.0.0.1", "was started on")] {
            let answers = asked(host, &mut free);
            let [RemoteAnswer::Printed { text }, RemoteAnswer::Ended { code: NO_EXIT_CODE }] = &answers[..]
            else {
                panic!("{answers:?}")
            };
            assert!(text.contains(host) && text.contains(why), "{text}");
        }
    }

    #[test]
    fn a_command_runs_on_its_node_with_the_path_of_this_program_there() {
        let (ours, theirs) = UnixStream::pair().expect("a pair");
        let calls = CallListener::open().expect("a socket");
        spawn("node", move || serve_commands(theirs.into(), &calls)).expect("a thread");
        let (shell, worker) = UnixStream::pair().expect("a pair");
        let line = "test -x /elsewhere/seatrial && echo \"$WORD\"; exit 7".to_owned();
        let environment = BTreeMap::from([("WORD".to_owned(), "one word".to_owned())]);
        let (host, program) = ("10.0.0.2".to_owned(), "/elsewhere/seatrial".to_owned());
        send(&shell, &RemoteCommand { host, line, program, environment, talks: false }).expect("sent");
        pass_on(worker.into(), &mut [("10.0.0.2".to_owned(), Some(ours.into()))]).expect("passed on");
        let (mut printed, mut codes) = (String::new(), Vec::new());
        for answer in messages(shell) {
            match answer {
                RemoteAnswer::Printed { text } | RemoteAnswer::Line { text } => printed.push_str(&text),
                RemoteAnswer::Ended { code } => {
                    codes.push(code);
                    break;
                }
            }
        }
        assert_eq!((printed.as_str(), codes), ("one word\n", vec![7]));
    }

    #[test]
    fn a_part_that_closed_its_connection_is_gone() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let theirs = TcpStream::connect(listener.local_addr().expect("told")).expect("connected");
        let (ours, _) = listener.accept().expect("accepted");
        assert!(!is_gone(&ours));
        drop(theirs);
        let until = std::time::Instant::now() + std::time::Duration::from_secs(60);
        while !is_gone(&ours) {
            assert!(std::time::Instant::now() < until, "never told");
        }
    }
}
