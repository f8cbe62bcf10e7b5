//! The kernels of matrix products. Those of our own, of bf16, have operands and sums where the real ones have them; those for
//! libraries, of all types, row after row.

use crate::world::World;

pub fn arguments(name: &str) -> Option<usize> {
    let (what, _) = name.rsplit_once('_')?;
    Some(match what {
        "product" => 7,
        "operand" | "verify" | "operand_rows" | "verify_rows" => 5,
        "expect" | "differ" => 4,
        "weigh" => 3,
        _ => return None,
    })
}

/// Items of memory.
///
/// # Safety
/// As with a real driver: whoever launched the kernel vouches for the address.
unsafe fn items<'a, T>(at: u64, count: u64) -> &'a mut [T] {
    unsafe { std::slice::from_raw_parts_mut(at as *mut T, count as usize) }
}

fn hash(row: u32, place: u32, seed: u32) -> u32 {
    let mut bits = row.wrapping_mul(0x9e37_79b1).wrapping_add(place.wrapping_mul(0x85eb_ca77)).wrapping_add(seed);
    bits = (bits ^ bits >> 15).wrapping_mul(0x2c1b_3c6d);
    bits = (bits ^ bits >> 12).wrapping_mul(0x297a_2d39);
    bits ^ bits >> 15
}

fn whole(row: u32, place: u32, seed: u32) -> i64 {
    i64::from(hash(row, place, seed) & 3) - 1
}

fn weight(column: u32) -> i64 {
    i64::from((hash(column, 0, 3) | 1) as i32)
}

/// Place of an element in tiles of 128 rows of 64 elements, of which `deep` lie side by side.
fn place(row: u64, along: u64, deep: u64) -> usize {
    let (within, chunk) = (row % 128, along % 64 / 8);
    (((row / 128 * deep + along / 64) * 128 + within) * 64 + (chunk ^ within % 8) * 8 + along % 8) as usize
}

/// Place of a sum in pieces of 16 rows of 8 columns.
fn of_sum(row: u64, column: u64, columns: u64) -> usize {
    let lane = row % 8 * 4 + column % 8 / 2;
    ((row / 16 * (columns / 8) + column / 8) * 128 + lane * 4 + row % 16 / 8 * 2 + column % 2) as usize
}

fn bytes_of(kind: &str) -> u64 {
    match kind {
        "int8" | "fp8" => 1,
        "bf16" | "fp16" => 2,
        "fp64" => 8,
        _ => 4,
    }
}

/// Element number `at` of a type.
pub fn element(kind: &str, from: u64, at: u64) -> f64 {
    let at = at as usize;
    // SAFETY: as above.
    unsafe {
        match kind {
            "int8" => f64::from(*(from as *const i8).add(at)),
            // Without the numbers below the least normal one, which no operand has.
            "fp8" => {
                let bits = *(from as *const u8).add(at);
                let (exponent, fraction) = (bits >> 3 & 15, f64::from(bits & 7) / 8.0);
                let size = if exponent == 0 { 0.0 } else { (1.0 + fraction) * 2_f64.powi(i32::from(exponent) - 7) };
                if bits >> 7 == 1 { -size } else { size }
            }
            "bf16" => f64::from(f32::from_bits(u32::from(*(from as *const u16).add(at)) << 16)),
            "fp16" => {
                let bits = *(from as *const u16).add(at);
                let (exponent, fraction) = (bits >> 10 & 31, f64::from(bits & 1023) / 1024.0);
                let size = if exponent == 0 { 0.0 } else { (1.0 + fraction) * 2_f64.powi(i32::from(exponent) - 15) };
                if bits >> 15 == 1 { -size } else { size }
            }
            "fp64" => *(from as *const f64).add(at),
            _ => f64::from(*(from as *const f32).add(at)),
        }
    }
}

