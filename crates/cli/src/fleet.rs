//! Agents of a run: on this machine, on a cluster, or simulated.

use std::collections::BTreeMap;
use std::path::Path;

use seatrial_cluster::{
    Fleet, Hello, LaunchError, Launcher, LocalLauncher, MpirunLauncher, ScriptFile, SlurmLauncher,
    SlurmRequest, SshLauncher, build_id, local_build_id,
};

use seatrial_model::profile::{NodeSet, fold};
use seatrial_model::record::{LauncherChoice, NodeOptions, option_words};
use seatrial_report::repeat_command;

use crate::error::CliError;

/// Starts agents on the nodes of `args`, or the simulated nodes of `script`.
pub fn launch(args: &NodeOptions, script: Option<&Path>) -> Result<Box<dyn Fleet>, CliError> {
    if let Some(path) = script {
        let script = ScriptFile::read(path).map_err(|error| CliError::Usage(error.to_string()))?;
        return Ok(Box::new(script.into_fleet()));
    }
    let surroundings = Surroundings::of_process();
    refuse_tasks(&surroundings)?;
    let choice = choose(args, &surroundings)?;
    let fleet: Box<dyn Fleet> = match choice {
        LauncherChoice::Local => LocalLauncher::new(local_build()?).launch()?,
        LauncherChoice::Ssh => {
            let launcher = SshLauncher::new(build()?, nodes(args));
            let launcher = args.ssh_fanout.map_or(launcher.clone(), |most| launcher.fanout(most as usize));
            let client = args.ssh.as_deref().map(|command| words("--ssh", command)).transpose()?;
            client.map_or(launcher.clone(), |client| launcher.client(client)).launch()?
        }
        LauncherChoice::Slurm => SlurmLauncher::new(build()?, slurm(args, &surroundings)).launch()?,
        LauncherChoice::Mpirun => {
            let launcher = MpirunLauncher::new(build()?, nodes(args));
            let client = args.mpirun.as_deref().map(|command| words("--mpirun", command)).transpose()?;
            client.map_or(launcher.clone(), |client| launcher.client(client)).launch()?
        }
        LauncherChoice::Other(word) => return Err(unknown(&word)),
    };
    if !args.share_hosts {
        refuse_aliases(fleet.agents())?;
    }
    Ok(fleet)
}

/// The same, with the settings of this machine below the folder `sysroot`, if one is given.
pub fn launch_below(
    args: &NodeOptions,
    script: Option<&Path>,
    sysroot: Option<&Path>,
) -> Result<Box<dyn Fleet>, CliError> {
    match sysroot {
        Some(sysroot) => Ok(LocalLauncher::new(local_build()?).sysroot(sysroot).launch()?),
        None => launch(args, script),
    }
}

/// Refuses several names of one machine (a stale address, a typo): results would be assigned to the wrong node, and a
/// pair of such nodes would measure the loopback.
fn refuse_aliases(agents: &[Hello]) -> Result<(), CliError> {
    let mut nodes: BTreeMap<(&String, &String), Vec<&str>> = BTreeMap::new();
    for Hello { node, machine, .. } in agents {
        if let (Some(host), Some(boot)) = (machine.hostname.known(), machine.boot_id.known()) {
            nodes.entry((host, boot)).or_default().push(node);
        }
    }
    let Some(((host, _), names)) = nodes.into_iter().find(|(_, names)| names.len() > 1) else {
        return Ok(());
    };
    Err(CliError::Usage(format!(
        "{} are one machine: host name {host}, same boot id. Correct the names (DNS, /etc/hosts, ssh_config) \
         or exclude the wrong ones with -x; --share-hosts treats them as separate nodes",
        fold(&names)
    )))
}

/// Environment variables of launchers.
#[derive(Clone, Debug, Default)]
struct Surroundings {
    slurm_job: Option<String>,
    slurm_nodes: Option<NodeSet>,
    /// The launcher that started this process as one of several tasks.
    task_of: Option<&'static str>,
}

impl Surroundings {
    fn of_process() -> Self {
        Self::of(|name| std::env::var(name).ok())
    }

    fn of(variable: impl Fn(&str) -> Option<String>) -> Self {
        let count = |name: &str| variable(name).and_then(|count| count.parse::<u32>().ok()).unwrap_or(1);
        // A shell of salloc may be a step of one task, which is fine.
        let task_of = if count("SLURM_STEP_NUM_TASKS") > 1 {
            Some("srun")
        } else if count("OMPI_COMM_WORLD_SIZE") > 1 || count("PMI_SIZE") > 1 {
            Some("mpirun")
        } else {
            None
        };
        let slurm_nodes = variable("SLURM_JOB_NODELIST").and_then(|nodes| nodes.parse().ok());
        Self { slurm_job: variable("SLURM_JOB_ID"), slurm_nodes, task_of }
    }
}

