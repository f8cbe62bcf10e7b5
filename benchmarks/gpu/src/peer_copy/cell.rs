//! The measured combinations: which GPUs copy from where to where.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    pub from: usize,
    pub to: usize,
    /// Whether the target GPU reads; otherwise the source GPU writes.
    pub reads: bool,
}

impl Transfer {
    pub const fn by(self) -> usize {
        if self.reads { self.to } else { self.from }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CopyPath {
    pub operation: &'static str,
    pub transfers: Vec<Transfer>,
    pub gpu: usize,
    /// The second GPU of a pair.
    pub peer: Option<usize>,
}

pub fn cells(count: usize, pairs: bool, groups: bool) -> Vec<CopyPath> {
    let mut found = Vec::new();
    let others = |gpu: usize| (0..count).filter(move |other| *other != gpu);
    let push = |from, to| Transfer { from, to, reads: false };
    if pairs {
        for from in 0..count {
            for to in others(from) {
                for (operation, reads) in [("write", false), ("read", true)] {
                    let transfers = vec![Transfer { from, to, reads }];
                    found.push(CopyPath { operation, transfers, gpu: from, peer: Some(to) });
                }
                if from < to {
                    for (operation, reads) in [("both_write", false), ("both_read", true)] {
                        let transfers =
                            vec![Transfer { from, to, reads }, Transfer { from: to, to: from, reads }];
                        found.push(CopyPath { operation, transfers, gpu: from, peer: Some(to) });
                    }
                }
            }
        }
    }
    // With two GPUs the groups equal the pairs.
    if groups && (count > 2 || !pairs) {
        for gpu in 0..count {
            let out = others(gpu).map(|to| push(gpu, to)).collect();
            found.push(CopyPath { operation: "one_to_all", transfers: out, gpu, peer: None });
            let into = others(gpu).map(|from| push(from, gpu)).collect();
            found.push(CopyPath { operation: "all_to_one", transfers: into, gpu, peer: None });
        }
        let all = (0..count).flat_map(|gpu| others(gpu).map(move |to| push(gpu, to))).collect();
        found.push(CopyPath { operation: "all_to_all", transfers: all, gpu: 0, peer: None });
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pair_is_there_in_both_directions() {
        let all = cells(4, true, true);
        let count = |operation: &str| all.iter().filter(|cell| cell.operation == operation).count();
        let counts =
            ["write", "read", "both_write", "both_read", "one_to_all", "all_to_one", "all_to_all"].map(count);
        assert_eq!(counts, [12, 12, 6, 6, 4, 4, 1]);
        let last = all.last().expect("cells");
        assert_eq!(last.transfers.len(), 12);
        assert!(all.iter().flat_map(|cell| &cell.transfers).all(|one| one.from != one.to));
        assert_eq!(cells(2, true, true).len(), 6, "two GPUs make no group");
        assert_eq!(cells(2, false, true).len(), 5, "unless it is asked for");
    }
}
