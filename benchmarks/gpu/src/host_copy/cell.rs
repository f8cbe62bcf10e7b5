//! What is measured in one slice: a direction, a size, and the node of the host's memory.

use seatrial_model::{Case, Cause, Params, Reason};

use super::sizes::sizes;

/// Which way data go.
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

    /// Whether data go to the device.
    pub const fn goes_in(self) -> bool {
        matches!(self, Self::H2d | Self::Both)
    }

    /// Whether data come from the device.
    pub const fn goes_out(self) -> bool {
        matches!(self, Self::D2h | Self::Both)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    pub direction: CopyDirection,
    /// Bytes of one copy.
    pub size: u64,
    /// Position of the memory among the nodes that are measured.
    pub memory: usize,
}

/// What a case measures.
#[derive(Clone, Debug, PartialEq)]
pub struct Grid {
    pub cells: Vec<Cell>,
    /// Nodes of the host's memory; the first is the one next to the GPU. `None` leaves it to the kernel.
    pub nodes: Vec<Option<u32>>,
}

impl Grid {
    /// The grid of directions, sizes and nodes.
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

    /// The grid of a planned case.
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

/// The directions that the parameter asks for.
pub fn directions(params: &Params) -> Result<Vec<CopyDirection>, Reason> {
    let word = params.text("direction")?;
    Ok(CopyDirection::ALL
        .into_iter()
        .filter(|direction| word == "auto" || word == direction.name())
        .collect())
}
