//! Who asks whom.

use seatrial_model::{
    About, Case, Cause, Limit, Limits, Nanos, Params, Place, Reason, Seat, Site, SiteNode, Subject,
};

use crate::common::{self, seats};

/// One case for the first two nodes of the site: which two these are is the pattern's decision. A site of one node talks
/// to itself over the loopback, which measures the protocol stack without a wire.
pub fn plan(about: &About, params: &Params, site: &Site) -> Result<Vec<Case>, Reason> {
    let (client, server) = match site.nodes.as_slice() {
        [] => return Err(Reason::new(Cause::Inapplicable, "there is no node to measure on")),
        [one] => (one, one),
        [one, other, ..] => (one, other),
    };
    let alone = client.name == server.name;
    let budget = common::budget(params)?;
    let own = seats(&client.machine)?;
    let others = seats(&server.machine)?;
    let interface = params.text("interface").unwrap_or("auto");
    let end = |node: &SiteNode| {
        if interface == "auto" { node.name.clone() } else { format!("{}/{interface}", node.name) }
    };
    let subject = if alone {
        Subject::device("nic", "lo")
    } else {
        format!("{}->{}", end(client), end(server)).parse().unwrap_or_else(|_| Subject::node())
    };
    if alone && interface != "auto" {
        let text =
            "one node by itself talks over the loopback: leave out -p interface=, or name two nodes with -w";
        return Err(Reason::new(Cause::Inapplicable, text));
    }
    let mut case = Case::new(about, &client.name, subject.clone(), params, budget);
    if !alone {
        case.nodes.push(server.name.clone());
        // The id tells all nodes of the case.
        case = case.in_group(about, about.id);
    }
    case.facts.set("kind", if alone { "loopback" } else { "pair" });
    let response = params.bytes("response").ok().flatten().or(params.bytes("request").ok().flatten());
    if let Some(bytes) = response {
        case.chosen.set("response", bytes);
    }
    // Each end on a core of its own; a machine of one core shares it.
    let seat = |seats: &[Seat], at: usize| vec![seats[at.min(seats.len() - 1)]];
    let place = |part: &str, index, node: &SiteNode, seats| Place {
        part: part.to_owned(),
        index,
        node: node.name.clone(),
        seats,
    };
    case.places = vec![
        place("client", 0, client, seat(&own, 0)),
        place("server", 1, server, seat(&others, usize::from(alone))),
    ];
    case.budget.overhead = Nanos::millis(150);
    Ok(vec![case])
}

pub fn limits(about: &About) -> Limits {
    let reason =
        "no part of the way states how long it takes: compare with other pairs, or with the loopback";
    let limit = |metric: &str| (metric.to_owned(), Limit::Unknown { reason: reason.to_owned() });
    about.metrics.iter().map(|metric| limit(metric.name)).collect()
}
