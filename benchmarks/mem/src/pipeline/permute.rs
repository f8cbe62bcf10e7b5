//! Chunk order of a transposing step.

/// Copies `source` to `destination` so that chunk i comes from chunk (`stride` i mod n), one `memcpy` per chunk; a
/// rest behind the last whole chunk stays in its place. Panics when the lengths differ, or `chunk` is zero.
pub fn permute(source: &[u8], destination: &mut [u8], chunk: usize, stride: usize) {
    let chunks = source.len() / chunk;
    let mut from = 0;
    for to in destination.chunks_exact_mut(chunk) {
        to.copy_from_slice(&source[from * chunk..][..chunk]);
        from = (from + stride) % chunks;
    }
    let rest = chunks * chunk;
    destination[rest..].copy_from_slice(&source[rest..]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunk_i_comes_from_chunk_seven_i_and_the_rest_stays() {
        let source: Vec<u8> = (0..35).collect();
        let mut destination = vec![255; 35];
        permute(&source, &mut destination, 4, 7);
        let chunks: Vec<u8> = destination.chunks_exact(4).map(|chunk| chunk[0] / 4).collect();
        assert_eq!(chunks, [0, 7, 6, 5, 4, 3, 2, 1]);
        assert_eq!(destination[4..8], [28, 29, 30, 31]);
        assert_eq!(destination[32..], [32, 33, 34]);
    }

    #[test]
    fn every_byte_arrives_for_the_chunk_counts_of_cobalt2() {
        for chunks in [32, 256] {
            let source: Vec<u8> = (0..chunks * 3 + 1).map(|at: usize| (at * 31 % 251) as u8).collect();
            let mut destination = vec![0; source.len()];
            permute(&source, &mut destination, 3, 7);
            let mut reached = vec![false; chunks];
            for (to, piece) in destination.chunks_exact(3).enumerate() {
                let from = to * 7 % chunks;
                assert_eq!(piece, &source[from * 3..from * 3 + 3], "chunk {to} of {chunks}");
                reached[from] = true;
            }
            assert!(reached.iter().all(|reached| *reached));
        }
    }
}
