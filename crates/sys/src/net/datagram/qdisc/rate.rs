//! The rate of a queueing discipline, from its options.

use crate::netlink::{attribute, half, number, wide};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    /// Bytes per second, counting each packet with its link-layer header: 14 B on Ethernet, without preamble, check
    /// sequence and gap (net/core/dev.c, `qdisc_pkt_len_init`; net/sched/sch_api.c, `__qdisc_calculate_pkt_len`).
    pub bytes_per_second: u64,
    pub overhead: u32,
}

// linux/pkt_sched.h: stable kernel interface.
const TCA_TBF_PARMS: u16 = 1;
const TCA_TBF_RATE64: u16 = 4;
const TCA_NETEM_RATE: u16 = 6;
const TCA_NETEM_RATE64: u16 = 8;
const TCA_CAKE_BASE_RATE64: u16 = 2;

/// Bytes of `struct tc_netem_qopt`, which precedes netem's attributes.
const NETEM: usize = 24;

/// The rate in the `options` of a discipline of this `kind`; `None` without a rate. The rates of classes (htb, hfsc)
/// are not read.
pub(super) fn rate(kind: &str, options: &[u8]) -> Option<Rate> {
    let wide = |options, wanted| wide(attribute(options, wanted)?, 0);
    let (bytes_per_second, overhead) = match kind {
        "tbf" => {
            // struct tc_tbf_qopt begins with a struct tc_ratespec: two bytes, overhead, alignment, least size, rate.
            let parameters = attribute(options, TCA_TBF_PARMS)?;
            let rate = u64::from(number(parameters, 8)?);
            (wide(options, TCA_TBF_RATE64).unwrap_or(rate), half(parameters, 2)?.into())
        }
        "netem" => {
            // struct tc_netem_rate: rate, overhead (a negative overhead is ignored).
            let own = options.get(NETEM..)?;
            let parameters = attribute(own, TCA_NETEM_RATE)?;
            let rate = u64::from(number(parameters, 0)?);
            let overhead = number(parameters, 4)?.cast_signed();
            (wide(own, TCA_NETEM_RATE64).unwrap_or(rate), u32::try_from(overhead).unwrap_or(0))
        }
        // What it counts packets larger by is left out: the bound is a little wide then, and still one.
        "cake" => (wide(options, TCA_CAKE_BASE_RATE64)?, 0),
        _ => return None,
    };
    (bytes_per_second > 0).then_some(Rate { bytes_per_second, overhead })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::netlink::tests::made;

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
        let options = made(TCA_TBF_PARMS, &parameters);
        assert_eq!(rate("tbf", &options), Some(Rate { bytes_per_second: 25_000_000, overhead: 24 }));
        // 100 Gbit/s exceed 32 bits: the field is then all ones.
        let mut parameters = ratespec(u32::MAX, 0);
        parameters.resize(36, 0);
        let mut options = made(TCA_TBF_PARMS, &parameters);
        options.extend(made(TCA_TBF_RATE64, &12_500_000_000_u64.to_ne_bytes()));
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
        delay.extend(made(TCA_NETEM_RATE, &parameters));
        assert_eq!(rate("netem", &delay), Some(Rate { bytes_per_second: 1_000_000, overhead: 20 }));
        let none = made(TCA_CAKE_BASE_RATE64, &0_u64.to_ne_bytes());
        assert_eq!(rate("cake", &none), None, "0 is unlimited");
    }
}
