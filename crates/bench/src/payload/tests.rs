//! Every kind of corruption is found and named, and nothing else is.

use std::collections::HashSet;
use std::io::Write as _;
use std::process::{Command, Stdio};

use super::*;

const RUN: u64 = 0x5ea7;

fn block(file: u32, offset: u64, generation: u64) -> Block {
    Block { file, offset, generation }
}

fn filled(payload: &Payload, block: Block, len: usize) -> Vec<u8> {
    let mut bytes = vec![0; len];
    payload.fill(block, &mut bytes);
    bytes
}

#[test]
fn blocks_of_every_length_check_out_and_every_byte_counts() {
    for compressible in [0.0, 40.0, 100.0] {
        let payload = Payload::new(RUN, compressible);
        for len in [1, 7, 8, 31, 32, 33, 512, 4095, 4096, 4097, 4100, 8192, 47_008] {
            let mut bytes = filled(&payload, block(3, 1 << 40, 2), len);
            assert_eq!(payload.check(block(3, 1 << 40, 2), &bytes), Ok(()), "{len}");
            for at in (0..len).step_by(1 + len / 97).chain([len - 1]) {
                bytes[at] ^= 0x10;
                let fault = payload.check(block(3, 1 << 40, 2), &bytes).expect_err("found");
                assert_eq!(fault.offset, (1 << 40) + (at / GRANULE * GRANULE) as u64, "{len} {at}");
                if len >= 512 && compressible == 0.0 {
                    assert_eq!(fault.kind, FaultKind::Flipped { byte: at % GRANULE, bits: 1 });
                }
                bytes[at] ^= 0x10;
            }
        }
    }
}

#[test]
fn what_is_wrong_is_named_and_located() {
    let payload = Payload::new(RUN, 0.0);
    let here = block(1, 65_536, 5);
    let check = |bytes: &[u8]| payload.check(here, bytes).expect_err("found").to_string();
    let mut flipped = filled(&payload, here, 8192);
    flipped[5000] ^= 4;
    assert_eq!(check(&flipped), "file 1, offset 69632: a flipped bit in byte 70536");
    let mut torn = filled(&payload, here, 8192);
    payload.fill(block(1, 65_536 + 4096, 4), &mut torn[4096..]);
    assert_eq!(check(&torn), "file 1, offset 69632: a stale block: generation 4 instead of 5");
    let swapped = filled(&payload, block(2, 0, 1), 8192);
    assert_eq!(
        check(&swapped),
        "file 1, offset 65536: a swapped block: it is that of file 2, offset 0 (generation 1)"
    );
    assert_eq!(check(&[0; 8192]), "file 1, offset 65536: a zeroed block");
    let mut unread = filled(&payload, here, 8192);
    payload.poison(&mut unread[1024..1536]);
    assert_eq!(
        check(&unread),
        "file 1, offset 65536: not read: the buffer was left as it was from byte 66560 on"
    );
    let foreign = filled(&Payload::new(RUN + 1, 0.0), here, 8192);
    assert_eq!(check(&foreign), "file 1, offset 65536: data that this run did not write");
    let mut hit = filled(&payload, here, 8192);
    hit[3] ^= 0xff;
    assert_eq!(check(&hit), "file 1, offset 65536: 8 flipped bits from byte 65539 on");
}

#[test]
fn no_granule_is_like_another() {
    let payload = Payload::new(RUN, 0.0);
    let mut seen = HashSet::new();
    for file in 0..4 {
        for generation in 0..4 {
            for bytes in filled(&payload, block(file, 0, generation), 1 << 20).chunks(GRANULE) {
                assert!(seen.insert(bytes[STAMP..STAMP + 16].to_vec()), "two are alike behind their stamps");
            }
        }
    }
}