/// Half precision of a small whole number.
pub fn half(value: f64) -> u16 {
    let bits = (value as f32).to_bits();
    if value == 0.0 { 0 } else { ((bits >> 16 & 0x8000) | (bits - (112 << 23)) >> 13 & 0x7fff) as u16 }
}

/// Bits of an element: zero, whole numbers from -1 to 2, or random ones as the real kernels make them.
fn bits_of(kind: &str, fill: u64, random: u32) -> u64 {
    let number = random as usize & 3;
    let (whole, base, mask, shift): ([u64; 4], u32, u32, u32) = match kind {
        "int8" => ([0xff, 0, 1, 2], 0, 0xff, 7),
        "fp8" => ([0xb8, 0, 0x38, 0x40], 0x30, 0x8f, 7),
        "bf16" => ([0xbf80, 0, 0x3f80, 0x4000], 0x3f00, 0x80ff, 7),
        "fp16" => ([0xbc00, 0, 0x3c00, 0x4000], 0x3800, 0x87ff, 7),
        "fp64" => ([0xbff0_0000, 0, 0x3ff0_0000, 0x4000_0000].map(|half| half << 32), 0x3fe0_0000, 0x801f_ffff, 0),
        "tf32" => ([0xbf80_0000, 0, 0x3f80_0000, 0x4000_0000], 0x3f00_0000, 0x80ff_e000, 0),
        _ => ([0xbf80_0000, 0, 0x3f80_0000, 0x4000_0000], 0x3f00_0000, 0x80ff_ffff, 0),
    };
    let some = u64::from(base | random >> shift & mask);
    match (fill, kind) {
        (0, _) => 0,
        (1, _) => whole[number],
        (_, "fp64") => some << 32 | u64::from(random.wrapping_mul(0x9e37_79b1)),
        _ => some,
    }
}

/// Counts a product, plants a wrong bit in the one that was ordered, and returns its duration in nanoseconds.
pub fn made(world: &mut World, sums: u64, operations: f64) -> f64 {
    let made = world.config.numbers.entry("products".to_owned()).or_insert(0.0);
    let number = std::mem::replace(made, *made + 1.0);
    if world.config.numbers.get("flip") == Some(&number) {
        let sums: &mut [u32] = unsafe { items(sums, 1) };
        sums[0] ^= 1 << 22;
    }
    operations / (world.config.number("tflops", 5e-5) * 1e3)
}

