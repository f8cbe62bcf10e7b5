//! What a rule looks at: a node, its cases, and the other nodes.

use seatrial_model::record::CaseRecord;
use seatrial_model::setting::SettingAbout;
use seatrial_model::{Site, Unit};

use crate::finding::matrix::{Matrix, Slow, SlowSide};
use crate::number::quantity;

pub struct Scene<'a> {
    pub node: &'a str,
    pub side: SlowSide,
    /// Cases in which the node is slow, or has no number.
    pub cases: Vec<&'a CaseRecord>,
    /// Where the node is slow: the matrix of the pairs, and its speed in there.
    pub slow: Option<(&'a Matrix, Slow)>,
    pub records: &'a [CaseRecord],
    pub site: &'a Site,
    pub settings: &'a [&'static SettingAbout],
}

impl Scene<'_> {
    /// The rates of the node and of all nodes in Gbit/s.
    pub fn rates(&self) -> Option<(f64, f64)> {
        let (matrix, slow) = self.slow.as_ref()?;
        let gbit = |value| Some(quantity(value, matrix.unit)?.to(Unit::GigabitsPerSecond).ok()?.value());
        Some((gbit(slow.value)?, gbit(slow.median)?))
    }

    /// Cases of the same question without the node.
    pub fn others(&self) -> impl Iterator<Item = &CaseRecord> {
        let of_group = |case: &&CaseRecord| self.cases.iter().any(|own| own.group == case.group);
        self.records.iter().filter(of_group).filter(|case| !case.nodes.iter().any(|node| node == self.node))
    }
}