/// Refuses to run as one of several tasks (srun seatrial): all copies would measure against each other.
fn refuse_tasks(surroundings: &Surroundings) -> Result<(), CliError> {
    let Some(program) = surroundings.task_of else { return Ok(()) };
    let launcher = if program == "srun" { "slurm" } else { "mpirun" };
    let typed = std::env::args().skip(1);
    let words = std::iter::once("seatrial".to_owned()).chain(typed);
    Err(CliError::Usage(format!(
        "{program} started Seatrial as one of several tasks, but Seatrial starts its agents itself: run it \
         once, without {program}: {} --launcher {launcher}",
        repeat_command::line(words)
    )))
}

/// A record names a launcher that only another version has.
fn unknown(word: &str) -> CliError {
    CliError::Usage(format!(
        "the run was started with --launcher {word}, which this version does not have; choose another \
         --launcher"
    ))
}

fn choose(args: &NodeOptions, surroundings: &Surroundings) -> Result<LauncherChoice, CliError> {
    let slurm = option_words(&args.slurm);
    let asked = slurm.first();
    let choice = args.launcher.clone().unwrap_or(match (&args.nodelist, args.nodes) {
        _ if surroundings.slurm_job.is_some() || asked.is_some() => LauncherChoice::Slurm,
        (Some(_), _) => LauncherChoice::Ssh,
        (None, Some(_)) => LauncherChoice::Slurm,
        (None, None) => LauncherChoice::Local,
    });
    let contradiction = |text: String| Err(CliError::Usage(text));
    match &choice {
        LauncherChoice::Other(word) => return Err(unknown(word)),
        LauncherChoice::Slurm => {}
        _ if asked.is_some() => {
            return contradiction(format!("{} is for --launcher slurm", asked.map_or("", String::as_str)));
        }
        LauncherChoice::Local if args.nodelist.is_some() || args.nodes.is_some_and(|count| count > 1) => {
            return contradiction("--launcher local uses only this machine: leave out -w and -N".to_owned());
        }
        LauncherChoice::Ssh if args.nodelist.is_none() => {
            return contradiction("--launcher ssh needs the nodes: -w n[01-16]".to_owned());
        }
        LauncherChoice::Ssh | LauncherChoice::Mpirun | LauncherChoice::Local => {}
    }
    if let (LauncherChoice::Slurm, Some(job), Some(allocated)) =
        (&choice, &surroundings.slurm_job, &surroundings.slurm_nodes)
    {
        let asked = nodes(args);
        let outside: Vec<&str> =
            asked.iter().map(String::as_str).filter(|name| !allocated.contains(name)).collect();
        let has = allocated.names().count();
        let lacks = (!outside.is_empty()).then(|| format!("it lacks {}", fold(&outside)));
        let too_many = || args.nodes.filter(|asked| *asked as usize > has);
        let wrong = lacks.or_else(|| Some(format!("-N asks for {} nodes, it has {has}", too_many()?)));
        if let Some(wrong) = wrong {
            return contradiction(format!(
                "this shell is inside job {job} with {allocated}: {wrong}. Name nodes of the job, or start \
                 outside of it"
            ));
        }
    }
    if args.nodelist.is_some() && choice != LauncherChoice::Slurm && nodes(args).is_empty() {
        let why = if args.exclude.is_some() {
            "no node is left: -x excludes all nodes of -w"
        } else {
            "-w names no node"
        };
        return contradiction(why.to_owned());
    }
    Ok(choice)
}

/// `args` with the launcher that is the default here, so that the nodes are reached in the same way from elsewhere.
pub fn settled(args: &NodeOptions) -> NodeOptions {
    settled_in(args, &Surroundings::of_process())
}

/// `args` of an earlier run, with the launcher that was the default outside of an allocation.
pub fn settled_elsewhere(args: &NodeOptions) -> NodeOptions {
    settled_in(args, &Surroundings::default())
}

fn settled_in(args: &NodeOptions, surroundings: &Surroundings) -> NodeOptions {
    let launcher = choose(args, surroundings).ok().or_else(|| args.launcher.clone());
    NodeOptions { launcher, ..args.clone() }
}

/// Refuses `args` without nodes, before anything is started.
pub fn check(args: &NodeOptions) -> Result<(), CliError> {
    choose(args, &Surroundings::of_process()).map(drop)
}

/// The nodes named, without exclusions, limited to the requested number.
pub fn nodes(args: &NodeOptions) -> Vec<String> {
    let is_out = |name: &&str| args.exclude.as_ref().is_some_and(|out| out.contains(name));
    let listed = args.nodelist.iter().flat_map(NodeSet::names);
    let count = args.nodes.map_or(usize::MAX, |count| count as usize);
    listed.filter(|name| !is_out(name)).take(count).map(str::to_owned).collect()
}

