//! Resident memory and huge pages of a mapping (`/proc/self/smaps`, proc_pid_smaps(5)).

use crate::root::ReadError;

const SMAPS: &str = "/proc/self/smaps";

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Residency {
    pub resident_bytes: u64,
    /// Bytes in huge pages, transparent or hugetlb.
    pub huge_bytes: u64,
}

impl Residency {
    /// The fraction of the resident memory in huge pages, 0 to 1.
    pub fn huge_share(&self) -> f64 {
        if self.resident_bytes == 0 { 0.0 } else { self.huge_bytes as f64 / self.resident_bytes as f64 }
    }
}

pub(crate) fn parse(smaps: &str, from: usize, to: usize) -> Result<Residency, ReadError> {
    let mut sum = Residency::default();
    let mut seen = false;
    let mut inside = false;
    for line in smaps.lines() {
        if let Some((start, end)) = header(line) {
            inside = from <= start && end <= to;
            seen |= inside;
        } else if inside {
            let mut words = line.split_whitespace();
            let (Some(key), Some(kib)) = (words.next(), words.next()) else { continue };
            let bytes = || kib.parse::<u64>().map(|kib| kib.saturating_mul(1024));
            let bytes = || bytes().map_err(|_| ReadError::garbage(SMAPS, line, "a number of kB"));
            match key {
                "Rss:" => add(&mut sum.resident_bytes, bytes()?),
                "AnonHugePages:" => add(&mut sum.huge_bytes, bytes()?),
                // Rss excludes hugetlb pages.
                "Private_Hugetlb:" | "Shared_Hugetlb:" => {
                    add(&mut sum.resident_bytes, bytes()?);
                    add(&mut sum.huge_bytes, bytes()?);
                }
                _ => {}
            }
        }
    }
    let expected = || format!("an entry within {from:x}-{to:x}");
    if seen { Ok(sum) } else { Err(ReadError::garbage(SMAPS, "no such mapping", &expected())) }
}

fn add(sum: &mut u64, bytes: u64) {
    *sum = sum.saturating_add(bytes);
}

fn header(line: &str) -> Option<(usize, usize)> {
    let (start, end) = line.split_whitespace().next()?.split_once('-')?;
    Some((usize::from_str_radix(start, 16).ok()?, usize::from_str_radix(end, 16).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
7f0000000000-7f0000400000 rw-p 00000000 00:00 0
Size:               4096 kB
Rss:                4096 kB
AnonHugePages:      2048 kB
Private_Hugetlb:       0 kB
VmFlags: rd wr mr mw me ac sd hg
7f0000400000-7f0000800000 rw-p 00000000 00:0f 99 /anon_hugepage (deleted)
Rss:                   0 kB
AnonHugePages:         0 kB
Private_Hugetlb:    4096 kB
";

    #[test]
    fn sums_transparent_and_explicit_pages() {
        let first = parse(TEXT, 0x7f00_0000_0000, 0x7f00_0040_0000).expect("parsed");
        assert_eq!(first, Residency { resident_bytes: 4 << 20, huge_bytes: 2 << 20 });
        assert_eq!(first.huge_share(), 0.5);
        let both = parse(TEXT, 0x7f00_0000_0000, 0x7f00_0080_0000).expect("parsed");
        assert_eq!(both, Residency { resident_bytes: 8 << 20, huge_bytes: 6 << 20 });
    }

    #[test]
    fn says_when_the_mapping_is_not_listed_or_the_text_is_garbage() {
        assert!(parse(TEXT, 0x1000, 0x2000).is_err());
        assert!(parse(&TEXT.replace("2048 kB", "lots"), 0x7f00_0000_0000, 0x7f00_0040_0000).is_err());
        assert_eq!(Residency::default().huge_share(), 0.0);
    }
}
