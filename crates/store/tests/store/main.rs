//! The store from outside: runs, kills, lists, and environments that refuse.

mod common;
mod environment;
mod history;
mod kill;
mod run;
