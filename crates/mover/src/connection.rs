//! Options of the data connections.

use std::io;
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use seatrial_bench::Endpoint;
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

/// An endpoint whose sockets have buffers of `window` bytes, and where the size stands that the kernel made of it, by `told`: 0
/// until there is a socket, and without a window.
pub fn endpoint(
    alone: bool,
    window: Option<u64>,
    told: fn(&SockRef<'_>) -> io::Result<usize>,
) -> (Endpoint, Arc<AtomicU64>) {
    let (mut endpoint, buffer) = (Endpoint::tcp(None, alone), Arc::<AtomicU64>::default());
    if let Some(window) = window {
        let buffer = Arc::clone(&buffer);
        endpoint.options = Arc::new(move |socket| {
            socket.set_send_buffer_size(window as usize)?;
            socket.set_recv_buffer_size(window as usize)?;
            buffer.store(told(&socket)? as u64, Ordering::Relaxed);
            Ok(())
        });
    }
    (endpoint, buffer)
}