/// Runs a kernel; returns its duration in nanoseconds.
pub fn run(world: &mut World, name: &str, arguments: &[u64]) -> f64 {
    let (what, kind) = name.rsplit_once('_').expect("checked before");
    let argument = |number: usize| arguments[number];
    match what {
        "operand_rows" => {
            let (vectors, seed, fill) = (argument(1), argument(3) as u32, argument(4));
            let (each, across) = (bytes_of(kind), argument(2) * 128 / bytes_of(kind));
            let to: &mut [u8] = unsafe { items(argument(0), vectors * 16) };
            for (at, to) in to.chunks_mut(each as usize).enumerate() {
                let (row, along) = (at as u64 / across, at as u64 % across);
                let bits = bits_of(kind, fill, hash(row as u32, along as u32, seed));
                to.copy_from_slice(&bits.to_le_bytes()[..each as usize]);
            }
        }
        "verify_rows" => {
            let (rows, columns) = (argument(1), argument(2));
            let expected: &[i64] = unsafe { items(argument(3), rows) };
            let value = |at: u64| match kind {
                "fp64" => element("fp64", argument(0), at).round_ties_even() as i64,
                "int8" => i64::from(unsafe { *(argument(0) as *const i32).add(at as usize) }),
                _ => element("fp32", argument(0), at).round_ties_even() as i64,
            };
            let sum = |row: u64| {
                let each = (0..columns).map(|column| value(row * columns + column).wrapping_mul(weight(column as u32)));
                each.fold(0, i64::wrapping_add)
            };
            tally(argument(4), (0..rows).filter(|row| sum(*row) != expected[*row as usize]));
        }
        "operand" => {
            let (vectors, deep, seed, kind) = (argument(1), argument(2), argument(3) as u32, argument(4));
            let to: &mut [u16] = unsafe { items(argument(0), vectors * 8) };
            for row in 0..vectors * 8 / (64 * deep) {
                for along in 0..64 * deep {
                    let bits = hash(row as u32, along as u32, seed);
                    to[place(row, along, deep)] = match kind {
                        0 => 0,
                        1 => [0xbf80, 0, 0x3f80, 0x4000][bits as usize & 3],
                        _ => 0x3f00 | (bits >> 7) as u16 & 0x80ff,
                    };
                }
            }
        }
        "product" => {
            let (rows, columns, deep) = (128 * argument(3), 256 * argument(4), argument(5));
            let depth = 64 * deep;
            let one: &[u16] = unsafe { items(argument(0), rows * depth) };
            let other: &[u16] = unsafe { items(argument(1), columns * depth) };
            let sums: &mut [f32] = unsafe { items(argument(2), rows * columns) };
            let value = |bits: u16| f32::from_bits(u32::from(bits) << 16);
            let line = |from: &[u16], row| -> Vec<f32> {
                (0..depth).map(|along| value(from[place(row, along, deep)])).collect()
            };
            let others: Vec<Vec<f32>> = (0..columns).map(|column| line(other, column)).collect();
            if world.config.number("idle", 0.0) == 0.0 {
                for row in 0..rows {
                    let own = line(one, row);
                    for column in 0..columns {
                        let pairs = own.iter().zip(&others[column as usize]);
                        sums[of_sum(row, column, columns)] = pairs.map(|(a, b)| a * b).sum();
                    }
                }
            }
            // The multiprocessor of the first block of threads.
            let processors: &mut [u32] = unsafe { items(argument(6), 1) };
            processors[0] = 17;
            return made(world, argument(2), 2.0 * (rows * columns * depth) as f64);
        }
        "weigh" => {
            let to: &mut [i64] = unsafe { items(argument(0), argument(1)) };
            for (along, to) in to.iter_mut().enumerate() {
                let each = (0..argument(2) as u32).map(|row| whole(row, along as u32, 2).wrapping_mul(weight(row)));
                *to = each.fold(0, i64::wrapping_add);
            }
        }
        "expect" => {
            let to: &mut [i64] = unsafe { items(argument(0), argument(1)) };
            let weighed: &[i64] = unsafe { items(argument(3), argument(2)) };
            for (row, to) in to.iter_mut().enumerate() {
                let each = weighed.iter().enumerate();
                let each = each.map(|(along, weighed)| whole(row as u32, along as u32, 1).wrapping_mul(*weighed));
                *to = each.fold(0, i64::wrapping_add);
            }
        }
        "verify" => {
            let (rows, columns) = (argument(1), argument(2));
            let sums: &[f32] = unsafe { items(argument(0), rows * columns) };
            let expected: &[i64] = unsafe { items(argument(3), rows) };
            let sum = |row: u64| {
                let each = (0..columns).map(|column| {
                    (sums[of_sum(row, column, columns)].round_ties_even() as i64).wrapping_mul(weight(column as u32))
                });
                each.fold(0, i64::wrapping_add)
            };
            tally(argument(4), (0..rows).filter(|row| sum(*row) != expected[*row as usize]));
        }
        _ => {
            let words = argument(2);
            let (one, other): (&[u64], &[u64]) = unsafe { (items(argument(0), words), items(argument(1), words)) };
            tally(argument(3), (0..words).filter(|word| one[*word as usize] != other[*word as usize]));
        }
    }
    1000.0
}

fn tally(at: u64, wrong: impl Iterator<Item = u64>) {
    let words: &mut [u64] = unsafe { items(at, 2) };
    for place in wrong {
        words[0] += 1;
        words[1] = words[1].min(place);
    }
}
