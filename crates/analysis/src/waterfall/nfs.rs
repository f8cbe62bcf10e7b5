//! Where the time of requests to an NFS server passes.

use seatrial_model::Hold;
use seatrial_model::record::CaseRecord;

use crate::nfs::served;

/// The shares of the server, of the client's queue and of requests that are sent again; of several nodes those of the one whose
/// requests take longest.
pub(super) fn holds(case: &CaseRecord) -> Vec<Hold> {
    let all = served(case);
    let Some(served) = all.iter().max_by(|one, other| one.shares().0.total_cmp(&other.shares().0)) else {
        return Vec::new();
    };
    let (server, queue, rest) = served.shares();
    let hold = |what: &str, share: f64, source: &str| Hold {
        what: what.to_owned(),
        share,
        source: format!("{source} of /proc/self/mountstats"),
        ..Hold::default()
    };
    let mut holds = vec![
        // Data are on the way meanwhile.
        Hold { moves_data: true, ..hold("NFS server answers requests", server, "round trips") },
        hold("NFS requests wait in the client's queue", queue, "queue times"),
    ];
    if served.sent_again() > 0 {
        holds.push(hold(
            "NFS requests wait to be sent again",
            rest,
            "execution times beyond queue and round trip",
        ));
    }
    holds.retain(|hold| hold.share > 0.0);
    holds
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nfs::fixture::written;

    #[test]
    fn server_and_queue_are_told_and_sending_again_where_it_happened() {
        let told = |case: &CaseRecord| -> Vec<(String, f64)> {
            holds(case).into_iter().map(|hold| (hold.what, (100.0 * hold.share).round())).collect()
        };
        let [server, queue] =
            ["NFS server answers requests", "NFS requests wait in the client's queue"].map(str::to_owned);
        assert_eq!(told(&written("n1", 17, 0)), [(server, 85.0), (queue, 10.0)]);
        let mut case = written("n1", 17, 3);
        let probes = case.evidence.get_mut("probes").expect("probes");
        probes["n1"]["nfs"]["counts"]["execute_ms WRITE 10.78.1.1:/srv /srv/shared"] = 2000.into();
        let last = told(&case).pop();
        assert_eq!(last, Some(("NFS requests wait to be sent again".to_owned(), 5.0)));
        case.subject = "fs:/scratch".parse().expect("a subject");
        assert_eq!(told(&case), []);
    }
}
