//! A benchmark of two ends that measures nothing, for tests of the kit.

use seatrial_model::{About, Cost, Interaction, Kind, ParamSpec, Parts};

use crate::{Direction, MAX_TRIALS, PRECISION, TIME, TRIALS, interfaces};

pub const ABOUT: About = About {
    id: "net.toy",
    version: 1,
    title: "",
    doc: "",
    checks: &[],
    params: &[
        interfaces::INTERFACE,
        Direction::parameter(""),
        ParamSpec::new("flows", Kind::Count(1, 128), "1"),
        TIME,
        TRIALS,
        MAX_TRIALS,
        PRECISION,
    ],
    metrics: &[],
    series: &[],
    parts: Parts::Two(["client", "server"]),
    needs: &[],
    probes: &[],
    cost: Cost { seconds: 1, written: 0 },
    interaction: Interaction::Passive,
};
