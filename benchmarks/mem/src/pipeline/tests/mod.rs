//! Plans on invented machines, metrics of invented samples, and real workers on a small scenario.

mod figures;
mod plans;
mod work;
