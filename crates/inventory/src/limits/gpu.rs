//! GPUs: limits of memory, host link and links between GPUs.

use seatrial_model::machine::{Gpu, Known};
use seatrial_model::{Limit, Unit};

use super::pcie::{line_code, pcie_limit};
use super::{alone, bound};

/// Least overhead of a PCI Express packet in bytes: framing and sequence number 4, header of three words 12, LCRC 4
/// (PCI Express Base Specification, sections 2.2 and 4.2). For completions of reads; writes have a fourth header
/// word. Acknowledgements and flow control are not counted.
const PACKET_BYTES: u32 = 20;

/// Largest Max_Payload_Size known of hosts, where the setting is not readable.
const PAYLOAD_BYTES: u32 = 512;

/// Rate of a lane by PCI Express generation, in GT/s.
const GENERATIONS: [f64; 6] = [2.5, 5.0, 8.0, 16.0, 32.0, 64.0];

/// GPU memory bandwidth: clock x 2 transfers x bus width. All memories since GDDR3 transfer twice per cycle of the
/// memory clock that NVIDIA's library reports.
pub fn gpu_memory_limit(gpu: &Gpu) -> Limit {
    let clock = gpu.memory_clock_mhz.clone();
    alone(clock.and_then(|mhz| {
        gpu.memory_bus_bits.clone().map(|bits| {
            let value = f64::from(mhz) * 2.0 * f64::from(bits) / 8.0 / 1e3;
            let formula = format!("{mhz} MHz x 2 transfers x {bits} bit / 8");
            bound(value, Unit::GigabytesPerSecond, formula, "nvml")
        })
    }))
}

/// Rate of the host link in one direction: every link of the path, and of the narrowest what headers leave.
pub fn gpu_host_limit(gpu: &Gpu) -> Limit {
    let mut bounds = match pcie_limit(&gpu.pci.path) {
        Limit::Chain(bounds) => bounds,
        Limit::Unknown { reason } | Limit::AtMost { reason, .. } => match by_library(gpu) {
            Known::Known(bound) => vec![bound],
            Known::Unknown(why) => return Limit::unknown(format!("{reason}; {why}")),
        },
    };
    let rate = |bound: &seatrial_model::Bound| bound.value.base() / 1e9;
    if let Some(least) = bounds.iter().map(rate).min_by(f64::total_cmp) {
        let (payload, provenance) = match gpu.payload_bytes.known() {
            Some(bytes) => (*bytes, "pcie packets, configuration space"),
            None => (PAYLOAD_BYTES, "pcie packets, the largest known"),
        };
        let share = f64::from(payload) / f64::from(payload + PACKET_BYTES);
        let formula =
            format!("{least:.3} GB/s x {payload} / ({payload} + {PACKET_BYTES}) B of a packet at most");
        bounds.push(bound(least * share, Unit::GigabytesPerSecond, formula, provenance));
    }
    Limit::Chain(bounds)
}

/// GB/s of a PCI Express link of `generation` with `lanes` in one direction, before packets; none of an unknown generation.
pub fn pcie_rate(generation: u32, lanes: u32) -> Option<f64> {
    let gts = *GENERATIONS.get((generation as usize).checked_sub(1)?)?;
    (lanes > 0).then(|| gts * f64::from(lanes) * line_code(gts).1 / 8.0)
}

/// The host link as NVIDIA's library reports it, where sysfs does not.
fn by_library(gpu: &Gpu) -> Known<seatrial_model::Bound> {
    gpu.link_generation.clone().and_then(|generation| {
        gpu.link_width.clone().and_then(|lanes| match pcie_rate(generation, lanes) {
            Some(value) => {
                let gts = GENERATIONS[generation as usize - 1];
                let formula = format!("{gts} GT/s x {lanes} lanes x {} / 8 bit", line_code(gts).0);
                Known::Known(bound(value, Unit::GigabytesPerSecond, formula, "nvml"))
            }
            None => Known::unknown(format!("generation {generation} with {lanes} lanes is impossible")),
        })
    })
}

/// Rate from one GPU of `all` to another in one direction: of common NVLinks if there are any, else of the narrower host link.
pub fn gpu_peer_limit(from: &Gpu, to: &Gpu, all: &[&Gpu]) -> Limit {
    match (links_towards(from, to, all), links_towards(to, from, all)) {
        (Known::Known(links), Known::Known(back)) if links.0 > 0 && back.0 > 0 => {
            let (count, speed) = (links.0.min(back.0), links.1.min(back.1));
            let formula = format!("{count} active NVLinks x {speed} MB/s");
            let value = count as f64 * speed as f64 / 1e3;
            Limit::Chain(vec![bound(value, Unit::GigabytesPerSecond, formula, "nvml")])
        }
        (Known::Unknown(reason), _) | (_, Known::Unknown(reason)) => Limit::Unknown { reason },
        _ => match (gpu_host_limit(from), gpu_host_limit(to)) {
            (Limit::Chain(mut one), Limit::Chain(other)) => {
                one.extend(other);
                Limit::Chain(one)
            }
            (Limit::Chain(_), why) | (why, _) => why,
        },
    }
}

