//! Build id of the binary, so that controller and agents of different builds are not mixed.

use std::fs::File;
use std::io;

use crate::own_program::wrapper;

/// Version, and the first 64 bits of the BLAKE3 hash of the running binary, in about 10 ms.
///
/// A copy changes path and modification time, and the linker's build id may be missing, so the content is hashed.
/// Reads `/proc/self/exe`, even if the file was replaced meanwhile.
pub fn build_id(version: &str) -> io::Result<String> {
    let mut hasher = blake3::Hasher::new();
    hasher.update_reader(File::open("/proc/self/exe")?)?;
    let hash = hasher.finalize().to_hex();
    Ok(format!("{version}+{}", &hash[..16]))
}

/// The id for a fleet of this machine alone: the agent is the same file, so the content is not read. With a wrapper it may be
/// another one.
pub fn local_build_id(version: &str) -> io::Result<String> {
    if wrapper().is_some() { build_id(version) } else { Ok(format!("{version}+this")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_build_is_its_version_and_its_content() {
        let id = build_id("1.2.3").expect("our own binary is readable");
        let hash = id.strip_prefix("1.2.3+").expect("the version comes first");
        assert!(hash.len() == 16 && hash.bytes().all(|byte| byte.is_ascii_hexdigit()), "{id}");
        assert_ne!(build_id("1.2.4").expect("readable"), id);
        let own = std::fs::read("/proc/self/exe").expect("readable");
        assert!(blake3::hash(&own).to_hex().starts_with(hash));
    }
}