/// The size of `bytes` when compressed in pieces of `each` by a program that reads and writes its standard streams.
fn compressed(bytes: &[u8], each: usize, program: &[&str]) -> Option<usize> {
    let mut sum = 0;
    for piece in bytes.chunks(each) {
        let mut command = Command::new(program[0]);
        let mut child =
            command.args(&program[1..]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().ok()?;
        let (mut input, piece) = (child.stdin.take()?, piece.to_vec());
        let writer = std::thread::spawn(move || input.write_all(&piece));
        let output = child.wait_with_output().ok()?;
        writer.join().ok()?.ok()?;
        sum += output.stdout.len();
    }
    Some(sum)
}

#[test]
fn no_compressor_finds_anything_in_it_unless_asked_to() {
    for (name, program) in [("zstd", &["zstd", "-q", "-c", "--long=24"][..]), ("gzip", &["gzip", "-c"][..])] {
        let payload = Payload::new(RUN, 0.0);
        let bytes = filled(&payload, block(0, 0, 0), 16 << 20);
        let pieces = [(&bytes[..64 << 10], GRANULE), (&bytes[..1 << 20], 128 << 10), (&bytes[..], 16 << 20)];
        for (bytes, each) in pieces {
            let Some(size) = compressed(bytes, each, program) else {
                assert!(!std::env::var("CI").is_ok_and(|ci| ci == "true"), "CI has to have {name}");
                #[expect(clippy::print_stdout, reason = "says what was not tested")]
                {
                    println!("skipped: no {name} here");
                }
                break;
            };
            assert!(size as f64 >= 0.99 * bytes.len() as f64, "{name}: {} to {size}", bytes.len());
        }
        let half = filled(&Payload::new(RUN, 50.0), block(0, 0, 0), 1 << 20);
        if let Some(size) = compressed(&half, 1 << 20, program) {
            let share = size as f64 / half.len() as f64;
            assert!((0.49..0.53).contains(&share), "{name}: {share}");
        }
    }
}

#[test]
fn a_million_mixed_operations_raise_no_false_alarm() {
    // A store in memory, of blocks of a sector, written and read in an order of their own in every pass.
    const BLOCKS: u64 = 2048;
    const BYTES: usize = 512;
    let payload = Payload::new(RUN, 0.0);
    let mut store = vec![0; BLOCKS as usize * BYTES];
    let mut generations = vec![0_u64; BLOCKS as usize];
    let place = |number: u64| number as usize * BYTES..(number as usize + 1) * BYTES;
    for number in 0..BLOCKS {
        payload.fill(block(0, number * BYTES as u64, 0), &mut store[place(number)]);
    }
    let mut operations = 0;
    for pass in 1.. {
        let order = Permutation::new(BLOCKS, mix(pass));
        for position in 0..BLOCKS {
            let number = order.at(position);
            let generation = &mut generations[number as usize];
            if mix(pass ^ mix(number)).is_multiple_of(3) {
                *generation += 1;
                let what = block(0, number * BYTES as u64, *generation);
                payload.fill(what, &mut store[place(number)]);
            } else {
                let what = block(0, number * BYTES as u64, *generation);
                assert_eq!(payload.check(what, &store[place(number)]), Ok(()));
            }
            operations += 1;
        }
        if operations >= 1_000_000 {
            return;
        }
    }
}

/// A buffer that was prepared for one block and then used for `block`.
fn reused(payload: &Payload, block: Block, len: usize) -> Vec<u8> {
    let mut bytes = vec![0; len];
    payload.prepare(Block { file: 9, offset: 0, generation: 0 }, &mut bytes);
    payload.fill(block, &mut bytes);
    bytes
}

#[test]
fn of_headers_alone_a_misplaced_a_stale_and_an_unread_block_are_found_and_a_flipped_byte_of_the_rest_is_not()
{
    for compressible in [0.0, 60.0, 99.0] {
        let payload = Payload::new(RUN, compressible).verified_by(Verification::Header);
        let here = block(1, 65_536, 5);
        let check = |bytes: &[u8]| payload.check(here, bytes).expect_err("found").to_string();
        let right = reused(&payload, here, 8192);
        assert_eq!((payload.check(here, &right), payload.checked_bytes(8192)), (Ok(()), 2 * STAMP));
        let swapped = reused(&payload, block(1, 0, 5), 8192);
        assert_eq!(
            check(&swapped),
            "file 1, offset 65536: a swapped block: it is that of file 1, offset 0 (generation 5)"
        );
        let mut torn = right.clone();
        payload.fill(block(1, 65_536 + 4096, 4), &mut torn[4096..]);
        assert_eq!(check(&torn), "file 1, offset 69632: a stale block: generation 4 instead of 5");
        assert_eq!(check(&[0; 8192]), "file 1, offset 65536: a zeroed block");
        let mut unread = right.clone();
        payload.poison(&mut unread[4096..]);
        assert_eq!(
            check(&unread),
            "file 1, offset 69632: not read: the buffer was left as it was from byte 69632 on"
        );
        let mut hit = right.clone();
        hit[4096 + 20] ^= 1;
        assert_eq!(check(&hit), "file 1, offset 69632: a flipped bit in byte 69652");
        let mut flipped = right;
        flipped[5000] ^= 4;
        assert_eq!(payload.check(here, &flipped), Ok(()), "only the headers are looked at");
    }
}

#[test]
fn what_is_too_short_for_a_header_has_none() {
    let payload = Payload::new(RUN, 0.0).verified_by(Verification::Header);
    let bytes = reused(&payload, block(1, 0, 5), STAMP - 1);
    assert_eq!((payload.check(block(2, 0, 6), &bytes), payload.checked_bytes(bytes.len())), (Ok(()), 0));
}

#[test]
fn unverified_data_is_made_once_and_not_looked_at() {
    let payload = Payload::new(RUN, 0.0).verified_by(Verification::None);
    let (first, second) = (reused(&payload, block(1, 0, 5), 8192), reused(&payload, block(2, 4096, 6), 8192));
    assert!(first == second && first[..4096] != first[4096..], "the buffer stays as it was prepared");
    let mut poisoned = first.clone();
    payload.poison(&mut poisoned);
    assert_eq!((poisoned == first, payload.check(block(3, 0, 0), &[0; 8192])), (true, Ok(())));
    assert_eq!(payload.checked_bytes(8192), 0);
}
