//! A node or a boundary that holds groups back, and how certain that is.

use seatrial_stats::student_quantile;

use super::scale::{FLOOR, SEPARATION, Values, centre, noise};

/// Positions of nodes in the list of all nodes, ascending.
pub type Group = Vec<usize>;

/// The chance of a difference as large as that of a named node by noise alone is below 0.1 %.
const CONFIDENCE: f64 = 0.999;

/// Fewest groups with the fault in which every other node is proven, and fewest sound groups.
const FEWEST_GROUPS: usize = 2;

/// Fewest slow measurements of groups with the fault: other load that disturbs each twentieth case makes so many by chance in one of
/// 10^5 searches.
const FEWEST_SLOW: usize = 4;

/// Groups that are chosen because they are slow or sound scatter little by chance. So less than 1.5 % of noise is not
/// believed of few groups.
const LEAST_NOISE: f64 = 0.015;

/// Degrees of freedom from which on the noise is believed.
const FEWEST_FREEDOM: f64 = 8.0;

/// From this difference on, in standard deviations of one measurement, more groups are measured.
const POSSIBLE: f64 = 1.5;

/// Positions of nodes in the list of all nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    Node(usize),
    /// Groups of these nodes and others are slow, those of these nodes alone are not.
    Around(Group),
    /// Groups that hold nodes of both sides are slow, groups of one side are not.
    Between(Group, Group),
}

impl Place {
    /// All nodes that it names.
    pub fn nodes(&self) -> Group {
        match self {
            Self::Node(node) => vec![*node],
            Self::Around(nodes) => nodes.clone(),
            Self::Between(one, other) => [one.as_slice(), other].concat(),
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    pub place: Place,
    /// How much slower the groups with the fault are, as a difference of logarithms.
    pub deficit: f64,
    /// Half-width of the 95 % interval of `deficit`.
    pub half_width: f64,
    /// Standard deviation of one measurement.
    pub noise: f64,
    /// The groups with the fault, all other nodes of which are proven.
    pub slow: Vec<Group>,
    /// Number of sound groups of the same size.
    pub sound: usize,
    /// The logarithm of their rate.
    pub level: f64,
    /// Number of slow measurements of groups of the same size with the fault, whatever their other nodes.
    holding: usize,
    /// Smallest deficit that noise does not explain.
    least: f64,
}

impl Fault {
    /// `None` where nothing is known of the noise or of sound groups.
    pub(super) fn of(
        place: Place,
        groups: &[Group],
        slow: &[&Values],
        sound: &[&Values],
        holding: usize,
    ) -> Option<Self> {
        if sound.is_empty() || slow.is_empty() {
            return None;
        }
        let count = |level: &[&Values]| level.iter().map(|group| group.logs.len() as f64).sum::<f64>();
        let (noise, freedom) = noise(&[slow, sound]);
        let believed = if freedom < FEWEST_FREEDOM { noise.max(LEAST_NOISE) } else { noise };
        let error = believed * (1.0 / count(slow) + 1.0 / count(sound)).sqrt();
        let reach = |share: f64| student_quantile(share, freedom.max(1.0)) * error;
        Some(Self {
            place,
            deficit: centre(sound) - centre(slow),
            half_width: reach(0.975),
            noise,
            slow: groups.to_vec(),
            sound: sound.len(),
            holding,
            level: centre(sound),
            least: FLOOR.max(SEPARATION * believed).max(reach(CONFIDENCE)),
        })
    }

    pub(super) fn is_certain(&self) -> bool {
        self.slow.len().min(self.sound) >= FEWEST_GROUPS
            && self.holding >= FEWEST_SLOW
            && self.deficit >= self.least
    }

    pub(super) fn is_possible(&self) -> bool {
        self.deficit >= FLOOR.max(POSSIBLE * self.noise)
    }
}
