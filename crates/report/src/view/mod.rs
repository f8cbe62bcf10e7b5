//! Views of a record: tables, series, findings and their sentences, which the terminal and the page render.

pub mod actions;
pub mod answers;
pub mod cases;
pub mod criteria;
pub mod differences;
pub mod factors;
pub mod findings;
pub mod headline;
pub mod map;
pub mod matrix;
pub mod node_parts;
pub mod nodes;
pub mod numbers;
pub mod over_nodes;
pub mod pairs;
pub mod parts;
pub mod per_price;
pub mod prolonged;
pub mod remedies;
pub mod series;
pub mod settings;
pub mod shade;
pub mod side_by_side;
pub mod source_tables;
pub mod sweep;
pub mod table;
