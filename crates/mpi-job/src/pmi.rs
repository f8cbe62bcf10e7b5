//! A server of PMI-1, the protocol by which ranks of MPICH and its relatives find each other.
//!
//! Source: src/pmi/src/pmi_v1.c of MPICH 4, "simple PMI": a rank has a connection (PMI_FD) and sends one line at a time,
//! `cmd=NAME key=value ...`.

use std::collections::BTreeMap;

/// Bytes of names and values at most, as PMI-1 servers tell them.
const MOST_NAME: usize = 256;
const MOST_KEY: usize = 64;
const MOST_VALUE: usize = 1024;

/// The name of the one key-value space.
const SPACE: &str = "seatrial";

/// What becomes of a line of a rank.
#[derive(Debug, PartialEq, Eq)]
pub enum PmiAnswer {
    /// This line goes to the rank.
    Line(String),
    /// This line goes to all ranks.
    ToAll(String),
    /// The rank waits for the others.
    Wait,
    /// The rank wants the job to end with this code.
    Abort(u8),
}

/// What the ranks of a job tell each other.
pub struct PmiServer {
    ranks: usize,
    values: BTreeMap<String, String>,
    waiting: usize,
}

impl PmiServer {
    /// Of so many nodes with as many ranks each, block by block.
    pub fn new(nodes: usize, of_node: usize) -> Self {
        // From node 0 on, as in flux-core and Hydra.
        let mapping = ("PMI_process_mapping".to_owned(), format!("(vector,(0,{nodes},{of_node}))"));
        Self { ranks: nodes * of_node, values: BTreeMap::from([mapping]), waiting: 0 }
    }

    /// The answer to a line.
    pub fn answer(&mut self, line: &str) -> PmiAnswer {
        let words: BTreeMap<&str, &str> =
            line.split_whitespace().filter_map(|word| word.split_once('=')).collect();
        let word = |name: &str| words.get(name).copied().unwrap_or_default();
        let one = |text: String| PmiAnswer::Line(text);
        match word("cmd") {
            "init" => one("cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0".to_owned()),
            "get_maxes" => one(format!(
                "cmd=maxes rc=0 kvsname_max={MOST_NAME} keylen_max={MOST_KEY} vallen_max={MOST_VALUE}"
            )),
            "get_appnum" => one("cmd=appnum rc=0 appnum=0".to_owned()),
            "get_universe_size" => one(format!("cmd=universe_size rc=0 size={}", self.ranks)),
            "get_my_kvsname" => one(format!("cmd=my_kvsname rc=0 kvsname={SPACE}")),
            "put" => {
                self.values.insert(word("key").to_owned(), word("value").to_owned());
                one("cmd=put_result rc=0 msg=success".to_owned())
            }
            "get" => one(match self.values.get(word("key")) {
                Some(value) => format!("cmd=get_result rc=0 msg=success value={value}"),
                None => "cmd=get_result rc=-1 msg=key_not_found value=unknown".to_owned(),
            }),
            "barrier_in" => {
                self.waiting += 1;
                if self.waiting < self.ranks {
                    return PmiAnswer::Wait;
                }
                self.waiting = 0;
                PmiAnswer::ToAll("cmd=barrier_out rc=0".to_owned())
            }
            "finalize" => one("cmd=finalize_ack rc=0".to_owned()),
            "abort" => PmiAnswer::Abort(word("exitcode").parse().unwrap_or(1)),
            other => one(format!("cmd={other}_result rc=-1 msg=not_supported")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(server: &mut PmiServer, asked: &str) -> String {
        match server.answer(asked) {
            PmiAnswer::Line(line) => line,
            other => panic!("{asked}: {other:?}"),
        }
    }

    #[test]
    fn a_rank_learns_its_job_and_what_others_put() {
        let mut server = PmiServer::new(2, 1);
        let init = line(&mut server, "cmd=init pmi_version=1 pmi_subversion=1");
        assert_eq!(init, "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0");
        assert_eq!(line(&mut server, "cmd=get_universe_size"), "cmd=universe_size rc=0 size=2");
        let mapping = line(&mut server, "cmd=get kvsname=seatrial key=PMI_process_mapping");
        assert!(mapping.ends_with("value=(vector,(0,2,1))"), "{mapping}");
        assert!(line(&mut server, "cmd=get kvsname=seatrial key=card-1").contains("rc=-1"));
        // A value may contain an equals sign.
        line(&mut server, "cmd=put kvsname=seatrial key=card-1 value=host#port=4711$");
        let card = line(&mut server, "cmd=get kvsname=seatrial key=card-1");
        assert_eq!(card, "cmd=get_result rc=0 msg=success value=host#port=4711$");
        assert!(line(&mut server, "mcmd=spawn").contains("rc=-1"));
    }

    #[test]
    fn a_barrier_ends_when_all_have_come_and_begins_again() {
        let mut server = PmiServer::new(2, 1);
        for _ in 0..2 {
            assert_eq!(server.answer("cmd=barrier_in"), PmiAnswer::Wait);
            assert_eq!(server.answer("cmd=barrier_in"), PmiAnswer::ToAll("cmd=barrier_out rc=0".to_owned()));
        }
        assert_eq!(server.answer("cmd=abort exitcode=7"), PmiAnswer::Abort(7));
    }
}
