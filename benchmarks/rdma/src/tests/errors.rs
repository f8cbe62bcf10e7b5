//! Failing requests on fake cards: the outcome is the first error, not one of its consequences.

use super::rack::{Rack, case};

const BOTH: [(&str, &str); 1] = [("direction", "both")];

fn texts(words: &str, id: &str, changed: &[(&str, &str)]) -> Vec<String> {
    let errors = Rack::new(words).errors(&case(id, changed));
    errors.into_iter().map(|error| error.text).collect()
}

#[test]
fn memory_of_the_peer_that_may_not_be_reached_is_the_error_and_not_what_is_flushed_after_it() {
    for (id, changed) in [
        ("rdma.write_bw", &[][..]),
        ("rdma.send_bw", &BOTH[..]),
        ("rdma.read_lat", &[][..]),
        ("rdma.send_lat", &[][..]),
        ("rdma.atomic", &[][..]),
    ] {
        // The card flushes receives before it reports the error of the send.
        let told = texts("fail=100 status=10", id, changed);
        let first = told.iter().find(|text| text.contains("IBV_WC_REM_ACCESS_ERR"));
        assert!(first.is_some_and(|text| text.contains("wrong key, range")), "{id}: {told:?}");
    }
}

#[test]
fn a_message_that_is_longer_than_its_receive_is_told_by_both_ends_each_in_its_way() {
    for (id, changed) in [("rdma.send_bw", &BOTH[..]), ("rdma.send_lat", &[][..])] {
        let told = texts("short=50", id, changed);
        assert_eq!(told.len(), 2, "{id}: {told:?}");
        assert!(!told.iter().any(|text| text.contains("FLUSH")), "{id}: {told:?}");
        for name in ["IBV_WC_LOC_LEN_ERR", "IBV_WC_REM_INV_REQ_ERR"] {
            assert_eq!(told.iter().filter(|text| text.contains(name)).count(), 1, "{id}: {told:?}");
        }
    }
}
