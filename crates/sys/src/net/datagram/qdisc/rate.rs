//! The rate that a queueing discipline lets through, from the options it was set up with.

use super::{attributes, half, number};

/// What a shaper lets through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    /// Bytes a second, of packets with the header of their link layer: 14 B on Ethernet, and neither preamble nor check
    /// sequence nor gap (net/core/dev.c, `qdisc_pkt_len_init`; net/sched/sch_api.c, `__qdisc_calculate_pkt_len`).
    pub bytes_per_second: u64,
    /// Bytes that each packet is counted larger by than it is.
    pub overhead: u32,
}

// Of linux/pkt_sched.h: the numbers are the kernel's interface and do not change.
const TCA_TBF_PARMS: u16 = 1;
const TCA_TBF_RATE64: u16 = 4;
const TCA_NETEM_RATE: u16 = 6;
const TCA_NETEM_RATE64: u16 = 8;
const TCA_CAKE_BASE_RATE64: u16 = 2;

/// Bytes of `struct tc_netem_qopt`, which stands in front of netem's attributes.
const NETEM: usize = 24;

/// The rate in the `options` of a discipline of this `kind`; none for kinds that have none, or none set.
///
/// Of a discipline with classes (htb, hfsc) the rates are those of its classes, which are not read.
pub(super) fn rate(kind: &str, options: &[u8]) -> Option<Rate> {
    let of = |options: &[u8], wanted: u16| -> Option<Vec<u8>> {
        attributes(options).find(|(kind, _)| *kind == wanted).map(|(_, value)| value.to_vec())
    };
    let wide = |value: Option<Vec<u8>>| {
        value.and_then(|value| Some(u64::from_ne_bytes(value.get(..8)?.try_into().ok()?)))
    };
    let (bytes_per_second, overhead) = match kind {
        "tbf" => {
            // struct tc_tbf_qopt begins with a struct tc_ratespec: two bytes, overhead, alignment, least size, rate.
            let parameters = of(options, TCA_TBF_PARMS)?;
            let rate = u64::from(number(&parameters, 8)?);
            (wide(of(options, TCA_TBF_RATE64)).unwrap_or(rate), half(&parameters, 2)?.into())
        }
        "netem" => {
            // struct tc_netem_rate: rate, what a packet is counted larger by (or smaller: then it is not taken off).
            let own = options.get(NETEM..)?;
            let parameters = of(own, TCA_NETEM_RATE)?;
            let rate = u64::from(number(&parameters, 0)?);
            let overhead = number(&parameters, 4)?.cast_signed();
            (wide(of(own, TCA_NETEM_RATE64)).unwrap_or(rate), u32::try_from(overhead).unwrap_or(0))
        }
        // What it counts packets larger by is left out: the bound is a little wide then, and still one.
        "cake" => (wide(of(options, TCA_CAKE_BASE_RATE64))?, 0),
        _ => return None,
    };
    (bytes_per_second > 0).then_some(Rate { bytes_per_second, overhead })
}

#[cfg(test)]
mod tests {
    use super::super::tests::attribute;
    use super::*;

    fn ratespec(rate: u32, overhead: u16) -> Vec<u8> {
        let mut bytes = vec![0, 1];
        bytes.extend_from_slice(&overhead.to_ne_bytes());
        bytes.extend_from_slice(&[0; 4]);
        bytes.extend_from_slice(&rate.to_ne_bytes());
        bytes
    }

    #[test]
    fn a_token_bucket_s_rate_is_read_in_32_bits_and_in_64() {
        let mut parameters = ratespec(25_000_000, 24);
        parameters.resize(36, 0);
        let options = attribute(TCA_TBF_PARMS, &parameters);
        assert_eq!(rate("tbf", &options), Some(Rate { bytes_per_second: 25_000_000, overhead: 24 }));
        // 100 Gbit/s do not fit into 32 bits, which are then all set.
        let mut parameters = ratespec(u32::MAX, 0);
        parameters.resize(36, 0);
        let mut options = attribute(TCA_TBF_PARMS, &parameters);
        options.extend(attribute(TCA_TBF_RATE64, &12_500_000_000_u64.to_ne_bytes()));
        assert_eq!(rate("tbf", &options).map(|rate| rate.bytes_per_second), Some(12_500_000_000));
        assert_eq!(rate("fq", &options), None);
        assert_eq!(rate("tbf", &[]), None);
    }

    #[test]
    fn others_that_shape_are_read_behind_what_stands_in_front() {
        let mut delay = vec![0; NETEM];
        assert_eq!(rate("netem", &delay), None, "it delays only");
        let parameters: Vec<u8> =
            [1_000_000_u32, 20, 0, 0].iter().flat_map(|number| number.to_ne_bytes()).collect();
        delay.extend(attribute(TCA_NETEM_RATE, &parameters));
        assert_eq!(rate("netem", &delay), Some(Rate { bytes_per_second: 1_000_000, overhead: 20 }));
        let none = attribute(TCA_CAKE_BASE_RATE64, &0_u64.to_ne_bytes());
        assert_eq!(rate("cake", &none), None, "0 is unlimited");
    }
}
