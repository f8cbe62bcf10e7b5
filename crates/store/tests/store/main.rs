//! The store from outside: runs, kills, the index, and environments that refuse.

mod common;
mod environment;
mod index;
mod kill;
mod run;
