//! Parses the parameter `size`.

use seatrial_model::Bytes;

/// Default size of CUDA's bandwidthTest, which DRAGNET's figures used.
const QUICK: u64 = 32 << 20;

/// Shmoo mode of bandwidthTest: (up to this size, in these steps), in KiB.
const SHMOO: [(u64, u64); 7] =
    [(20, 1), (50, 2), (100, 10), (1000, 100), (16 << 10, 1 << 10), (32 << 10, 2 << 10), (64 << 10, 4 << 10)];

/// Most sizes of a range: more would take hours.
const MOST: u64 = 1000;

const LARGEST: u64 = 64 << 30;

pub fn sizes(text: &str) -> Result<Vec<u64>, String> {
    let size = |text: &str| {
        let bytes = text.trim().parse::<Bytes>().map_err(|error| error.to_string())?.get();
        match bytes {
            8..=LARGEST if bytes.is_multiple_of(8) => Ok(bytes),
            8..=LARGEST => Err(format!("{bytes} B is not a multiple of the 8 B words that are checked")),
            _ => Err(format!("{} is outside 8 B to {}", Bytes(bytes), Bytes(LARGEST))),
        }
    };
    match text.trim() {
        "quick" => return Ok(vec![QUICK]),
        "shmoo" => return Ok(shmoo()),
        _ => {}
    }
    let parts: Vec<&str> = text.split(':').collect();
    match parts[..] {
        [one] => Ok(vec![size(one)?]),
        [from, to, step] => {
            let (from, to, step) = (size(from)?, size(to)?, size(step)?);
            if from > to {
                return Err(format!("{} is more than {}", Bytes(from), Bytes(to)));
            }
            let count = (to - from) / step + 1;
            if count > MOST {
                return Err(format!("{count} sizes exceed the limit of {MOST}"));
            }
            Ok((0..count).map(|number| from + number * step).collect())
        }
        _ => Err(format!("'{text}' is neither a size, quick, shmoo nor FROM:TO:STEP")),
    }
}

fn shmoo() -> Vec<u64> {
    let mut found = vec![1];
    for (to, step) in SHMOO {
        while let Some(last) = found.last().copied()
            && last < to
        {
            // Steps continue from 1 MiB after 1000 KiB.
            found.push(if last == 1000 { 1 << 10 } else { last + step });
        }
    }
    found.into_iter().map(|kib| kib << 10).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_three_modes_of_bandwidth_test_are_there() {
        assert_eq!(sizes("quick"), Ok(vec![33_554_432]));
        assert_eq!(sizes("1 KiB:4 KiB:1536 B"), Ok(vec![1024, 2560, 4096]));
        let shmoo = sizes("shmoo").expect("sizes");
        let ends = (shmoo.first().copied(), shmoo.last().copied(), shmoo.len());
        assert_eq!(ends, (Some(1 << 10), Some(64 << 20), 81));
        assert!(shmoo.is_sorted_by(|a, b| a < b) && shmoo.contains(&(1 << 20)));
    }

    #[test]
    fn what_is_no_size_is_refused_with_what_would_be() {
        for (text, why) in [
            ("12 B", "multiple of the 8 B"),
            ("4 KiB:1 KiB:8 B", "4 KiB is more than 1 KiB"),
            ("8 B:1 GiB:8 B", "exceed the limit of 1000"),
            ("1:2", "neither a size"),
            ("128 GiB", "outside"),
        ] {
            let error = sizes(text).expect_err(text);
            assert!(error.contains(why), "{text}: {error}");
        }
    }
}
