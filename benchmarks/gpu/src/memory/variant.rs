//! The kernels and their variants.

use crate::{Hint, Op, Shape, Walk};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variant {
    Kernel(Shape, Walk),
    Memcpy,
}

impl Variant {
    /// `None` for the driver's copy.
    pub const fn op(self) -> Option<Op> {
        match self {
            Self::Kernel(shape, _) => Some(shape.op),
            Self::Memcpy => None,
        }
    }

    pub const fn kernel(self) -> &'static str {
        match self {
            Self::Kernel(shape, _) => shape.op.name(),
            Self::Memcpy => "memcpy",
        }
    }

    /// Name of the variant: threads, vectors, hint, walk.
    pub fn name(self) -> String {
        match self {
            Self::Kernel(shape, walk) => {
                let hint = shape.hint.name().map(|hint| format!(" {hint}")).unwrap_or_default();
                format!("{}x{}{hint} {}", shape.threads, shape.vectors, walk.name())
            }
            Self::Memcpy => "driver".to_owned(),
        }
    }

    pub const fn arrays(self) -> u64 {
        match self {
            Self::Kernel(shape, _) => shape.op.arrays(),
            Self::Memcpy => 2,
        }
    }
}

/// Arrays are multiples of this, so that every tile of every shape is whole: 1024 threads with 8 vectors.
pub const GRANULE: u64 = 1024 * 8 * 16;

/// The fastest variants of `op` on an H200, and the best of those that may suit other GPUs. For `read`, fast and slow
/// variants alternate: three fast ones in a row ran an H200 into its power cap.
fn tuned(op: Op) -> Vec<(Shape, Walk)> {
    let of = |threads, vectors, hint, walk| (Shape { op, threads, vectors, hint }, walk);
    let once = |threads, vectors, hint| of(threads, vectors, hint, Walk::Once);
    match op {
        Op::Read => vec![
            once(256, 8, Hint::Plain),
            of(1024, 2, Hint::Plain, Walk::Ranges(1)),
            of(512, 8, Hint::Plain, Walk::Ranges(1)),
            of(512, 2, Hint::Plain, Walk::Ranges(2)),
        ],
        Op::Write => vec![
            once(1024, 2, Hint::Plain),
            once(256, 2, Hint::Plain),
            once(1024, 2, Hint::Stream),
            once(512, 2, Hint::Plain),
        ],
        Op::Copy => vec![
            once(256, 1, Hint::Keep),
            once(128, 1, Hint::Keep),
            once(128, 1, Hint::Plain),
            once(256, 1, Hint::Plain),
        ],
        Op::Triad => vec![
            once(1024, 1, Hint::Keep),
            once(512, 8, Hint::Plain),
            once(1024, 1, Hint::Plain),
            once(128, 1, Hint::Plain),
        ],
    }
}

/// Every combination; an evict-last policy only makes sense for kernels that load.
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
            for hint in Hint::ALL {
                for walk in walks {
                    let fits = !matches!(walk, Walk::Turns(blocks) if blocks * threads > 2048);
                    if fits && (op, hint) != (Op::Write, Hint::Keep) {
                        found.push((Shape { op, threads, vectors, hint }, walk));
                    }
                }
            }
        }
    }
    found
}

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
