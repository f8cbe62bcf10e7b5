//! Every benchmark, one folder each: `src/<family>/<test>/`.
//!
//! A benchmark measures; it does not print, judge, store or loop over cases. `src/mem/bandwidth/` is the one to
//! copy for a new benchmark; its one line in `benchmarks!` below is the only other place to touch.

#[warn(missing_docs)]
mod benchmark;
pub mod common;
#[warn(missing_docs)]
mod error;
#[warn(missing_docs)]
mod planned;
#[warn(missing_docs)]
mod registry;
pub mod stale_dirs;
#[cfg(test)]
#[path = "../tests/machine/starved.rs"]
mod starved;
mod stop;

pub use benchmark::{Benchmark, DISTINCT_CARDS, LIVENESS_CHECK_MARK, Offer, Part, Sink};
pub use error::Error;
pub use registry::Registry;
pub use stop::Stop;

/// Declares the modules of the families and lists their benchmarks.
macro_rules! benchmarks {
    ($($(#[$doc:meta])* $family:ident { $($test:ident::$benchmark:ident,)+ })+) => {
        $($(#[$doc])* pub mod $family {
            $(pub mod $test;)+
        })+

        static BENCHMARKS: &[&dyn Benchmark] = &[$($(&$family::$test::$benchmark,)+)+];
    };
}

// One line a benchmark, in the order of lists.
benchmarks! {
    /// Memory.
    mem {
        bandwidth::Bandwidth,
        latency::Latency,
        loaded_latency::LoadedLatency,
        pipeline::Pipeline,
    }
    /// Processor cores.
    cpu {
        clock::Clock,
    }
    /// Networks.
    net {
        rr::RequestResponse,
        connect::Connect,
        tcp_stream::TcpStream,
        udp_stream::UdpStream,
        eth_receive::EthReceive,
        pingpong::PingPong,
        mtu::Mtu,
    }
    /// Remote direct memory access: InfiniBand and RoCE.
    rdma {
        write_bw::WRITE_BANDWIDTH,
        read_bw::READ_BANDWIDTH,
        send_bw::SEND_BANDWIDTH,
        write_lat::WRITE_LATENCY,
        read_lat::READ_LATENCY,
        send_lat::SEND_LATENCY,
        write_poll_lat::WRITE_POLL_LATENCY,
        atomic::Atomic,
    }
    storage {
        file::File,
        peer_read::PeerRead,
        raw::Raw,
        metadata::Metadata,
        copy::Copy,
    }
    /// Graphics processors.
    gpu {
        host_copy::HostCopy,
        host_copy_all::HostCopyAll,
        peer_copy::PeerCopy,
        memory::Memory,
    }
}

/// All shipped benchmarks, and the ones still to come.
pub fn registry() -> Registry {
    Registry { benchmarks: BENCHMARKS, planned: planned::PLANNED }
}