fn slurm(args: &NodeOptions, surroundings: &Surroundings) -> SlurmRequest {
    // Inside an allocation srun asks for all of its nodes, and fails when one of them is excluded; so the others are
    // named.
    let left = || args.exclude.as_ref().and(surroundings.slurm_nodes.clone());
    let args = NodeOptions { nodelist: args.nodelist.clone().or_else(left), ..args.clone() };
    SlurmRequest {
        nodes: args.nodes,
        nodelist: if args.nodelist.is_some() { nodes(&args) } else { Vec::new() },
        exclude: args.exclude.as_ref().filter(|_| args.nodelist.is_none()).map(ToString::to_string),
        options: args.slurm,
    }
}

/// The words of a command in an option.
pub fn words(option: &str, command: &str) -> Result<Vec<String>, CliError> {
    let words = shlex::split(command).filter(|words| !words.is_empty());
    words.ok_or_else(|| CliError::Usage(format!("{option} '{command}': a quote is not closed")))
}

/// Build id of this binary, which agents must have too.
pub fn build() -> Result<String, CliError> {
    build_id(env!("CARGO_PKG_VERSION")).map_err(|error| unreadable(&error))
}

fn local_build() -> Result<String, CliError> {
    local_build_id(env!("CARGO_PKG_VERSION")).map_err(|error| unreadable(&error))
}

fn unreadable(error: &std::io::Error) -> CliError {
    let why = format!("reading its own binary: {error}");
    LaunchError::Start { node: "this machine".to_owned(), why }.into()
}

#[cfg(test)]
mod tests {
    use seatrial_cluster::PROTOCOL;
    use seatrial_model::machine::{Known, Machine};
    use seatrial_model::record::SlurmOptions;

    use super::*;

    fn chosen(args: NodeOptions, job: Option<&str>) -> Result<LauncherChoice, String> {
        let surroundings = Surroundings { slurm_job: job.map(str::to_owned), ..Surroundings::default() };
        choose(&args, &surroundings).map_err(|error| error.to_string())
    }

    fn list(nodes: &str) -> NodeOptions {
        NodeOptions { nodelist: Some(nodes.parse().expect("a node set")), ..NodeOptions::default() }
    }

    #[test]
    fn the_launcher_follows_from_the_surroundings_and_the_nodes() {
        assert_eq!(chosen(NodeOptions::default(), None), Ok(LauncherChoice::Local));
        assert_eq!(chosen(NodeOptions::default(), Some("12")), Ok(LauncherChoice::Slurm));
        assert_eq!(chosen(list("n1"), None), Ok(LauncherChoice::Ssh));
        assert_eq!(chosen(list("n1"), Some("12")), Ok(LauncherChoice::Slurm));
        assert_eq!(
            chosen(NodeOptions { nodes: Some(4), ..NodeOptions::default() }, None),
            Ok(LauncherChoice::Slurm)
        );
        let local = NodeOptions { launcher: Some(LauncherChoice::Local), ..NodeOptions::default() };
        assert_eq!(chosen(local, Some("12")), Ok(LauncherChoice::Local));
    }

    #[test]
    fn the_launcher_that_was_come_to_is_kept_whatever_decided_it() {
        let inside = Surroundings { slurm_job: Some("12".to_owned()), ..Surroundings::default() };
        let kept = |args: &NodeOptions, around: &Surroundings| settled_in(args, around).launcher;
        let counted = NodeOptions { nodes: Some(4), ..NodeOptions::default() };
        for args in [&NodeOptions::default(), &list("n1"), &counted] {
            assert_eq!(kept(args, &inside), Some(LauncherChoice::Slurm));
        }
        assert_eq!(kept(&NodeOptions::default(), &Surroundings::default()), Some(LauncherChoice::Local));
        assert_eq!(kept(&list("n1"), &Surroundings::default()), Some(LauncherChoice::Ssh));
        assert_eq!(kept(&counted, &Surroundings::default()), Some(LauncherChoice::Slurm));
    }