/// All links of a GPU to others: its active NVLinks, or else its link to the host.
pub fn gpu_links_limit(gpu: &Gpu) -> Limit {
    match (&gpu.nvlinks, &gpu.nvlink_megabytes_per_second) {
        (Known::Known(links), _) if links.is_empty() => gpu_host_limit(gpu),
        (Known::Known(links), Known::Known(speed)) => {
            let formula = format!("{} active NVLinks x {speed} MB/s", links.len());
            let value = links.len() as f64 * *speed as f64 / 1e3;
            Limit::Chain(vec![bound(value, Unit::GigabytesPerSecond, formula, "nvml")])
        }
        (Known::Unknown(why), _) | (_, Known::Unknown(why)) => Limit::unknown(why.clone()),
    }
}

/// Number and speed of active links of `from` that can carry data to `to`: also links to a switch (any address that
/// is not a GPU), and links with unknown ends.
fn links_towards(from: &Gpu, to: &Gpu, all: &[&Gpu]) -> Known<(usize, u64)> {
    let ends = match &from.nvlinks {
        Known::Known(ends) => ends,
        Known::Unknown(why) => return Known::unknown(why.clone()),
    };
    let direct = ends.iter().filter(|end| **end == to.pci.address).count();
    let is_gpu = |end: &&String| all.iter().any(|gpu| gpu.pci.address == **end);
    let count = if direct > 0 { direct } else { ends.iter().filter(|end| !is_gpu(end)).count() };
    if count == 0 {
        return Known::Known((0, 0));
    }
    from.nvlink_megabytes_per_second.clone().map(|speed| (count, speed))
}

#[cfg(test)]
mod tests {
    use super::*;
    use seatrial_model::machine::PciDevice;

    fn h200(address: &str) -> Gpu {
        Gpu {
            memory_clock_mhz: Known::Known(3201),
            memory_bus_bits: Known::Known(6144),
            link_generation: Known::Known(5),
            link_width: Known::Known(16),
            nvlinks: Known::Known(vec!["0000:c1:00.0".to_owned(); 18]),
            nvlink_megabytes_per_second: Known::Known(26562),
            pci: PciDevice { address: address.to_owned(), ..PciDevice::default() },
            ..Gpu::default()
        }
    }

    fn value(limit: Limit) -> f64 {
        let record = limit.record(seatrial_model::Better::Higher, Unit::GigabytesPerSecond);
        record.expect("a rate").value.expect("known")
    }

    #[test]
    fn an_h200_has_the_bandwidths_of_its_data_sheet() {
        let (one, other) = (h200("0000:18:00.0"), h200("0000:2a:00.0"));
        assert!((value(gpu_memory_limit(&one)) - 4916.7).abs() < 0.1);
        assert!((value(gpu_host_limit(&one)) - 60.65).abs() < 0.01, "packets as large as any host allows");
        let told = Gpu { payload_bytes: Known::Known(256), ..one.clone() };
        assert!((value(gpu_host_limit(&told)) - 58.45).abs() < 0.01, "packets as they are set");
        assert!((value(gpu_peer_limit(&one, &other, &[&one, &other])) - 478.1).abs() < 0.1);
    }

    #[test]
    fn only_the_links_between_two_count_where_there_is_no_switch() {
        let (mut one, mut other) = (h200("0000:18:00.0"), h200("0000:2a:00.0"));
        let mixed = |peer: &str| [vec![peer.to_owned(); 4], vec!["0000:3b:00.0".to_owned(); 2]].concat();
        one.nvlinks = Known::Known(mixed("0000:2a:00.0"));
        other.nvlinks = Known::Known(mixed("0000:18:00.0"));
        assert!((value(gpu_peer_limit(&one, &other, &[&one, &other])) - 4.0 * 26.562).abs() < 1e-6);
        other.nvlinks = Known::Known(Vec::new());
        assert!((value(gpu_peer_limit(&one, &other, &[&one, &other])) - 60.65).abs() < 0.01, "over the host");
    }

    #[test]
    fn what_nobody_tells_has_no_limit() {
        for limit in [gpu_memory_limit(&Gpu::default()), gpu_host_limit(&Gpu::default())] {
            assert!(matches!(limit, Limit::Unknown { .. }));
        }
    }
}
