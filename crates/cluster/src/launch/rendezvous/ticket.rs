//! The ticket by which an agent connects to the controller.

use std::io::{self, Read};
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::time::Duration;

use seatrial_bench::PeerAddress;
use seatrial_sys::proof::{Key, Side, authenticate};

use crate::frame::FrameReader;

const CONNECT_WITHIN: Duration = Duration::from_secs(4);

const PROVE_WITHIN: Duration = Duration::from_secs(5);

/// How long an agent retries: the network of a node that just booted may come up late.
const TRY_FOR: Duration = Duration::from_secs(20);

const PAUSE: Duration = Duration::from_millis(200);

/// Reads the ticket that all agents get, a frame on standard input and never an argument, `from` there and connects, first to
/// the address `first`, which the launcher named.
pub(crate) fn dial_back(from: impl Read, first: Option<IpAddr>) -> Result<TcpStream, String> {
    let read = FrameReader::new(from).read::<PeerAddress>();
    let ticket = match read {
        Ok(Some(ticket)) => ticket,
        Ok(None) => {
            return Err(
                "standard input is empty: the launcher did not pass on the address and key of the run"
                    .to_owned(),
            );
        }
        Err(error) => return Err(format!("standard input is not the address and key of the run: {error}")),
    };
    let key = ticket.key().ok_or("the key of the run on standard input is malformed")?;
    ticket.reach(first, TRY_FOR, PAUSE, |_| true, |at| call(at, &key)).map_err(|refusals| {
        let refusals: Vec<String> = refusals.iter().map(|(at, error)| format!("{at}: {error}")).collect();
        format!("the controller cannot be reached: {}", refusals.join("; "))
    })
}

fn call(at: SocketAddr, key: &Key) -> io::Result<TcpStream> {
    let stream = TcpStream::connect_timeout(&at, CONNECT_WITHIN)?;
    prove(stream, key, Side::Caller)
}

pub(super) fn prove(stream: TcpStream, key: &Key, side: Side) -> io::Result<TcpStream> {
    authenticate(&stream, key, side, PROVE_WITHIN, |_| Ok(()))?;
    keep(&stream)?;
    Ok(stream)
}

/// Frames are small and answered at once; a dead peer is noticed after 30 s, as over ssh.
fn keep(stream: &TcpStream) -> io::Result<()> {
    use rustix::net::sockopt;
    stream.set_nodelay(true)?;
    sockopt::set_socket_keepalive(stream, true)?;
    sockopt::set_tcp_keepidle(stream, Duration::from_secs(10))?;
    sockopt::set_tcp_keepintvl(stream, Duration::from_secs(5))?;
    sockopt::set_tcp_keepcnt(stream, 4)?;
    // Keepalive does not cover sent data without acknowledgement (tcp(7), TCP_USER_TIMEOUT).
    sockopt::set_tcp_user_timeout(stream, 30_000)?;
    Ok(())
}
