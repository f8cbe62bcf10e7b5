//! Names, and the nearest one to a typo.

/// The candidate nearest to `typed`, if one is near enough: a Damerau-Levenshtein distance of at most a third of the
/// length (at least 1), or a candidate that contains `typed`. Case, hyphens and underscores do not count: `allpairs`
/// is `all-pairs`.
pub fn nearest<'a>(typed: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let plain = |text: &str| text.to_lowercase().replace(['-', '_'], "");
    let lower = plain(typed);
    candidates
        .into_iter()
        .map(|candidate| {
            let other = plain(candidate);
            if lower == other {
                return (0, candidate);
            }
            let held =
                lower.len() >= 3 && (other.contains(&lower) || lower.contains(&other) && other.len() >= 3);
            (if held { 1 } else { strsim::damerau_levenshtein(&lower, &other) }, candidate)
        })
        .filter(|(distance, candidate)| *distance <= (candidate.len().max(typed.len()) / 3).max(1))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Common names of benchmark families, and their names here.
const FAMILIES: [(&str, &str); 13] = [
    ("memory", "mem"),
    ("ram", "mem"),
    ("network", "net"),
    ("ethernet", "net"),
    ("tcp", "net"),
    ("disk", "storage"),
    ("disks", "storage"),
    ("fs", "storage"),
    ("filesystem", "storage"),
    ("infiniband", "rdma"),
    ("roce", "rdma"),
    ("ib", "rdma"),
    ("gpus", "gpu"),
];

/// Names of other tools, and the benchmark that measures what they measure.
pub const TOOLS: [(&[&str], &str); 23] = [
    (&["stream", "mbw"], "mem.bandwidth"),
    (&["lmbench", "lat_mem_rd", "mlc"], "mem.latency"),
    (&["iperf", "iperf2", "iperf3", "nuttcp"], "net.tcp_stream"),
    (&["netperf", "ping", "qperf", "sockperf"], "net.rr"),
    (&["netpipe", "nptcp"], "net.pingpong"),
    (&["ib_write_bw"], "rdma.write_bw"),
    (&["ib_read_bw"], "rdma.read_bw"),
    (&["ib_send_bw"], "rdma.send_bw"),
    (&["ib_write_lat"], "rdma.write_lat"),
    (&["ib_read_lat"], "rdma.read_lat"),
    (&["ib_send_lat"], "rdma.send_lat"),
    (&["ib_atomic_bw"], "rdma.atomic"),
    (&["dd", "fio", "ior", "iozone"], "storage.file"),
    (&["hdparm"], "storage.raw"),
    (&["mdtest"], "storage.metadata"),
    (&["cp"], "storage.copy"),
    (&["scp", "rsync", "bbcp", "rclone"], "transfer.move"),
    (&["bandwidthtest", "nvbandwidth"], "gpu.host_copy"),
    (&["nccl-tests", "all_reduce_perf"], "nccl.collective"),
    (&["cublaslt-gemm", "gemm"], "gpu.compute"),
    (&["gpu-burn", "gpu-fryer"], "gpu.burn"),
    (&["cuda_memtest", "memtestg80"], "gpu.memory_test"),
    (&["p2pbandwidthlatencytest"], "gpu.peer_copy"),
];

/// The `ids` of the family `typed`, by its name or a common one: `memory` is `mem.bandwidth`, `mem.latency` and
/// others; `None` when `typed` is not a family.
pub fn family<'a>(typed: &str, ids: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let lower = typed.to_lowercase();
    let name = FAMILIES.iter().find(|(word, _)| *word == lower).map_or(lower.as_str(), |(_, name)| name);
    ids.into_iter().filter(|id| id.split_once('.').is_some_and(|(family, _)| family == name)).collect()
}

