//! The store from outside: runs, kills, the list of runs, and environments that refuse.

mod common;
mod environment;
mod history;
mod kill;
mod run;
