//! The sending side: its sockets, the size of its datagrams, the rate of each flow.

use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::time::Duration;

use seatrial_model::{Cause, Reason};
use seatrial_sys::clock::now_ns;
use seatrial_sys::net::datagram::{self, Layout, Outgoing, most_segments};
use seatrial_sys::net::set_max_pacing_rate;
use seatrial_sys::proof::Key;
use socket2::{Domain, Protocol, Socket, Type};

use super::config::{HEADER, MOST_MESSAGE, Offload, Pacing, UdpStreamConfig};
use super::header::Pattern;
use super::pace::Pace;
use super::record::SentFlow;

/// Longest send call, and so the interval between checks for the end of the phase.
const CALL: Duration = Duration::from_millis(5);

/// Factor by which `SO_MAX_PACING_RATE` exceeds the requested rate, so that a late flow can catch up.
const CATCHING_UP: f64 = 1.05;

pub struct Outbound {
    pub number: u16,
    pub socket: UdpSocket,
    pub to: SocketAddr,
    pub pace: Pace,
    pub start_ns: u64,
    pub span_ns: u64,
    pub sent: u64,
    pub refused: u64,
    pub cut_short: u64,
    pub rejected: u64,
    pub may_be_uncut: bool,
}

pub struct SendThread {
    pub flows: Vec<Outbound>,
    pub out: Outgoing,
}

#[derive(Clone, Debug)]
pub struct SenderSpec {
    pub cookie: u64,
    pub message: usize,
    pub headers: usize,
    pub path_mtu: Option<u32>,
    pub pattern: Pattern,
}

pub fn open(
    config: &UdpStreamConfig,
    interface: Option<&str>,
    own: IpAddr,
    peer: IpAddr,
    ports: &[u16],
) -> Result<(SenderSpec, Vec<SendThread>), Reason> {
    if config.pacing == Pacing::Kernel {
        paced_by_kernel(interface)?;
    }
    if ports.len() != config.flows {
        let text = format!("the peer offers {} ports for {} flows", ports.len(), config.flows);
        return Err(Reason::new(Cause::Protocol, text));
    }
    let mut sockets = Vec::new();
    for port in ports {
        let to = SocketAddr::new(peer, *port);
        let failed = |error| Reason::new(Cause::IoError, format!("cannot send to {to}: {error}"));
        sockets.push((socket(config, own, to).map_err(failed)?, to));
    }
    let path_mtu = sockets.first().and_then(|(socket, _)| datagram::path_mtu(socket).ok());
    let headers = 8 + if peer.is_ipv4() { 20 } else { 40 };
    let fits = path_mtu.map(|mtu| (mtu as usize).saturating_sub(headers).min(MOST_MESSAGE));
    let message = size(config, fits, headers, own, peer)?;
    let is_whole = fits.is_none_or(|fits| message <= fits);
    let segments = segments(config, message, is_whole, sockets.iter().map(|(socket, _)| socket))?;
    let cookie = cookie()?;
    let pattern = Pattern::new(cookie, message, config.batch);
    let layout = Layout { message, slots: config.batch, segments };
    let thread = |_| SendThread { flows: Vec::new(), out: filled(layout, &pattern) };
    let mut threads: Vec<SendThread> = (0..config.threads).map(thread).collect();
    for (number, (socket, to)) in sockets.into_iter().enumerate() {
        if let (Pacing::Kernel, Some(rate)) = (config.pacing, config.rate) {
            let on_wire = rate * (message + headers) as f64 / message as f64 * CATCHING_UP;
            set_max_pacing_rate(&socket, on_wire as u64).map_err(|error| {
                Reason::new(Cause::Missing, format!("pacing=kernel: setting SO_MAX_PACING_RATE: {error}"))
            })?;
        }
        threads[number % config.threads].flows.push(Outbound {
            number: number as u16,
            socket,
            to,
            pace: Pace::new(None, message, 0),
            start_ns: 0,
            span_ns: 0,
            sent: 0,
            refused: 0,
            cut_short: 0,
            rejected: 0,
            may_be_uncut: segments > 1 && config.offload == Offload::Auto,
        });
    }
    Ok((SenderSpec { cookie, message, headers, path_mtu, pattern }, threads))
}

/// Only the queueing discipline `fq` uses the pacing rate of a UDP socket (tc-fq(8)).
fn paced_by_kernel(interface: Option<&str>) -> Result<(), Reason> {
    let missing = |why: String| {
        Reason::new(Cause::Missing, format!("pacing=kernel needs the queueing discipline fq: {why}"))
    };
    let name =
        interface.ok_or_else(|| missing("the interface is not known; set -p interface=".to_owned()))?;
    let queues = datagram::qdiscs(name).map_err(|error| missing(format!("{name}: {error}")))?;
    if queues.iter().any(|queue| queue.kind == "fq") {
        return Ok(());
    }
    let kinds: Vec<&str> = queues.iter().map(|queue| queue.kind.as_str()).collect();
    let text = format!("{name} has {}; run tc qdisc replace dev {name} root fq", kinds.join(", "));
    Err(missing(text))
}

