//! Trials that need a lab, for all test programs that have one.

use libtest_mimic::Trial;
use xtask::{packages, workspace};

/// A trial that fails by panicking, and says so when it cannot look.
#[expect(clippy::print_stdout, reason = "`cargo xtask test` counts these lines")]
pub fn trial(name: &str, test: fn()) -> Trial {
    Trial::test(name, move || {
        match obstacle() {
            Some(why) if workspace::is_ci() => return Err(format!("CI has to have a lab: {why}").into()),
            // One thread at a time, the name of the trial stands on the line already.
            Some(why) => println!("\nskipped: {why}"),
            None => test(),
        }
        Ok(())
    })
}

/// Why there can be no lab here.
fn obstacle() -> Option<String> {
    if !rustix::process::geteuid().is_root() {
        return Some("the lab needs root".to_owned());
    }
    let missing =
        packages::missing_now(packages::LAB).into_iter().chain(packages::missing_now(packages::LAB_TESTS));
    let missing: Vec<&str> = missing.map(|package| package.name).collect();
    if missing.is_empty() { None } else { Some(format!("the lab needs {}", missing.join(", "))) }
}
