//! The measured combinations: direction, size, and NUMA node of the host memory.

use seatrial_model::{Case, Cause, Params, Reason};

use super::sizes::sizes;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyDirection {
    H2d,
    D2h,
    Both,
}

impl CopyDirection {
    pub const ALL: [Self; 3] = [Self::H2d, Self::D2h, Self::Both];

    pub const fn name(self) -> &'static str {
        match self {
            Self::H2d => "h2d",
            Self::D2h => "d2h",
            Self::Both => "both",
        }
    }

    pub const fn goes_in(self) -> bool {
        matches!(self, Self::H2d | Self::Both)
    }

    pub const fn goes_out(self) -> bool {
        matches!(self, Self::D2h | Self::Both)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    pub direction: CopyDirection,
    pub size: u64,
    /// Index of the memory's node among the measured nodes.
    pub memory: usize,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Grid {
    pub cells: Vec<Cell>,
    /// Nodes of the host memory, the GPU's own first; `None` leaves placement to the kernel.
    pub nodes: Vec<Option<u32>>,
}

impl Grid {
    pub fn new(directions: &[CopyDirection], sizes: &[u64], nodes: Vec<Option<u32>>) -> Self {
        let mut cells = Vec::new();
        for memory in 0..nodes.len() {
            for size in sizes {
                cells.extend(directions.iter().map(|direction| Cell {
                    direction: *direction,
                    size: *size,
                    memory,
                }));
            }
        }
        Self { cells, nodes }
    }

    pub fn of(case: &Case) -> Result<Self, Reason> {
        let bad = |why: String| Reason::new(Cause::Protocol, why);
        let sizes = sizes(case.params.text("size")?).map_err(bad)?;
        let nodes = case.planned.text("memory_nodes")?.split(' ').map(|word| word.parse().ok()).collect();
        Ok(Self::new(&directions(&case.params)?, &sizes, nodes))
    }

    pub fn largest(&self) -> u64 {
        self.cells.iter().map(|cell| cell.size).max().unwrap_or(0)
    }
}

pub fn directions(params: &Params) -> Result<Vec<CopyDirection>, Reason> {
    let word = params.text("direction")?;
    Ok(CopyDirection::ALL
        .into_iter()
        .filter(|direction| word == "auto" || word == direction.name())
        .collect())
}
