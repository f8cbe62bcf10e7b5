//! The areas in which Seatrial is compared, one file each.

use std::path::PathBuf;

use anyhow::Result;
use seatrial_model::Unit;
use seatrial_stats::Better;

use super::kept::Hardware;
use super::ours;
use super::peer::Peer;
use crate::packages::Package;

/// Every area, one line each.
pub const AREAS: &[&Area] = &[
    &super::memory::MEMORY,
    &super::cobalt2::COBALT2,
    &super::latency::LATENCY,
    &super::cluster::CLUSTER,
    &super::network::NETWORK,
    &super::rdma::RDMA,
    &super::storage::STORAGE,
    &super::mpi::MPI,
    &super::gpu::GPU,
    &super::transfer::TRANSFER,
    &super::truth::TRUTH,
];

/// A comparison: what is compared, and with whom.
pub struct Area {
    /// The word behind `versus`.
    pub name: &'static str,
    /// What both sides do, in one sentence, for the head of the table.
    pub about: &'static str,
    /// The Debian packages of the peers.
    pub packages: &'static [Package],
    /// Peers that `--prepare` fetches and builds. Rows of one that is not there are left out.
    pub peers: &'static [&'static Peer],
    /// The rows. To name them takes nothing: nothing is built, started or looked for.
    pub rows: fn() -> Vec<Row>,
    /// Builds and finds what the rows need, before the first of them is measured.
    pub prepare: fn() -> Result<()>,
    /// What is measured besides and has no peer.
    pub alone: Option<Alone>,
    /// What is told of the machine that measured.
    pub machine: fn() -> Hardware,
}

/// A measurement that no peer makes.
#[derive(Clone, Copy)]
pub struct Alone {
    /// The work, which `--only` may name.
    pub name: &'static str,
    /// Measures, and returns the text that stands below the table.
    pub table: fn() -> Result<String>,
}

/// One work that both sides do, and all that is compared of it.
pub struct Row {
    /// What each turn returns a value of; one at least.
    pub figures: Vec<Figure>,
    /// Does the work once with Seatrial, in a process of its own.
    pub ours: Work<Vec<f64>>,
    /// Does the work once with the peer, in a process of its own.
    pub peer: Work<Vec<f64>>,
    /// Asked before the first turn: why there is nothing to compare with here, where that is so.
    pub hindrance: Option<Hindrance>,
}

/// Something that is compared.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// The work and what of it: `triad, AVX-512, 2 threads, 2 GiB`.
    pub name: String,
    /// The unit of what both sides return.
    pub unit: Unit,
    pub better: Better,
    /// What our advantage should at least be: 1 for "no slower", 0.99 for "at most 1 % of cost". None where both are shown
    /// side by side and nothing is asked for, because the work is not the same.
    pub goal: Option<f64>,
}

/// What this build has to reach of an earlier one: less is a regression.
pub const OWN_GOAL: f64 = 0.99;

/// Does the work once and says what came out, in the units of the row's figures.
pub type Work<T = f64> = Box<dyn FnMut() -> Result<T>>;

/// A figure, and what it takes of what a turn gave.
pub type Taking<T> = (Figure, fn(&T) -> f64);

/// Says why a row is left out.
pub type Hindrance = Box<dyn Fn() -> Option<String>>;

impl Row {
    /// A row of one figure.
    pub fn one(
        figure: Figure,
        ours: impl FnMut() -> Result<f64> + 'static,
        peer: impl FnMut() -> Result<f64> + 'static,
    ) -> Self {
        let only: [Taking<f64>; 1] = [(figure, |value| *value)];
        Self::several(only, ours, peer)
    }

    /// A row of several figures of the same turns.
    pub fn several<T: 'static, const COUNT: usize>(
        figures: [Taking<T>; COUNT],
        ours: impl FnMut() -> Result<T> + 'static,
        peer: impl FnMut() -> Result<T> + 'static,
    ) -> Self {
        fn work<T: 'static, const COUNT: usize>(
            takes: [fn(&T) -> f64; COUNT],
            mut turn: impl FnMut() -> Result<T> + 'static,
        ) -> Work<Vec<f64>> {
            Box::new(move || {
                let told = turn()?;
                Ok(takes.iter().map(|take| take(&told)).collect())
            })
        }
        let takes = figures.each_ref().map(|(_, take)| *take);
        let figures = figures.into_iter().map(|(figure, _)| figure).collect();
        Self { figures, ours: work(takes, ours), peer: work(takes, peer), hindrance: None }
    }

    /// The same work by this build and by an earlier binary of Seatrial, of which `earlier` was made. It may be as slow as
    /// `OWN_GOAL` says.
    pub fn against(self, earlier: Self, binary: PathBuf) -> Self {
        let mut turn = earlier.ours;
        let figures = self.figures.into_iter();
        let figures = figures.map(|figure| Figure { goal: Some(OWN_GOAL), ..figure }).collect();
        Self { figures, peer: Box::new(move || ours::with(&binary, &mut turn)), ..self }
    }

    /// The same, left out where `why` has a reason.
    pub fn unless(self, why: impl Fn() -> Option<String> + 'static) -> Self {
        Self { hindrance: Some(Box::new(why)), ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_named_without_anything_built_and_no_two_alike() {
        for area in AREAS {
            let rows = (area.rows)();
            let mut names: Vec<&str> =
                rows.iter().flat_map(|row| &row.figures).map(|figure| figure.name.as_str()).collect();
            names.extend(area.alone.iter().map(|alone| alone.name));
            let count = names.len();
            assert!(count > 0 && rows.iter().all(|row| !row.figures.is_empty()), "{}", area.name);
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), count, "{}: {names:#?}", area.name);
        }
    }

    #[test]
    fn each_figure_takes_its_own_of_one_turn() {
        let figure = |name: &str| Figure {
            name: name.to_owned(),
            unit: Unit::Second,
            better: Better::Lower,
            goal: None,
        };
        let mut count = 0.0;
        let ours = move || {
            count += 1.0;
            Ok((count, 10.0 * count))
        };
        let both: [Taking<(f64, f64)>; 2] =
            [(figure("first"), |told| told.0), (figure("second"), |told| told.1)];
        let mut row = Row::several(both, ours, || Ok((7.0, 8.0)));
        assert_eq!((row.ours)().unwrap(), [1.0, 10.0]);
        assert_eq!((row.ours)().unwrap(), [2.0, 20.0]);
        assert_eq!((row.peer)().unwrap(), [7.0, 8.0]);
        assert!(row.hindrance.is_none());
        assert_eq!(row.unless(|| Some("no peer".to_owned())).hindrance.unwrap()().unwrap(), "no peer");
    }

    #[test]
    fn against_an_earlier_binary_both_sides_do_our_work_each_with_its_own() {
        let figure =
            Figure { name: "one".to_owned(), unit: Unit::Second, better: Better::Lower, goal: Some(2.0) };
        let length = || Ok(ours::binary().as_os_str().len() as f64);
        let make = || Row::one(figure.clone(), length, || Ok(-1.0));
        let mut row = make().against(make(), PathBuf::from("/old"));
        assert_eq!(row.figures[0].goal, Some(OWN_GOAL));
        assert_eq!((row.peer)().unwrap(), [4.0]);
        assert_ne!((row.ours)().unwrap(), [4.0]);
    }
}
