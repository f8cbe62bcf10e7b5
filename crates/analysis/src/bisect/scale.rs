//! What the values of groups of one size say: which groups are sound, and how large the noise is.

/// Smallest deficit of a slow group, as a difference of logarithms: 3 %, as for slow nodes among pairs.
pub const FLOOR: f64 = 0.03;

/// Smallest distance of two levels, in standard deviations of one group: values of one level, cut in two where they
/// differ most, lie up to 2.7 apart.
pub const SEPARATION: f64 = 3.0;

/// From this distance on, groups that do not form two levels are measured again.
pub const OPEN: f64 = 1.5;

/// Distance from the cut between two levels below which a group is measured again, in standard deviations of one group.
pub const MARGIN: f64 = 2.0;

/// A group is measured this often at most to find its level.
pub const MOST_REPEATS: usize = 4;

/// The values of one group: logarithms of its rate.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Values {
    pub logs: Vec<f64>,
    /// The variances that the intervals of the cases state.
    pub variances: Vec<f64>,
}

impl Values {
    /// The median, so that one disturbed measurement of three does not count.
    pub fn median(&self) -> f64 {
        let mut logs = self.logs.clone();
        logs.sort_by(f64::total_cmp);
        f64::midpoint(logs[(logs.len() - 1) / 2], logs[logs.len() / 2])
    }

    /// The higher of two measurements, the median of more.
    pub fn undisturbed(&self) -> f64 {
        let highest = self.logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if self.logs.len() > 2 { self.median() } else { highest }
    }

    fn count(&self) -> f64 {
        self.logs.len() as f64
    }
}

/// The noise of one measurement, from `levels`: groups that measure the same. It is the scatter about the level of each,
/// or what the intervals of the cases state, whichever is larger. With it comes the number of degrees of freedom.
pub fn noise(levels: &[&[&Values]]) -> (f64, f64) {
    let (mut squares, mut freedom) = (0.0, -(levels.len() as f64));
    let (mut stated, mut count) = (0.0, 0.0);
    for level in levels {
        let centre = centre(level);
        for group in *level {
            squares += group.logs.iter().map(|log| (log - centre).powi(2)).sum::<f64>();
            freedom += group.count();
            stated += group.variances.iter().sum::<f64>();
            count += group.variances.len() as f64;
        }
    }
    let scatter = if freedom > 0.0 { squares / freedom } else { 0.0 };
    (f64::max(scatter, stated / f64::max(count, 1.0)).sqrt(), freedom)
}

/// The mean over all groups of `level`, each with the weight of its measurements.
pub fn centre(level: &[&Values]) -> f64 {
    let count: f64 = level.iter().map(|group| group.count()).sum();
    level.iter().map(|group| group.count() * group.median()).sum::<f64>() / count
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    Sound,
    Slow,
    /// To be measured again.
    Open,
}

/// The levels of all groups of one size.
#[derive(Clone, Debug)]
pub struct Scale {
    /// The highest level.
    pub sound: f64,
    /// The level below it, if there is one.
    pub below: Option<f64>,
    /// The standard deviation of one measurement.
    pub noise: f64,
    /// Whether the groups differ by almost enough for two levels.
    is_open: bool,
}

impl Scale {
    /// The levels of `groups`, of which there is at least one. `known` is the noise of groups of another size; 0 if
    /// unknown.
    pub fn of(groups: &[&Values], known: f64) -> Self {
        let mut sorted = groups.to_vec();
        sorted.sort_by(|one, other| other.median().total_cmp(&one.median()));
        let mut levels: Vec<&[&Values]> = Vec::new();
        let is_open = divide(&sorted, FLOOR, known, &mut levels);
        let (noise, _) = noise(&levels);
        Self {
            sound: centre(levels[0]),
            below: levels.get(1).map(|level| centre(level)),
            noise: noise.max(known),
            is_open,
        }
    }

    pub fn level(&self, group: &Values) -> Level {
        let may_repeat = group.logs.len() < MOST_REPEATS;
        let Some(below) = self.below else {
            return if self.is_open && may_repeat { Level::Open } else { Level::Sound };
        };
        let above = group.median() - f64::midpoint(self.sound, below);
        // Of two measurements on both sides of the cut, one was disturbed.
        let is_split =
            group.logs.len() == 2 && (group.logs[0] - group.logs[1]).abs() > (self.sound - below) / 2.0;
        if may_repeat && (is_split || above.abs() < MARGIN * self.noise / group.count().sqrt()) {
            Level::Open
        } else if above < 0.0 {
            Level::Slow
        } else {
            Level::Sound
        }
    }
}

/// Divides `sorted` values, the highest first, into levels that are at least `least` apart. Returns whether they are one
/// level and almost two.
fn divide<'a>(sorted: &'a [&'a Values], least: f64, known: f64, levels: &mut Vec<&'a [&'a Values]>) -> bool {
    let best =
        (1..sorted.len()).map(|at| (at, between(sorted, at))).max_by(|one, other| one.1.total_cmp(&other.1));
    let Some((at, _)) = best else {
        levels.push(sorted);
        return false;
    };
    let (upper, lower) = sorted.split_at(at);
    let distance = centre(upper) - centre(lower);
    let per_group = sorted.iter().map(|group| group.count()).sum::<f64>() / sorted.len() as f64;
    let of_two = if sorted.len() == 2 { 2.0 } else { 1.0 };
    let deviation = noise(&[upper, lower]).0.max(known) * f64::sqrt(of_two / per_group);
    if distance >= least.max(SEPARATION * deviation) {
        // A few values of one level often lie further apart than they scatter.
        let least = least.max(distance / 2.0);
        divide(upper, least, known, levels);
        divide(lower, least, known, levels);
        return false;
    }
    levels.push(sorted);
    distance >= least.max(OPEN * deviation)
}

/// The sum of squares between the values before and from `at` on.
fn between(sorted: &[&Values], at: usize) -> f64 {
    let (upper, lower) = sorted.split_at(at);
    let weight = |level: &[&Values]| level.iter().map(|group| group.count()).sum::<f64>();
    let (one, other) = (weight(upper), weight(lower));
    one * other / (one + other) * (centre(upper) - centre(lower)).powi(2)
}