fn socket(config: &UdpStreamConfig, own: IpAddr, to: SocketAddr) -> std::io::Result<UdpSocket> {
    let socket = Socket::new(Domain::for_address(to), Type::DGRAM, Some(Protocol::UDP))?;
    config.endpoint.bind_device(&socket);
    socket.bind(&SocketAddr::new(own, 0).into())?;
    socket.connect(&to.into())?;
    socket.set_write_timeout(Some(CALL))?;
    // Without this option the interface's queue may drop datagrams that count as sent; its counters show these too.
    let _ = datagram::report_local_drops(&socket);
    if !config.fragment {
        datagram::refuse_fragments(&socket)?;
    }
    Ok(socket.into())
}

/// Bytes of a message: as requested, or what fits the path MTU.
fn size(
    config: &UdpStreamConfig,
    fits: Option<usize>,
    headers: usize,
    own: IpAddr,
    peer: IpAddr,
) -> Result<usize, Reason> {
    let Some(asked) = config.message else {
        return fits.filter(|fits| *fits >= HEADER).ok_or_else(|| {
            let text = format!("the path MTU from {own} to {peer} is not known; set -p message=");
            Reason::new(Cause::Missing, text)
        });
    };
    match fits {
        Some(fits) if asked > fits && !config.fragment => {
            let text = format!(
                "a message of {asked} B with headers of {headers} B does not fit the path MTU of {} B from {own} to \
                 {peer}: set the MTU of both interfaces and of the switches between to at least {} B",
                fits + headers,
                asked + headers
            );
            Err(Reason::new(Cause::IoError, text))
        }
        _ => Ok(asked),
    }
}

/// Datagrams per `UDP_SEGMENT` call. The kernel segments only into datagrams that need no fragments.
fn segments<'a>(
    config: &UdpStreamConfig,
    message: usize,
    is_whole: bool,
    sockets: impl Iterator<Item = &'a UdpSocket>,
) -> Result<usize, Reason> {
    let most = most_segments(message).min(config.batch);
    if config.offload == Offload::Plain || most == 1 || (!is_whole && config.offload == Offload::Auto) {
        return Ok(1);
    }
    let size = u16::try_from(message).unwrap_or(u16::MAX);
    for socket in sockets {
        let cut = if is_whole { datagram::segment(socket, size) } else { Err(seatrial_sys::Errno::MSGSIZE) };
        match cut {
            Ok(()) => {}
            Err(_) if config.offload == Offload::Auto => return Ok(1),
            Err(error) => {
                let text = format!(
                    "offload=gso: the kernel cannot segment {message} B datagrams (UDP_SEGMENT): {error}; use \
                     offload=auto"
                );
                return Err(Reason::new(Cause::Missing, text));
            }
        }
    }
    Ok(most)
}

fn filled(layout: Layout, pattern: &Pattern) -> Outgoing {
    let mut out = Outgoing::new(layout);
    for slot in 0..layout.slots {
        out.slot(slot)[HEADER..].copy_from_slice(pattern.of(slot as u64));
    }
    out
}

/// A random number that other programs cannot guess.
fn cookie() -> Result<u64, Reason> {
    let failed = |why: String| Reason::new(Cause::Missing, format!("reading a random number: {why}"));
    let key = Key::random().map_err(|error| failed(error.to_string()))?.to_hex();
    key.get(..16)
        .and_then(|text| u64::from_str_radix(text, 16).ok())
        .ok_or_else(|| failed("too few random bytes".to_owned()))
}

impl SendThread {
    /// Starts a phase. Flows start at different times within one datagram interval, so that they do not send in
    /// bursts.
    pub fn begin(&mut self, config: &UdpStreamConfig, message: usize) {
        let start = now_ns();
        for flow in &mut self.flows {
            let interval = Pace::new(config.rate, message, 0).interval_ns().unwrap_or(0.0);
            let after = interval * f64::from(flow.number) / config.flows as f64;
            flow.start_ns = start + after as u64;
            flow.pace = Pace::new(config.rate, message, flow.start_ns);
            (flow.span_ns, flow.sent) = (0, 0);
            (flow.refused, flow.cut_short, flow.rejected) = (0, 0, 0);
        }
    }

    pub fn end(&self) -> Vec<(u16, SentFlow)> {
        let flow = |flow: &Outbound| {
            let sent = SentFlow {
                datagrams: flow.sent,
                span_ns: flow.span_ns,
                slipped_ns: flow.pace.slipped_ns,
                behind_ns: flow.pace.behind_ns,
                refused: flow.refused,
                cut_short: flow.cut_short,
                rejected: flow.rejected,
            };
            (flow.number, sent)
        };
        self.flows.iter().map(flow).collect()
    }
}
