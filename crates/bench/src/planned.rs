//! Benchmarks still to come. Profiles may name them already; they judge as unknown until they are here.

use seatrial_model::{Better, MetricSpec, Planned, Unit};

const fn rate(name: &'static str, unit: Unit, doc: &'static str) -> MetricSpec {
    MetricSpec { name, doc, unit, better: Better::Higher }
}

/// Benchmarks still to come, with the metrics that criteria may name.
pub const PLANNED: &[Planned] = &[
    Planned {
        id: "net.tcp_stream",
        metrics: &[rate("throughput", Unit::GigabitsPerSecond, "Payload received in the common window.")],
    },
    Planned {
        id: "net.udp_stream",
        metrics: &[
            rate("throughput", Unit::GigabitsPerSecond, "Payload received in the common window."),
            MetricSpec {
                name: "loss",
                doc: "Datagrams sent and not received, of those sent.",
                unit: Unit::Percent,
                better: Better::Lower,
            },
        ],
    },
    Planned {
        id: "rdma.write_bw",
        metrics: &[rate("throughput", Unit::GigabitsPerSecond, "Bytes written to remote memory over time.")],
    },
    Planned {
        id: "storage.file",
        metrics: &[rate("throughput", Unit::MegabytesPerSecond, "Bytes read or written over time.")],
    },
    Planned {
        id: "storage.raw",
        metrics: &[rate("throughput", Unit::MegabytesPerSecond, "Bytes read from the device over time.")],
    },
    Planned {
        id: "gpu.host_copy_all",
        metrics: &[
            rate("h2d_sum", Unit::GigabitsPerSecond, "Host to device, all GPUs at once, summed."),
            rate("d2h_sum", Unit::GigabitsPerSecond, "Device to host, all GPUs at once, summed."),
        ],
    },
];
