//! Plans on made-up machines, figures of made-up samples, and workers run for real on a toy.

mod figures;
mod plans;
mod work;
