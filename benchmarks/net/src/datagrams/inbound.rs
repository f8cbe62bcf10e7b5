//! The receiving side: its sockets, and the counts of each flow.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};

use seatrial_model::{Cause, Nanos, Reason, Verification};
use seatrial_sys::net::datagram::{self, Incoming, ReceiveBuffer, drops, most_segments};
use socket2::{Domain, Protocol, Socket, Type};

use super::config::{Offload, UdpStreamConfig};
use super::header::{Header, Pattern};
use super::record::Tally;
use super::rules::Rules;
use super::shared::Shared;
use super::slices::Slices;
use super::window::Window;

/// Most bytes that UDP_GRO coalesces.
const PIECE: usize = 1 << 16;

pub struct Ports {
    sockets: Vec<UdpSocket>,
    pub buffer: ReceiveBuffer,
    pub coalesced: bool,
}

impl Ports {
    pub fn open(config: &UdpStreamConfig) -> Result<Self, Reason> {
        let mut ports =
            Self { sockets: Vec::new(), buffer: ReceiveBuffer { bytes: 0, forced: false }, coalesced: false };
        for flow in 0..config.flows {
            let number = match config.port {
                None => 0,
                Some(first) => u16::try_from(usize::from(first) + flow).map_err(|_| {
                    let text = format!(
                        "port={first}: {} flows need ports above 65535; choose a lower port=",
                        config.flows
                    );
                    Reason::new(Cause::Contradiction, text)
                })?,
            };
            let failed = |error: std::io::Error| {
                let named = if number == 0 { "a port".to_owned() } else { format!("port {number}") };
                Reason::new(Cause::IoError, format!("cannot receive on {named}: {error}"))
            };
            let socket = socket(config, number).map_err(failed)?;
            ports.buffer = datagram::grant_receive_buffer(&socket, Some(config.buffer))
                .map_err(|error| failed(error.into()))?;
            ports.coalesced = coalesce(config.offload, &socket)?;
            ports.sockets.push(socket);
        }
        Ok(ports)
    }

    pub fn numbers(&self) -> Result<Vec<u16>, Reason> {
        let number = |socket: &UdpSocket| {
            let address =
                socket.local_addr().map_err(|error| Reason::new(Cause::IoError, error.to_string()))?;
            Ok(address.port())
        };
        self.sockets.iter().map(number).collect()
    }
}

fn socket(config: &UdpStreamConfig, port: u16) -> std::io::Result<UdpSocket> {
    let made = |at: IpAddr| {
        let at = SocketAddr::new(at, port);
        let socket = Socket::new(Domain::for_address(at), Type::DGRAM, Some(Protocol::UDP))?;
        if at.is_ipv6() {
            socket.set_only_v6(false)?;
        }
        // Without it foreign datagrams arrive through other interfaces as well.
        config.endpoint.bind_device(&socket);
        socket.bind(&at.into())?;
        Ok(UdpSocket::from(socket))
    };
    if config.endpoint.alone {
        return made(Ipv4Addr::LOCALHOST.into());
    }
    match made(Ipv6Addr::UNSPECIFIED.into()) {
        Err(error) if error.kind() != std::io::ErrorKind::AddrInUse => made(Ipv4Addr::UNSPECIFIED.into()),
        done => done,
    }
}

fn coalesce(offload: Offload, socket: &UdpSocket) -> Result<bool, Reason> {
    if offload == Offload::Plain {
        return Ok(false);
    }
    match datagram::receive_coalesced(socket, true) {
        Ok(()) => Ok(true),
        Err(_) if offload == Offload::Auto => Ok(false),
        Err(error) => {
            let text = format!("this kernel does not support UDP_GRO: {error}");
            Err(Reason::new(Cause::Missing, text))
        }
    }
}

pub struct Inbound {
    pub number: u16,
    pub window: Window,
    pub slices: Slices,
    port: u16,
    drops_before: Option<u32>,
    tally: Tally,
    jitter_ns: f64,
    /// Time of the last read with counted datagrams, and the send time of its last datagram.
    last: Option<(u64, u64)>,
    is_verified: bool,
}

pub struct ReceiveThread {
    pub flows: Vec<Inbound>,
    pub sockets: Vec<UdpSocket>,
    pub incoming: Incoming,
}

impl ReceiveThread {
    pub fn of(
        ports: Ports,
        config: &UdpStreamConfig,
        message: usize,
        time: Nanos,
    ) -> Result<Vec<Self>, Reason> {
        let (piece, pieces) = if ports.coalesced {
            (PIECE, config.batch.div_ceil(most_segments(message)).max(4))
        } else {
            (message, config.batch)
        };
        let thread =
            |_| Self { flows: Vec::new(), sockets: Vec::new(), incoming: Incoming::new(piece, pieces) };
        let mut threads: Vec<Self> = (0..config.threads).map(thread).collect();
        for (number, (socket, port)) in
            ports.numbers()?.into_iter().zip(ports.sockets).map(|(a, b)| (b, a)).enumerate()
        {
            let thread = &mut threads[number % config.threads];
            thread.flows.push(Inbound {
                number: number as u16,
                window: Window::default(),
                slices: Slices::new(time, config.slice),
                port,
                drops_before: None,
                tally: Tally::default(),
                jitter_ns: 0.0,
                last: None,
                is_verified: config.verification == Verification::Full,
            });
            thread.sockets.push(socket);
        }
        Ok(threads)
    }

