//! Both ends in this process, over real sockets, and the reduction of made-up samples.

mod alone;
mod broken;
mod delayed;
mod faults;
mod figures;
mod flows;
mod kernel;
mod plans;
mod railed;
mod rig;
#[path = "../../../tests/udp/space.rs"]
#[expect(dead_code, reason = "shared with the tests of datagrams, which use all of it")]
mod space;
