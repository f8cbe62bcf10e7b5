//! What datagrams cost beside the calls of the kernel; see `cargo xtask instructions`.

use std::hint::black_box;

use seatrial_testkit::hot_loop;

use super::header::{Header, Pattern};

#[test]
fn a_datagram_is_headed_and_read() {
    let mut datagram = vec![0; 1448];
    let mut header = Header { cookie: 7, sequence: 0, sent_ns: 1, flow: 0, phase: 1, message: 1448 };
    hot_loop(|| {
        header.sequence += 1;
        black_box(&header).write(black_box(&mut datagram));
        black_box(Header::read(black_box(&datagram)));
    });
    assert_eq!(Header::read(&datagram), Some(header));
}

#[test]
fn a_datagram_of_1448_bytes_is_compared() {
    let pattern = Pattern::new(7, 1448, 16);
    let mut datagram = vec![0; 1448 - pattern.of(3).len()];
    datagram.extend(pattern.of(3));
    hot_loop(|| assert_eq!(pattern.first_wrong(black_box(&datagram), black_box(3)), None));
}
