//! Kernels and the variants of them that are tried.

use crate::common::gpu::{Op, Shape, Walk};

/// What is measured in one slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variant {
    /// A kernel of ours.
    Kernel(Shape, Walk),
    /// The driver's copy.
    Memcpy,
}

impl Variant {
    /// The kernel's name.
    pub const fn kernel(self) -> &'static str {
        match self {
            Self::Kernel(shape, _) => shape.op.name(),
            Self::Memcpy => "memcpy",
        }
    }

    /// The variant's name: threads, vectors, hint, walk.
    pub fn name(self) -> String {
        match self {
            Self::Kernel(shape, walk) => {
                let hint = if shape.streaming { " cs" } else { "" };
                format!("{}x{}{hint} {}", shape.threads, shape.vectors, walk.name())
            }
            Self::Memcpy => "driver".to_owned(),
        }
    }

    /// Arrays whose bytes count.
    pub const fn arrays(self) -> u64 {
        match self {
            Self::Kernel(shape, _) => shape.op.arrays(),
            Self::Memcpy => 2,
        }
    }
}

/// What an array must be a multiple of, so that every tile of every shape is whole: 1024 threads with 8 vectors.
pub const GRANULE: u64 = 1024 * 8 * 16;

const fn shape(op: Op, threads: u32, vectors: u32, streaming: bool) -> Shape {
    Shape { op, threads, vectors, streaming }
}

/// The variants of `op` that were found good: the best four of all combinations on an H200.
fn tuned(op: Op) -> Vec<(Shape, Walk)> {
    let of = |threads, vectors, streaming, walk| (shape(op, threads, vectors, streaming), walk);
    match op {
        Op::Read => vec![
            of(1024, 2, false, Walk::Ranges(1)),
            of(512, 8, false, Walk::Ranges(1)),
            of(512, 2, false, Walk::Ranges(2)),
            of(512, 8, false, Walk::Turns(1)),
        ],
        Op::Write => vec![
            of(1024, 2, false, Walk::Once),
            of(256, 2, false, Walk::Once),
            of(1024, 2, true, Walk::Once),
            of(512, 2, false, Walk::Once),
        ],
        Op::Copy => vec![
            of(128, 1, false, Walk::Once),
            of(256, 1, false, Walk::Once),
            of(128, 2, false, Walk::Once),
            of(1024, 8, false, Walk::Once),
        ],
        Op::Triad => vec![
            of(512, 8, false, Walk::Once),
            of(1024, 1, false, Walk::Once),
            of(128, 1, false, Walk::Once),
            of(1024, 4, false, Walk::Once),
        ],
    }
}

/// Every combination. A block that reads and ends adds its threads' sums to words of its own, which would be too many
/// with a tile a block.
fn all(op: Op) -> Vec<(Shape, Walk)> {
    let walks = [
        Walk::Once,
        Walk::Turns(1),
        Walk::Turns(2),
        Walk::Turns(4),
        Walk::Turns(8),
        Walk::Ranges(1),
        Walk::Ranges(2),
    ];
    let mut found = Vec::new();
    for threads in [128, 256, 512, 1024] {
        for vectors in [1, 2, 4, 8] {
            for streaming in [false, true] {
                for walk in walks {
                    let fits = !matches!(walk, Walk::Turns(blocks) if blocks * threads > 2048);
                    if fits && (op != Op::Read || walk != Walk::Once) {
                        found.push((shape(op, threads, vectors, streaming), walk));
                    }
                }
            }
        }
    }
    found
}

/// What is measured: of one kernel, or of all for `auto`.
pub fn variants(kernel: &str, every: bool) -> Vec<Variant> {
    let wanted = |name: &str| kernel == "auto" || kernel == name;
    let ours = Op::ALL.into_iter().filter(|op| wanted(op.name())).flat_map(|op| {
        let of = if every { all(op) } else { tuned(op) };
        of.into_iter().map(|(shape, walk)| Variant::Kernel(shape, walk))
    });
    ours.chain(wanted("memcpy").then_some(Variant::Memcpy)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_variant_has_a_name_of_its_own_and_whole_tiles() {
        for every in [false, true] {
            let all = variants("auto", every);
            let mut names: Vec<_> = all.iter().map(|variant| (variant.kernel(), variant.name())).collect();
            names.sort();
            names.dedup();
            assert_eq!(names.len(), all.len());
            for variant in all {
                if let Variant::Kernel(shape, _) = variant {
                    assert!(GRANULE.is_multiple_of(shape.tile()));
                }
            }
        }
        assert!(variants("copy", false).iter().all(|variant| variant.kernel() == "copy"));
    }
}