/// Tail of a message about an unknown benchmark: what measures the same as another tool, the benchmarks of a family, or
/// the nearest name.
pub fn benchmark_meant(typed: &str, ids: &[&str]) -> String {
    let lower = typed.to_lowercase();
    if let Some((_, id)) =
        TOOLS.iter().find(|(tools, id)| tools.contains(&lower.as_str()) && ids.contains(id))
    {
        return format!("; {id} measures what {typed} does");
    }
    match family(typed, ids.iter().copied()).as_slice() {
        [] => did_you_mean(&nearest(typed, ids.iter().copied()).map(str::to_owned)),
        all => format!("; {typed}: {}; try '{}'", all.join(", "), all[0]),
    }
}

/// Tail of a message about an unknown name: `; did you mean 'X'?`, or empty.
pub fn did_you_mean(nearest: &Option<String>) -> String {
    nearest.as_ref().map(|name| format!("; did you mean '{name}'?")).unwrap_or_default()
}

/// Serialises a type as the text of its `Display`, and reads it by its `FromStr`.
#[macro_export]
#[doc(hidden)]
macro_rules! text_serde {
    ($name:ty, $description:literal) => {
        impl ::serde::Serialize for $name {
            fn serialize<S: ::serde::Serializer>(&self, serializer: S) -> ::core::result::Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> ::serde::Deserialize<'de> for $name {
            fn deserialize<D: ::serde::Deserializer<'de>>(deserializer: D) -> ::core::result::Result<Self, D::Error> {
                let text = <::std::borrow::Cow<'de, str> as ::serde::Deserialize>::deserialize(deserializer)?;
                text.parse().map_err(::serde::de::Error::custom)
            }
        }

        impl ::schemars::JsonSchema for $name {
            fn schema_name() -> ::std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut ::schemars::SchemaGenerator) -> ::schemars::Schema {
                ::schemars::json_schema!({ "type": "string", "description": $description })
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typo_finds_its_word() {
        let words = ["mem.bandwidth", "mem.latency", "net.rr"];
        assert_eq!(nearest("mem.bandwith", words), Some("mem.bandwidth"));
        assert_eq!(nearest("bandwidth", words), Some("mem.bandwidth"));
        assert_eq!(nearest("gpu.peer_copy", words), None);
    }

    #[test]
    fn hyphens_and_underscores_are_not_what_a_name_is_known_by() {
        let patterns = ["pair", "all-pairs", "alone"];
        assert_eq!(nearest("allpairs", patterns), Some("all-pairs"));
        assert_eq!(nearest("all_pairs", patterns), Some("all-pairs"));
        assert_eq!(nearest("pairs", patterns), Some("pair"));
        assert_eq!(nearest("net.tcpstream", ["net.tcp_stream", "net.udp_stream"]), Some("net.tcp_stream"));
    }

    #[test]
    fn a_family_is_told_with_all_that_is_in_it() {
        let ids = ["gpu.memory", "mem.bandwidth", "mem.latency", "net.rr", "rdma.read_bw"];
        assert_eq!(
            benchmark_meant("memory", &ids),
            "; memory: mem.bandwidth, mem.latency; try 'mem.bandwidth'"
        );
        assert_eq!(family("net", ids), ["net.rr"]);
        assert_eq!(family("InfiniBand", ids), ["rdma.read_bw"]);
        assert_eq!(benchmark_meant("mem.latncy", &ids), "; did you mean 'mem.latency'?");
        assert_eq!(benchmark_meant("quantum", &ids), "");
    }

    #[test]
    fn another_tool_leads_to_the_benchmark_that_measures_the_same() {
        let ids = ["mem.bandwidth", "net.tcp_stream", "storage.file"];
        assert_eq!(benchmark_meant("STREAM", &ids), "; mem.bandwidth measures what STREAM does");
        assert_eq!(benchmark_meant("fio", &ids), "; storage.file measures what fio does");
        assert_eq!(benchmark_meant("mdtest", &ids), "", "no such benchmark here");
    }
}