    #[test]
    fn options_that_contradict_each_other_are_refused() {
        let ssh = NodeOptions { launcher: Some(LauncherChoice::Ssh), ..NodeOptions::default() };
        assert!(chosen(ssh, None).unwrap_err().contains("needs the nodes"));
        let local = NodeOptions { launcher: Some(LauncherChoice::Local), ..list("n1") };
        assert!(chosen(local, None).unwrap_err().contains("only this machine"));
        let partition = NodeOptions {
            launcher: Some(LauncherChoice::Ssh),
            slurm: SlurmOptions { partition: Some("debug".to_owned()), ..SlurmOptions::default() },
            ..list("n1")
        };
        assert!(chosen(partition, None).unwrap_err().contains("--partition is for --launcher slurm"));
        let later = LauncherChoice::Other("pbs".to_owned());
        let later =
            chosen(NodeOptions { launcher: Some(later), ..NodeOptions::default() }, None).unwrap_err();
        assert!(later.contains("--launcher pbs") && later.contains("choose another"), "{later}");
        let nobody = NodeOptions { exclude: Some("n1".parse().expect("a node set")), ..list("n1") };
        assert!(chosen(nobody, None).unwrap_err().contains("no node is left"));
    }

    #[test]
    fn two_names_of_one_machine_are_refused() {
        let agent = |node: &str, host: &str, boot: &str| {
            let known = |text: &str| Known::Known(text.to_owned());
            let machine = Machine { hostname: known(host), boot_id: known(boot), ..Machine::default() };
            Hello {
                protocol: PROTOCOL,
                build: String::new(),
                node: node.to_owned(),
                machine,
                settings: vec![],
            }
        };
        let n1 = || agent("n1", "n1", "b1");
        let said = |other| refuse_aliases(&[n1(), other]).map_err(|error| error.to_string());
        assert!(
            said(agent("n2", "n1", "b1")).unwrap_err().starts_with("n[1-2] are one machine: host name n1")
        );
        // Containers of one machine, and machines installed from one image without a name.
        for fine in [agent("n2", "n2", "b1"), agent("n2", "n1", "b2")] {
            assert_eq!(said(fine), Ok(()));
        }
        let silent = Machine { hostname: Known::unknown("denied"), ..agent("n2", "n1", "b1").machine };
        assert_eq!(said(Hello { machine: silent, ..n1() }), Ok(()));
    }

    #[test]
    fn nodes_outside_of_the_allocation_are_named() {
        let inside = Surroundings {
            slurm_job: Some("12".to_owned()),
            slurm_nodes: Some("n[1-2]".parse().expect("a node set")),
            ..Surroundings::default()
        };
        let said = |args: NodeOptions| choose(&args, &inside).map_err(|error| error.to_string());
        let many = |nodes| NodeOptions { nodes: Some(nodes), ..NodeOptions::default() };
        assert!(said(list("n[1,4-5]")).unwrap_err().contains("job 12 with n[1-2]: it lacks n[4-5]"));
        assert!(said(many(3)).unwrap_err().contains("-N asks for 3 nodes, it has 2"));
        for fits in [list("n2"), many(2), NodeOptions::default()] {
            assert_eq!(said(fits), Ok(LauncherChoice::Slurm));
        }
        let elsewhere = NodeOptions { launcher: Some(LauncherChoice::Ssh), ..list("n4") };
        assert_eq!(said(elsewhere), Ok(LauncherChoice::Ssh));
    }

    #[test]
    fn nodes_are_listed_less_the_excluded_and_no_more_than_asked() {
        let exclude = Some("n2".parse().expect("a node set"));
        assert_eq!(nodes(&NodeOptions { exclude, nodes: Some(2), ..list("n[1-4]") }), ["n1", "n3"]);
    }

    #[test]
    fn of_an_allocation_those_that_are_not_left_out_are_named() {
        let exclude = Some("n2".parse().expect("a node set"));
        let args = NodeOptions { exclude, ..NodeOptions::default() };
        let inside = Surroundings {
            slurm_nodes: Some("n[1-3]".parse().expect("a node set")),
            ..Surroundings::default()
        };
        let request = slurm(&args, &inside);
        assert_eq!((request.nodelist, request.exclude), (vec!["n1".to_owned(), "n3".to_owned()], None));
        let outside = slurm(&args, &Surroundings::default());
        assert_eq!((outside.nodelist.len(), outside.exclude.as_deref()), (0, Some("n2")));
    }

    #[test]
    fn a_task_among_others_is_recognised_and_told_the_right_command() {
        let of = |set: &'static [(&'static str, &'static str)]| {
            Surroundings::of(|name| {
                set.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
            })
        };
        assert_eq!(of(&[("SLURM_JOB_ID", "7"), ("SLURM_STEP_NUM_TASKS", "1")]).task_of, None);
        let srun = of(&[("SLURM_JOB_ID", "7"), ("SLURM_STEP_NUM_TASKS", "2")]);
        assert!(refuse_tasks(&srun).unwrap_err().to_string().contains("--launcher slurm"));
        assert_eq!(of(&[("OMPI_COMM_WORLD_SIZE", "2")]).task_of, Some("mpirun"));
    }
}
