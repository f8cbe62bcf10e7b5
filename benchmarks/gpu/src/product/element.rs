//! Types of the elements that are multiplied, in bytes and in words of PTX.

/// A type of elements, and how its values look in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Element {
    pub name: &'static str,
    /// Bytes of an element.
    pub bytes: u32,
    /// Its name in instructions of both forms.
    pub ptx: &'static str,
    /// The same of the sums.
    pub sum: &'static str,
    /// Bits of random values: `base | (random & mask)` lies between 0.5 and 2 in magnitude, whole bytes of integers. Of 8
    /// bytes the upper half; the lower half is random too.
    pub base: u32,
    pub mask: u32,
    /// The values -1, 0, 1 and 2; of 8 bytes the upper half.
    pub whole: [u32; 4],
    /// The lowest compute capability with matrix instructions for it.
    pub least: (u32, u32),
}

/// All types, first those that the own kernels multiply.
pub const NAMES: [&str; 7] = ["bf16", "fp16", "tf32", "fp8", "int8", "fp32", "fp64"];

/// Those of [`NAMES`] that the own kernels multiply.
pub const OWN: [&str; 5] = ["bf16", "fp16", "tf32", "fp8", "int8"];

const ALL: [Element; 7] = [
    Element {
        name: "bf16",
        bytes: 2,
        ptx: "bf16",
        sum: "f32",
        base: 0x3f00,
        mask: 0x80ff,
        whole: [0xbf80, 0, 0x3f80, 0x4000],
        least: (8, 0),
    },
    Element {
        name: "fp16",
        bytes: 2,
        ptx: "f16",
        sum: "f32",
        base: 0x3800,
        mask: 0x87ff,
        whole: [0xbc00, 0, 0x3c00, 0x4000],
        least: (8, 0),
    },
    // The processor takes no more than 10 bits of the fraction.
    Element {
        name: "tf32",
        bytes: 4,
        ptx: "tf32",
        sum: "f32",
        base: 0x3f00_0000,
        mask: 0x80ff_e000,
        whole: [0xbf80_0000, 0, 0x3f80_0000, 0x4000_0000],
        least: (8, 0),
    },
    // 4 bits of exponent, 3 of fraction.
    Element {
        name: "fp8",
        bytes: 1,
        ptx: "e4m3",
        sum: "f32",
        base: 0x30,
        mask: 0x8f,
        whole: [0xb8, 0, 0x38, 0x40],
        least: (8, 9),
    },
    Element {
        name: "int8",
        bytes: 1,
        ptx: "s8",
        sum: "s32",
        base: 0,
        mask: 0xff,
        whole: [0xff, 0, 1, 2],
        least: (8, 0),
    },
    Element {
        name: "fp32",
        bytes: 4,
        ptx: "f32",
        sum: "f32",
        base: 0x3f00_0000,
        mask: 0x80ff_ffff,
        whole: [0xbf80_0000, 0, 0x3f80_0000, 0x4000_0000],
        least: (5, 0),
    },
    // The upper half of the bits.
    Element {
        name: "fp64",
        bytes: 8,
        ptx: "f64",
        sum: "f64",
        base: 0x3fe0_0000,
        mask: 0x801f_ffff,
        whole: [0xbff0_0000, 0, 0x3ff0_0000, 0x4000_0000],
        least: (5, 0),
    },
];

impl Element {
    pub fn of(name: &str) -> Option<Self> {
        ALL.into_iter().find(|element| element.name == name)
    }

    /// Bytes of a sum.
    pub fn sum_bytes(self) -> u64 {
        if self.sum == "f64" { 8 } else { 4 }
    }

    /// Elements of one instruction along the rows, which are always 32 bytes.
    pub const fn depth(self) -> u32 {
        32 / self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_has_an_element_whose_bits_fit_its_bytes() {
        assert_eq!(NAMES, ALL.map(|element| element.name));
        assert_eq!(NAMES[..OWN.len()], OWN);
        for element in ALL {
            assert_eq!(Element::of(element.name), Some(element));
            let most = u64::from(u32::MAX) >> (32 - 8 * element.bytes.min(4));
            let bits = element.whole.into_iter().chain([element.base, element.mask]);
            assert!(bits.into_iter().all(|bits| u64::from(bits) <= most), "{}", element.name);
            assert_eq!(element.base & element.mask, 0, "{}", element.name);
        }
    }

    #[test]
    fn the_whole_numbers_of_bf16_and_tf32_are_those_of_a_float() {
        for (name, shift) in [("bf16", 16), ("tf32", 0)] {
            let values = Element::of(name).expect("a type").whole.map(|bits| f32::from_bits(bits << shift));
            assert_eq!(values, [-1.0, 0.0, 1.0, 2.0]);
        }
        let long = Element::of("fp64").expect("a type");
        let value = |bits: u32| f64::from_bits(u64::from(bits) << 32);
        assert_eq!(long.whole.map(value), [-1.0, 0.0, 1.0, 2.0]);
        assert_eq!([long.base, long.base | long.mask & 0x7fff_ffff].map(value).map(f64::ceil), [1.0, 2.0]);
    }
}
