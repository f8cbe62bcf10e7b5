//! Blocks: what is moved, and compared, at once.

/// Bytes of a block: small files are packed until a block is full, large ones are cut into blocks.
pub const BLOCK: u64 = 1 << 20;

/// Bytes of a block's hash, from BLAKE3: equal hashes count as equal content.
pub const HASH: usize = 16;

/// The hash of a block that a partial file has.
pub type BlockHash = [u8; HASH];

pub fn block_hash(content: &[u8]) -> BlockHash {
    let mut hash = [0; HASH];
    hash.copy_from_slice(&blake3::hash(content).as_bytes()[..HASH]);
    hash
}
