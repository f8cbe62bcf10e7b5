//! Aliases: one name for a benchmark with a pattern, such as `net.trunk`, or with parameters, such as `nccl.all_reduce`.

/// A name for a benchmark with a pattern or with parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Alias {
    /// `family.test`, like the id of a benchmark and different from all of these.
    pub id: &'static str,
    /// Id of the benchmark that the alias runs.
    pub bench: &'static str,
    /// Id of the pattern that pairs the nodes; none where the user chooses it.
    pub pattern: Option<&'static str>,
    /// Parameters that the name sets, as typed.
    pub params: &'static [(&'static str, &'static str)],
    /// A few words for lists.
    pub title: &'static str,
    /// What is measured and what the result tells, in a few sentences.
    pub doc: &'static str,
}

impl Alias {
    /// What it stands for: `net.tcp_stream with the pattern trunk`.
    pub fn meaning(&self) -> String {
        let pattern = self.pattern.map(|pattern| format!("the pattern {pattern}"));
        let params = self.params.iter().map(|(name, value)| format!("{name}={value}"));
        let all: Vec<String> = pattern.into_iter().chain(params).collect();
        format!("{} with {}", self.bench, all.join(" and "))
    }

    /// The parameters as values of a test.
    pub fn values(&self) -> impl Iterator<Item = (String, Vec<String>)> {
        self.params.iter().map(|(name, value)| ((*name).to_owned(), vec![(*value).to_owned()]))
    }
}
