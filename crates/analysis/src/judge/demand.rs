//! Roles and how many nodes must play them.

use seatrial_model::profile::Profile;
use seatrial_model::{Subject, Verdict, VerdictRecord};

use super::JudgeInputs;
use super::scope::expect_words;

/// One record per role that too few or too many nodes play.
pub(super) fn roles<'a>(
    profile: &'a Profile,
    inputs: &'a JudgeInputs<'a>,
) -> impl Iterator<Item = VerdictRecord> + 'a {
    profile.roles.iter().filter_map(|(name, role)| {
        let players = inputs.nodes.players(std::slice::from_ref(name)).count();
        let expect = role.expect.filter(|expect| !expect.met_by(players as u64))?;
        let wanted = expect_words(expect);
        let nodes = if players == 1 { "node of the run plays" } else { "nodes of the run play" };
        let reason = format!("{players} {nodes} '{name}', {wanted} must");
        let criterion = format!("roles.{name}");
        let record = VerdictRecord::new(criterion, "", Subject::node(), Verdict::Unknown, wanted);
        Some(VerdictRecord { reason: Some(reason), ..record })
    })
}
