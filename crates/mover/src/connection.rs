//! Options of the data connections.

use std::io;
use std::net::TcpStream;
use std::time::Duration;

use socket2::{SockRef, TcpKeepalive};

/// Silence after which a connection asks whether the other side is there, and between two such questions.
const KEEPALIVE: (Duration, Duration) = (Duration::from_secs(10), Duration::from_secs(5));

/// How long data may stay unacknowledged.
const LOST_AFTER: Duration = Duration::from_secs(90);

/// Has the kernel end a connection whose other side is gone without a word.
pub fn keep_alive(stream: &TcpStream) -> io::Result<()> {
    let socket = SockRef::from(stream);
    let (after, between) = KEEPALIVE;
    socket.set_tcp_keepalive(&TcpKeepalive::new().with_time(after).with_interval(between))?;
    socket.set_tcp_user_timeout(Some(LOST_AFTER))
}
