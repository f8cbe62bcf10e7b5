//! The environment of a job: what steers the library is kept and recorded, what an outer job left is removed.

use std::collections::BTreeMap;
use std::process::Command;

use super::hosts::JobHosts;

/// Variables that steer a library, by how their names begin.
const STEERING: [&str; 10] =
    ["OMPI_MCA_", "PMIX_MCA_", "PRTE_MCA_", "UCX_", "I_MPI_", "FI_", "MPICH_", "MPIR_CVAR_", "MV2_", "MVP_"];

/// Variables of launchers and batch systems, by how their names begin. With these an inner job would join the outer one, or
/// take the nodes of its allocation.
const OUTER: [&str; 19] = [
    "OMPI_",
    "PMIX_",
    "PRTE_",
    "PMI_",
    "PMI2_",
    "MPI_",
    "MPIEXEC_",
    "HYDRA_",
    "HYDI_",
    "HYD_",
    "SLURM_",
    "PBS_",
    "LSB_",
    "LSF_",
    "SGE_",
    "PE_HOSTFILE",
    "LOADL_",
    "ALPS_",
    "PALS_",
];

/// What an outer `mpirun` of Open MPI sets among the variables that users set, and Intel's `mpiexec` among its own.
const OF_OUTER_LAUNCHER: [&str; 9] = [
    "OMPI_MCA_orte_",
    "OMPI_MCA_ess",
    "OMPI_MCA_pmix",
    "OMPI_MCA_initial_wdir",
    "OMPI_MCA_shmem_RUNTIME_QUERY_hint",
    "PRTE_MCA_prte_",
    "PRTE_MCA_ess",
    "I_MPI_HYDRA_",
    "I_MPI_INFO_",
];

fn starts_with_one(name: &str, all: &[&str]) -> bool {
    all.iter().any(|start| name.starts_with(start))
}

fn steers(name: &str) -> bool {
    starts_with_one(name, &STEERING) && !starts_with_one(name, &OF_OUTER_LAUNCHER)
}

/// Where Slurm's programs find the cluster.
const OF_CLUSTER: &str = "SLURM_CONF";

fn is_of_outer_job(name: &str) -> bool {
    !steers(name)
        && name != OF_CLUSTER
        && (starts_with_one(name, &OUTER) || starts_with_one(name, &OF_OUTER_LAUNCHER))
}

/// The variables of this process that steer the library and that its ranks get.
pub fn kept() -> BTreeMap<String, String> {
    steering(
        std::env::vars_os()
            .map(|(name, value)| (name.to_string_lossy().into_owned(), value.to_string_lossy().into_owned())),
    )
}

fn steering(all: impl Iterator<Item = (String, String)>) -> BTreeMap<String, String> {
    all.filter(|(name, _)| steers(name)).collect()
}

/// Removes the variables of an outer job from what `command` gets; returns their names.
pub fn scrub(command: &mut Command) -> Vec<String> {
    let names = std::env::vars_os().map(|(name, _)| name);
    let (mut removed, outer) = (Vec::new(), names.filter(|name| is_of_outer_job(&name.to_string_lossy())));
    for name in outer {
        command.env_remove(&name);
        removed.push(name.to_string_lossy().into_owned());
    }
    removed.sort_unstable();
    removed
}

/// The variables that keep the library of a job on the measured network, as far as the site has not set them.
pub fn network_variables(hosts: &JobHosts) -> BTreeMap<&'static str, String> {
    if hosts.are_several() {
        network(hosts, |name| std::env::var_os(name).is_some())
    } else {
        BTreeMap::new()
    }
}

fn network(hosts: &JobHosts, is_set: impl Fn(&str) -> bool) -> BTreeMap<&'static str, String> {
    let mut found = BTreeMap::new();
    let mut choose = |names: &[&'static str], others: &[&str], value: &Option<String>| {
        if let Some(value) = value.as_ref().filter(|_| !names.iter().chain(others).any(|name| is_set(name))) {
            found.extend(names.iter().map(|name| (*name, value.clone())));
        }
    };
    let of_tcp = ["OMPI_MCA_btl_tcp_if_exclude"];
    choose(&["OMPI_MCA_btl_tcp_if_include"], &of_tcp, &hosts.network);
    choose(&["OMPI_MCA_oob_tcp_if_include"], &["OMPI_MCA_oob_tcp_if_exclude"], &hosts.network);
    choose(&["PRTE_MCA_prte_if_include"], &["PRTE_MCA_prte_if_exclude"], &hosts.network);
    choose(&["FI_TCP_IFACE"], &[], &hosts.interface);
    choose(&["FI_SOCKETS_IFACE"], &[], &hosts.interface);
    // It would keep UCX from the adapter.
    if !hosts.has_hca {
        choose(&["UCX_NET_DEVICES"], &[], &hosts.interface);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_steers_the_library_is_kept_and_what_an_outer_job_left_is_removed() {
        for name in ["OMPI_MCA_btl", "UCX_TLS", "I_MPI_FABRICS", "FI_PROVIDER", "PMIX_MCA_gds", "MPICH_CH4_X"]
        {
            assert!(steers(name) && !is_of_outer_job(name), "{name}");
        }
        for name in [
            "OMPI_COMM_WORLD_RANK",
            "OMPI_MCA_orte_hnp_uri",
            "OMPI_MCA_ess_base_jobid",
            "PMIX_RANK",
            "PMI_FD",
            "SLURM_JOB_ID",
            "PBS_NODEFILE",
            "MPI_LOCALRANKID",
            "HYDI_CONTROL_FD",
            "I_MPI_HYDRA_BOOTSTRAP",
        ] {
            assert!(is_of_outer_job(name) && !steers(name), "{name}");
        }
        for name in ["PATH", "LD_LIBRARY_PATH", "HOME", "SLURM_CONF", "SEATRIAL_MPI", "OMP_NUM_THREADS"] {
            assert!(!is_of_outer_job(name) && !steers(name), "{name}");
        }
    }

    #[test]
    fn the_record_has_the_values() {
        let all = [("UCX_TLS", "tcp"), ("HOME", "/"), ("PMI_RANK", "3")];
        let kept = steering(all.map(|(name, value)| (name.to_owned(), value.to_owned())).into_iter());
        assert_eq!(kept, BTreeMap::from([("UCX_TLS".to_owned(), "tcp".to_owned())]));
    }

    #[test]
    fn the_library_is_kept_on_the_measured_network_unless_the_site_has_chosen() {
        let hosts = JobHosts {
            interface: Some("eth0".to_owned()),
            network: Some("10.0.0.0/24".to_owned()),
            ..JobHosts::default()
        };
        let all = network(&hosts, |_| false);
        assert_eq!(all["OMPI_MCA_btl_tcp_if_include"], "10.0.0.0/24");
        assert_eq!((all["UCX_NET_DEVICES"].as_str(), all["FI_TCP_IFACE"].as_str()), ("eth0", "eth0"));
        let chosen =
            network(&hosts, |name| name == "OMPI_MCA_btl_tcp_if_exclude" || name == "UCX_NET_DEVICES");
        let has = |name| chosen.contains_key(name);
        assert!(!has("OMPI_MCA_btl_tcp_if_include") && !has("UCX_NET_DEVICES") && has("FI_TCP_IFACE"));
        let with_hca = network(&JobHosts { has_hca: true, ..hosts }, |_| false);
        assert!(!with_hca.contains_key("UCX_NET_DEVICES"), "UCX may take the adapter");
        assert!(network(&JobHosts::default(), |_| false).is_empty(), "no network is known");
    }
}
