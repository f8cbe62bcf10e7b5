//! The parameters of a case as both ends need them.

use seatrial_bench::Endpoint;

/// Where the connection goes.
#[derive(Clone, Debug)]
pub struct MtuConfig {
    pub interface: Option<String>,
    pub alone: bool,
}

impl MtuConfig {
    pub fn endpoint(&self) -> Endpoint<'_> {
        Endpoint::tcp(self.interface.as_deref(), self.alone)
    }
}
