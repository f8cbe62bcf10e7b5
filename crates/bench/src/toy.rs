//! A benchmark of two ends that measures nothing, for tests of the kit.

use seatrial_model::{About, Kind, ParamSpec, Parts};

use crate::{Direction, MAX_TRIALS, PRECISION, TIME, TRIALS, interfaces};

pub const ABOUT: About = About {
    id: "net.toy",
    params: &[
        interfaces::INTERFACE,
        Direction::parameter(""),
        ParamSpec::new("flows", Kind::Count(1, 128), "1"),
        TIME,
        TRIALS,
        MAX_TRIALS,
        PRECISION,
    ],
    parts: Parts::Two(["client", "server"]),
    ..About::WORKER
};
