//! The kernels, by their names.

use std::ffi::c_int;

use crate::world::{World, wait};

pub fn arguments(name: &str) -> usize {
    match name {
        "fill" | "chase" => 4,
        "check" | "invert" | "exchange" => 5,
        "copy_rest" | "wait" => 3,
        _ if name.starts_with("fill_") => 4,
        _ => crate::product::arguments(name).unwrap_or(9),
    }
}

fn word(at: u64) -> u64 {
    // SAFETY: whoever launched the kernel vouches for its arguments, as with a real driver.
    unsafe { *(at as *const u64) }
}

fn put(at: u64, value: u64) {
    // SAFETY: as above.
    unsafe { *(at as *mut u64) = value };
}

/// Runs a kernel on the device; returns its duration in nanoseconds.
pub fn run(
    world: &mut World,
    device: usize,
    name: &str,
    (blocks, threads): (u32, u32),
    arguments: &[u64],
) -> Result<f64, c_int> {
    let &[a, b, c, ..] = arguments else { return Err(1) };
    match name {
        "fill" => (0..b).for_each(|at| put(a + 8 * at, c.wrapping_add(at.wrapping_mul(arguments[3])))),
        "check" | "invert" => {
            let tally = arguments[4];
            for at in 0..b {
                let (place, wanted) = (a + 8 * at, c.wrapping_add(at.wrapping_mul(arguments[3])));
                // A stuck bit of memory, by the number of its word: it reads as 1.
                let stuck = world.config.numbers.get("stuck") == Some(&(at as f64));
                let found = word(place) | u64::from(stuck) << 20;
                if found != wanted {
                    put(tally, word(tally) + 1);
                    put(tally + 8, word(tally + 8).min(at));
                    put(tally + 16, word(tally + 16) | found ^ wanted);
                }
                if name == "invert" {
                    put(place, !wanted);
                }
            }
        }
        "copy_rest" => {
            (0..2 * c).for_each(|at| put(a + 8 * at, word(b + 8 * at)));
            return Ok(16.0 * c as f64 / world.rate(a, b));
        }
        // Both directions share the blocks and end together, after the time of the slower direction.
        "exchange" => {
            let (from, vectors) = (arguments[3], arguments[4]);
            (0..2 * vectors).for_each(|at| {
                put(a + 8 * at, word(b + 8 * at));
                put(c + 8 * at, word(from + 8 * at));
            });
            return Ok(16.0 * vectors as f64 / world.rate(a, b).min(world.rate(c, from)));
        }
        "chase" => {
            let start = if a == 0 { word(c) } else { a };
            let mut at = start;
            (0..8 * b).for_each(|_| at = word(at));
            put(c, at);
            let times = match world.owner(start) {
                None => 2.0,
                Some(owner) if owner != device => 3.0,
                _ => 1.0,
            };
            return Ok(8.0 * b as f64 * times * world.config.number("load_ns", 500.0));
        }
        "wait" => wait(a, b as u32)?,
        _ if name.starts_with("fill_") => {
            let modulus = arguments[3];
            let values: Vec<f64> = (0..b).map(|at| ((7 * at + 13 * c) % modulus) as f64).collect();
            crate::nccl::store(crate::nccl::kind(&name["fill_".len()..]), a as usize, &values);
        }
        _ if name.starts_with("check_") => {
            let &[_, _, sums, each, source, first, ranks, modulus, tally] = arguments else { return Err(1) };
            let of = |rank: u64, at: u64| (7 * (at + first) + 13 * rank) % modulus;
            let found = crate::nccl::load(crate::nccl::kind(&name["check_".len()..]), a as usize, b as usize);
            for (at, found) in found.into_iter().enumerate() {
                let at = at as u64;
                let wanted = match sums {
                    0 => of(source + at / each, at % each),
                    _ => (0..ranks).map(|rank| of(rank, at % each)).sum(),
                };
                if found != wanted as f64 {
                    put(tally, word(tally) + 1);
                    put(tally + 8, word(tally + 8).min(at));
                }
            }
        }
        _ if name.starts_with("gemm_") => return Ok(crate::blas::multiply(world, &name["gemm_".len()..], arguments)),
        _ if crate::product::arguments(name).is_some() => return Ok(crate::product::run(world, name, arguments)),
        _ => return streaming(world, name, (blocks, threads), arguments),
    }
    Ok(1000.0)
}

/// The kernel parameters `(a, b, c, x, y, tiles, first, step, most)`.
fn streaming(
    world: &World,
    name: &str,
    (blocks, threads): (u32, u32),
    arguments: &[u64],
) -> Result<f64, c_int> {
    let &[a, b, c, x, y, tiles, first, step, most] = arguments else { return Err(1) };
    let (op, form) = name.split_once('_').ok_or(1)?;
    let form = form.split_once('_').map_or(form, |(form, _)| form);
    let (of_name, vectors) = form.split_once('x').ok_or(1)?;
    if of_name != threads.to_string() {
        return Err(701);
    }
    let tile = u64::from(threads) * vectors.parse::<u64>().map_err(|_| 1)? * 2;
    for block in 0..u64::from(blocks) {
        let mut sum = 0_u64;
        for number in (0..most).map(|turn| block * first + turn * step).take_while(|number| *number < tiles) {
            for at in number * tile..(number + 1) * tile {
                let at_byte = 8 * at;
                match op {
                    "read" => sum = sum.wrapping_add(word(a + at_byte)),
                    "write" => put(a + at_byte, x.wrapping_add(at.wrapping_mul(y))),
                    "copy" => put(a + at_byte, word(b + at_byte)),
                    _ => put(a + at_byte, word(b + at_byte).wrapping_add(x.wrapping_mul(word(c + at_byte)))),
                }
            }
        }
        if op == "read" {
            // One of 1024 words, by block number.
            let slot = x + 8 * (block % 1024);
            put(slot, word(slot).wrapping_add(sum));
        }
    }
    let bytes = (tiles * tile * 8) as f64;
    Ok(match op {
        "read" => bytes / world.rate(a, a),
        "write" => bytes / world.rate(a, a),
        "copy" if world.owner(a) != world.owner(b) => bytes / world.rate(a, b),
        "copy" => 2.0 * bytes / world.rate(a, b),
        _ => 3.0 * bytes / world.rate(a, b),
    })
}
