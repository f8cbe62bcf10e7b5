//! The parameters of a case as both ends need them.

use seatrial_bench::Endpoint;

/// Bytes that go each way on a connection with an exchange: its number.
pub const NUMBER: usize = 8;

/// What is asked for, and where connections go.
#[derive(Clone, Debug)]
pub struct ConnectConfig {
    pub exchange: bool,
    pub interface: Option<String>,
    pub alone: bool,
}

impl ConnectConfig {
    pub fn endpoint(&self) -> Endpoint<'_> {
        Endpoint::tcp(self.interface.as_deref(), self.alone)
    }
}
