//! Files of lines `key: value unit`, such as `/proc/meminfo` and `/proc/cpuinfo`.

use seatrial_sys::root::{ReadError, SysRoot};

pub(crate) struct Keyed {
    path: String,
    text: String,
}

impl Keyed {
    pub fn read(root: &SysRoot, path: &str) -> Result<Self, ReadError> {
        Ok(Self { path: path.to_owned(), text: root.text(path)? })
    }

    /// The value of the first line whose key ends with `key`: the meminfo of a node puts `Node 0` before each.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.all(key).next()
    }

    pub fn all<'a>(&'a self, key: &str) -> impl Iterator<Item = &'a str> {
        self.text.lines().filter_map(move |line| {
            let (left, value) = line.split_once(':')?;
            let before = left.trim_end().strip_suffix(key)?;
            (before.is_empty() || before.ends_with(' ')).then_some(value.trim())
        })
    }

    /// The value `0xd0c`.
    pub fn hex(&self, key: &str) -> Option<u32> {
        u32::from_str_radix(self.get(key)?.strip_prefix("0x")?, 16).ok()
    }

    /// The value `123 kB`, in bytes.
    pub fn kib(&self, key: &str) -> Result<u64, ReadError> {
        let expected = format!("a line '{key}: N kB'");
        let Some(value) = self.get(key) else {
            return Err(ReadError::garbage(&self.path, "no such line", &expected));
        };
        let number = value.strip_suffix("kB").and_then(|number| number.trim().parse::<u64>().ok());
        number
            .and_then(|kib| kib.checked_mul(1024))
            .ok_or_else(|| ReadError::garbage(&self.path, value, &expected))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keyed(text: &str) -> Keyed {
        Keyed { path: "/f".to_owned(), text: text.to_owned() }
    }

    #[test]
    fn finds_whole_keys_with_and_without_a_prefix() {
        let file = keyed("MemTotal:  10 kB\nNode 0 MemFree:  3 kB\nHugePages_Free: 0\nmodel name\t: X: Y\n");
        assert_eq!((file.kib("MemTotal"), file.kib("MemFree")), (Ok(10240), Ok(3072)));
        assert_eq!(file.get("Free"), None);
        assert_eq!(file.get("model name"), Some("X: Y"));
    }

    #[test]
    fn tells_a_missing_line_from_a_garbled_one() {
        let file = keyed("MemTotal: lots\nMemFree: 5 MB\nHuge: 18446744073709551615 kB");
        let reason = |key: &str| file.kib(key).expect_err(key).to_string();
        assert_eq!(reason("Absent"), "/f holds \"no such line\", expected a line 'Absent: N kB'");
        for key in ["MemTotal", "MemFree", "Huge"] {
            assert!(reason(key).contains("expected a line"), "{key}");
        }
    }
}
