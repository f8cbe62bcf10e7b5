//! Roles given on the command line.

use seatrial_model::name::{did_you_mean, nearest};
use seatrial_model::profile::{NodeSet, Profile, fold};

use crate::error::CliError;

/// Sets the nodes of roles in `profile` to those in `typed` (`head=n1`). The run stores the changed profile.
pub fn give(profile: &mut Profile, typed: &[String]) -> Result<(), CliError> {
    for text in typed {
        let usage = |why: String| CliError::Usage(format!("--role {text}: {why}"));
        let (name, nodes) = text
            .split_once('=')
            .ok_or_else(|| usage("write it as ROLE=NODES, for example head=n1".to_owned()))?;
        let nodes: NodeSet = nodes.parse().map_err(|error| usage(format!("{error}")))?;
        let names: Vec<String> = profile.roles.keys().cloned().collect();
        let Some(role) = profile.roles.get_mut(name) else {
            let near = nearest(name, names.iter().map(String::as_str)).map(str::to_owned);
            let known = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
            let why = format!(
                "profile {} has no role '{name}' (it has {known}){}",
                profile.id,
                did_you_mean(&near)
            );
            return Err(usage(why));
        };
        role.nodes = nodes;
    }
    Ok(())
}

/// Refuses roles whose nodes are not all among `nodes`, those of the run.
pub fn are_here(typed: &[String], nodes: &[String]) -> Result<(), CliError> {
    for text in typed {
        // `give` has refused what does not parse.
        let Some(Ok(given)) = text.split_once('=').map(|(_, nodes)| nodes.parse::<NodeSet>()) else {
            continue;
        };
        let missing: Vec<&str> =
            given.names().filter(|name| !nodes.iter().any(|node| node == name)).collect();
        if !missing.is_empty() {
            let (missing, is) = (fold(&missing), if missing.len() == 1 { "is" } else { "are" });
            let run = fold(nodes);
            let why = format!("{missing} {is} not among the nodes of the run ({run}); add nodes with -w");
            return Err(CliError::Usage(format!("--role {text}: {why}")));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use seatrial_model::profile::Role;

    fn profile() -> Profile {
        let roles = [("head".to_owned(), Role::default()), ("production".to_owned(), Role::default())];
        Profile { id: "p".to_owned(), roles: roles.into(), ..Profile::default() }
    }

    #[test]
    fn the_command_line_names_the_players() {
        let mut profile = profile();
        give(&mut profile, &["head=n1".to_owned(), "production=n[2-4]".to_owned()]).expect("given");
        assert_eq!(profile.roles["production"].nodes.names().count(), 3);
    }

    #[test]
    fn a_role_of_nodes_that_are_not_in_the_run_is_refused_and_names_them() {
        let nodes = ["n1", "n2"].map(str::to_owned);
        are_here(&["head=n1".to_owned(), "production=n[1-2]".to_owned()], &nodes).expect("all are here");
        let refused = are_here(&["production=n[2-4]".to_owned()], &nodes).unwrap_err().to_string();
        assert!(refused.contains("n[3-4] are not among the nodes of the run (n[1-2])"), "{refused}");
    }

    #[test]
    fn a_role_that_is_not_there_is_refused_with_the_nearest() {
        let refused = |text: &str| give(&mut profile(), &[text.to_owned()]).unwrap_err().to_string();
        assert!(refused("haed=n1").contains("did you mean 'head'?"));
        assert!(refused("head").contains("ROLE=NODES"));
        assert!(refused("head=n[").contains("bracket"));
    }
}
