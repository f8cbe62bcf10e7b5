//! CPUs and nodes of a regular machine.

use super::Tree;

/// A machine of equal sockets, nodes, cores and threads, with first threads numbered before second ones.
pub struct Shape {
    pub sockets: u32,
    pub cores_a_socket: u32,
    pub threads_a_core: u32,
    pub nodes_a_socket: u32,
    pub cores_an_l3: u32,
    /// Level 1 (data and instruction alike), 2 and 3, in KiB.
    pub cache_kib: [u32; 3],
    pub node_kib: u64,
    pub offline: &'static [u32],
}

impl Shape {
    fn cores(&self) -> u32 {
        self.sockets * self.cores_a_socket
    }

    fn cpus(&self) -> u32 {
        self.cores() * self.threads_a_core
    }

    fn online(&self, cpu: u32) -> bool {
        !self.offline.contains(&cpu)
    }

    /// The list of online CPUs whose core divided by `cores` is the same.
    fn sharing(&self, cpu: u32, cores: u32) -> String {
        let group = |cpu: u32| cpu % self.cores() / cores;
        let same = (0..self.cpus()).filter(|&other| group(other) == group(cpu) && self.online(other));
        same.map(|id| id.to_string()).collect::<Vec<_>>().join(",")
    }

    pub(super) fn add_to(&self, tree: &Tree) {
        let last = self.cpus() - 1;
        let online: Vec<String> =
            (0..=last).filter(|&cpu| self.online(cpu)).map(|cpu| cpu.to_string()).collect();
        tree.add("/sys/devices/system/cpu/present", format!("0-{last}\n"));
        tree.add("/sys/devices/system/cpu/online", online.join(",") + "\n");
        for cpu in (0..=last).filter(|&cpu| self.online(cpu)) {
            self.add_cpu(tree, cpu);
        }
        let nodes = self.sockets * self.nodes_a_socket;
        for node in 0..nodes {
            self.add_node(tree, node, nodes);
        }
    }

    fn add_cpu(&self, tree: &Tree, cpu: u32) {
        let folder = format!("/sys/devices/system/cpu/cpu{cpu}");
        let socket = cpu % self.cores() / self.cores_a_socket;
        tree.add(&format!("{folder}/topology/physical_package_id"), socket.to_string());
        tree.add(&format!("{folder}/topology/thread_siblings_list"), self.sharing(cpu, 1));
        let [l1, l2, l3] = self.cache_kib;
        let caches = [
            (1, "Data", l1, 1),
            (1, "Instruction", l1, 1),
            (2, "Unified", l2, 1),
            (3, "Unified", l3, self.cores_an_l3),
        ];
        for (index, (level, kind, kib, cores)) in caches.into_iter().enumerate() {
            let cache = format!("{folder}/cache/index{index}");
            tree.add(&format!("{cache}/level"), level.to_string());
            tree.add(&format!("{cache}/type"), kind);
            tree.add(&format!("{cache}/size"), format!("{kib}K\n"));
            tree.add(&format!("{cache}/coherency_line_size"), "64\n");
            tree.add(&format!("{cache}/shared_cpu_list"), self.sharing(cpu, cores));
        }
    }

    fn add_node(&self, tree: &Tree, node: u32, nodes: u32) {
        let folder = format!("/sys/devices/system/node/node{node}");
        let cores_a_node = self.cores_a_socket / self.nodes_a_socket;
        let distance = |other: u32| match other {
            _ if other == node => "10",
            _ if other / self.nodes_a_socket == node / self.nodes_a_socket => "12",
            _ => "21",
        };
        let distances: Vec<&str> = (0..nodes).map(distance).collect();
        let kib = self.node_kib;
        tree.add(&format!("{folder}/cpulist"), self.sharing(node * cores_a_node, cores_a_node));
        tree.add(&format!("{folder}/distance"), distances.join(" "));
        tree.add(
            &format!("{folder}/meminfo"),
            format!(
                "Node {node} MemTotal: {kib} kB\nNode {node} MemFree: {} kB\nNode {node} Active(file): 2000 kB\n\
                 Node {node} Inactive(file): 4000 kB\nNode {node} SReclaimable: 1000 kB\n",
                kib / 10 * 9
            ),
        );
    }
}
