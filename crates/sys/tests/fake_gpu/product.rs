//! The kernels of matrix products of bf16, whose operands and sums lie as the real ones have them.

use crate::world::World;

pub fn arguments(name: &str) -> Option<usize> {
    let (what, _) = name.rsplit_once('_')?;
    Some(match what {
        "product" => 7,
        "operand" | "verify" => 5,
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

/// Runs a kernel; returns its duration in nanoseconds.
pub fn run(world: &mut World, name: &str, arguments: &[u64]) -> f64 {
    let (what, _) = name.rsplit_once('_').expect("checked before");
    let argument = |number: usize| arguments[number];
    match what {
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
            let made = world.config.numbers.entry("products".to_owned()).or_insert(0.0);
            let number = std::mem::replace(made, *made + 1.0);
            if world.config.numbers.get("flip") == Some(&number) {
                sums[0] = f32::from_bits(sums[0].to_bits() ^ 1 << 22);
            }
            return 2.0 * (rows * columns * depth) as f64 / (world.config.number("tflops", 5e-5) * 1e3);
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
