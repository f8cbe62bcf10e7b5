//! `tool.json`: the binaries that measured.

use std::fs::File;
use std::io;

use serde::{Deserialize, Serialize};

use crate::evidence::sum_of;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tool {
    pub version: String,
    /// SHA-256 of the file in lower-case hexadecimal, as of sha256sum.
    pub sha256: String,
}

/// A run that was resumed by another build has several binaries.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ToolFile {
    pub schema: u32,
    pub binaries: Vec<Tool>,
}

impl Tool {
    /// The running binary, even if its path has another file meanwhile. Takes about ten milliseconds.
    pub fn running(version: &str) -> io::Result<Self> {
        let sha256 = sum_of(&mut File::open("/proc/self/exe")?)?;
        Ok(Self { version: version.to_owned(), sha256 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_running_binary_has_the_sum_that_sha256sum_prints() {
        // FIPS 180-2, appendix B.1.
        let sum = sum_of(&mut b"abc".as_slice()).unwrap();
        assert_eq!(sum, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        let tool = Tool::running("1.2.3").unwrap();
        let own = std::fs::read("/proc/self/exe").unwrap();
        assert_eq!(tool.sha256, sum_of(&mut own.as_slice()).unwrap());
        assert_eq!(tool.version, "1.2.3");
    }
}