    pub fn begin(&mut self) {
        for (flow, socket) in self.flows.iter_mut().zip(&self.sockets) {
            flow.window.clear();
            flow.slices.clear();
            flow.tally = Tally { port: flow.port, ..Tally::default() };
            flow.drops_before = drops(socket).ok();
            (flow.jitter_ns, flow.last) = (0.0, None);
        }
    }

    /// Ends a phase; `shared` has the numbers that the other end sent. Returns the counts of each flow.
    pub fn end(&mut self, shared: &Shared) -> Vec<(u16, Tally)> {
        let each = self.flows.iter_mut().zip(&self.sockets);
        let tally = |(flow, socket): (&mut Inbound, &UdpSocket)| {
            flow.slices.finish();
            let sent = shared.sent(usize::from(flow.number));
            flow.tally.sent = sent;
            flow.tally.lost = flow.window.finish(sent);
            let window = &flow.window;
            if shared.ended_ns().is_some() && window.next() > sent {
                let text = format!("datagram {} of flow {} of {sent}", window.next() - 1, flow.number);
                flow.tally.wrong += 1;
                flow.tally.first_wrong.get_or_insert(text);
            }
            flow.tally.received = window.received;
            flow.tally.duplicates = window.duplicates;
            flow.tally.reordered = window.reordered;
            flow.tally.extent = window.extent;
            flow.tally.late = window.late;
            flow.tally.bursts = window.bursts.lengths();
            flow.tally.burst_count = window.bursts.count();
            flow.tally.longest_burst = window.bursts.longest();
            let now = drops(socket).ok();
            // The kernel's 32-bit counter wraps.
            flow.tally.socket_drops =
                now.zip(flow.drops_before).map(|(now, before)| u64::from(now.wrapping_sub(before)));
            flow.tally.jitter_ns = (flow.tally.reads > 1).then_some(flow.jitter_ns);
            (flow.number, flow.tally.clone())
        };
        each.map(tally).collect()
    }
}

impl Inbound {
    /// Time of the last read with counted datagrams.
    pub fn last_ns(&self) -> Option<u64> {
        self.last.map(|(read_ns, _)| read_ns)
    }

    /// Counts the datagrams of one read that returned at `now`; returns whether any was ours. The last datagram of
    /// each read is compared byte by byte, unless with verify=none: this costs little at high rates, and checks all datagrams at
    /// low ones.
    pub fn take(&mut self, incoming: &Incoming, rules: Rules<'_>, now: u64) -> bool {
        let (before, mut last) = (self.window.received, None);
        for datagram in incoming.datagrams() {
            let header = Header::read(datagram.bytes).filter(|header| {
                header.cookie == rules.cookie
                    && header.flow == self.number
                    && datagram.bytes.len() == rules.message
                    && !datagram.truncated
            });
            match header {
                None => self.tally.foreign += 1,
                Some(header) if header.phase != rules.phase => self.tally.stale += 1,
                Some(header) => {
                    self.window.note(header.sequence);
                    last = Some((header, datagram.bytes));
                }
            }
        }
        let Some((header, bytes)) = last else { return false };
        self.tally.reads += 1;
        if self.is_verified {
            self.check(rules.pattern, &header, bytes);
        }
        if let Some((then, sent)) = self.last.replace((now, header.sent_ns)) {
            // RFC 3550, section 6.4.1. The clocks need not agree: only differences on each clock are used.
            let transit = (now as f64 - then as f64) - (header.sent_ns as f64 - sent as f64);
            self.jitter_ns += (transit.abs() - self.jitter_ns) / 16.0;
        }
        self.slices.note((self.window.received - before) * rules.message as u64, now);
        true
    }

    fn check(&mut self, pattern: &Pattern, header: &Header, bytes: &[u8]) {
        self.tally.checked += 1;
        if header.message as usize == bytes.len() && pattern.first_wrong(bytes, header.sequence).is_none() {
            return;
        }
        self.tally.wrong += 1;
        if self.tally.first_wrong.is_none() {
            let at = pattern.first_wrong(bytes, header.sequence).unwrap_or(28);
            let found = bytes.get(at).copied().unwrap_or_default();
            let text =
                format!("byte {at} of datagram {} of flow {} is {found:#04x}", header.sequence, self.number);
            self.tally.first_wrong = Some(text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The wrong datagrams of a flow of which number 5 came, when the other end told that it sent `sent`.
    fn wrong(sent: Option<u64>) -> u64 {
        let mut window = Window::default();
        window.note(5);
        let flow = Inbound {
            number: 0,
            window,
            slices: Slices::new(Nanos(1_000_000_000), Nanos(100_000_000)),
            port: 0,
            drops_before: None,
            tally: Tally::default(),
            jitter_ns: 0.0,
            last: None,
            is_verified: true,
        };
        let socket = UdpSocket::bind("127.0.0.1:0").expect("a socket");
        let mut thread =
            ReceiveThread { flows: vec![flow], sockets: vec![socket], incoming: Incoming::new(64, 1) };
        let shared = Shared::new(1);
        match sent {
            Some(sent) => shared.end(&[sent], 1),
            None => shared.halt(),
        }
        thread.end(&shared)[0].1.wrong
    }

    #[test]
    fn a_number_beyond_those_sent_is_wrong_only_if_their_count_is_known() {
        assert_eq!([wrong(Some(6)), wrong(Some(5)), wrong(None)], [0, 1, 0]);
    }
}
