//! `versus mpi`: the MPI benchmarks against the OSU micro-benchmarks and Intel's MPI benchmarks (IMB), with the library that these
//! were built with.
//!
//! Both sides have the same library, launcher, ranks, CPUs and sizes. Each work has two rows: in one both sides measure for
//! about a second, ours by time and OSU's by a count that takes as long; in the other ours repeats the counts that OSU's
//! has without options. `osu_init` has no counts. OSU tells means, so ours is the mean of its turns. Built without options OSU prints two digits behind
//! the point, 3 % of a short latency; the message that asks for OSU names the options.

mod osu;

use anyhow::Result;
use seatrial_model::Unit;
use seatrial_stats::Better;

use super::peer::{AUTOTOOLS, Peer};
use super::{Area, Figure, Hardware, Row, ours};
use osu::{Setup, setup};

/// Built by the `mpicc` that is found first.
const IMB: Peer = Peer {
    name: "imb",
    area: "mpi",
    url: "https://github.com/intel/mpi-benchmarks",
    commit: "46e8757a920c334abfea6340499f1c5deaefb834",
    packages: AUTOTOOLS,
    // As it comes it is compiled without optimisation, and warnings in Open MPI's header end it.
    build: "sed -i 's/-O0/-O2/; s/-Werror//' src_cpp/Makefile && make --quiet IMB-MPI1 CC=mpicc CXX=mpicxx",
    programs: &["IMB-MPI1"],
};

/// The area. Its peers are no Debian packages.
pub const MPI: Area = Area {
    name: "mpi",
    about: "mpi.point_to_point, mpi.collective and mpi.one_sided against the OSU micro-benchmarks and IMB: same library, launcher, ranks, CPUs and sizes",
    packages: &[],
    peers: &[&osu::OSU, &IMB],
    rows,
    prepare,
    alone: None,
    machine: Hardware::here,
};

/// Both sides do the same calls of the same library; ours may cost nothing beside them.
const GOAL: f64 = 1.0;

/// With the counts of OSU's both sides do the same work: the figures are alike within 2 %.
const GOAL_LIKE_OSU: f64 = 0.98;

/// Something that both sides measure.
#[derive(Clone, Copy)]
struct MpiWork {
    /// Its words in the name of a row.
    name: &'static str,
    bench: &'static str,
    params: &'static [&'static str],
    metric: &'static str,
    unit: Unit,
    better: Better,
    program: &'static str,
    options: &'static [&'static str],
    /// Iterations of OSU's that take about a second; none where the program has no counts.
    iterations: Option<&'static str>,
    /// The column of OSU's table that holds the figure, and how many of our unit one of it is.
    column: usize,
    scale: f64,
    /// Whether all cores have a rank; else two have.
    all_cores: bool,
    /// Whether ours may cost nothing beside OSU's; else the row only compares.
    has_goal: bool,
}

const POINT_TO_POINT: MpiWork = MpiWork {
    name: "latency, 8 B",
    bench: "mpi.point_to_point",
    params: &["op=latency", "size=8 B"],
    metric: "latency",
    unit: Unit::Microsecond,
    better: Better::Lower,
    program: "osu_latency",
    options: &["-m", "8:8"],
    iterations: Some("1000000"),
    column: 1,
    scale: 1.0,
    all_cores: false,
    has_goal: true,
};

const COLLECTIVE: MpiWork = MpiWork {
    name: "allreduce, 8 B",
    bench: "mpi.collective",
    params: &["op=allreduce", "size=8 B"],
    program: "osu_allreduce",
    options: &["-m", "8:8", "-T", "mpi_float"],
    iterations: Some("500000"),
    all_cores: true,
    ..POINT_TO_POINT
};

const ONE_SIDED: MpiWork = MpiWork {
    name: "put, 8 B, flush",
    bench: "mpi.one_sided",
    params: &["op=put", "size=8 B"],
    program: "osu_put_latency",
    iterations: Some("5000000"),
    ..POINT_TO_POINT
};

/// OSU's columns are the whole, the computation, the operation alone and the overlap.
const NON_BLOCKING: MpiWork = MpiWork {
    name: "iallreduce, 8 B, alone",
    params: &["op=iallreduce", "size=8 B"],
    program: "osu_iallreduce",
    iterations: Some("200000"),
    column: 3,
    ..COLLECTIVE
};

const WORKS: [MpiWork; 9] = [
    POINT_TO_POINT,
    MpiWork {
        name: "bandwidth, 4 MiB, window 64",
        params: &["op=bandwidth", "size=4 MiB", "buffers=one"],
        metric: "bandwidth",
        unit: Unit::GigabytesPerSecond,
        better: Better::Higher,
        program: "osu_bw",
        options: &["-m", "4194304:4194304"],
        iterations: Some("40"),
        scale: 1e-3,
        ..POINT_TO_POINT
    },
    MpiWork {
        name: "message rate, 8 B, window 64",
        params: &["op=message_rate", "size=8 B"],
        metric: "message_rate",
        unit: Unit::MegaPerSecond,
        better: Better::Higher,
        program: "osu_mbw_mr",
        iterations: Some("50000"),
        column: 2,
        scale: 1e-6,
        ..POINT_TO_POINT
    },
    COLLECTIVE,
    MpiWork {
        name: "allreduce, 1 MiB",
        params: &["op=allreduce", "size=1 MiB"],
        options: &["-m", "1048576:1048576", "-T", "mpi_float"],
        iterations: Some("1000"),
        ..COLLECTIVE
    },
    ONE_SIDED,
    MpiWork {
        name: "put, 4 MiB, depth 64",
        params: &["op=put", "size=4 MiB", "depth=64", "buffers=one"],
        metric: "bandwidth",
        unit: Unit::GigabytesPerSecond,
        better: Better::Higher,
        program: "osu_put_bw",
        options: &["-m", "4194304:4194304"],
        iterations: Some("40"),
        scale: 1e-3,
        ..ONE_SIDED
    },
    NON_BLOCKING,
    MpiWork {
        name: "MPI_Init, the rank that takes longest",
        bench: "mpi.startup",
        params: &[],
        metric: "init",
        unit: Unit::Second,
        program: "osu_init",
        options: &[],
        iterations: None,
        column: 6,
        scale: 1e-3,
        has_goal: false,
        ..POINT_TO_POINT
    },
];

/// What IMB measures too. Its tables begin with bytes and repetitions.
const OF_IMB: [MpiWork; 2] = [
    MpiWork {
        program: "IMB-MPI1",
        options: &["-npmin", "2", "-msglog", "3:3", "-iter_policy", "off", "-iter", "1000000", "PingPong"],
        column: 2,
        ..POINT_TO_POINT
    },
    MpiWork {
        program: "IMB-MPI1",
        options: &["-npmin", "4096", "-msglog", "3:3", "-iter_policy", "off", "-iter", "500000", "Allreduce"],
        // The mean over the ranks, as ours.
        column: 4,
        ..COLLECTIVE
    },
];

fn rows() -> Vec<Row> {
    let ways = |work: MpiWork| match work.iterations {
        Some(count) => vec![Way::Second(count), Way::LikeOsu],
        None => vec![Way::Once],
    };
    let of_osu = WORKS.into_iter().flat_map(|work| ways(work).into_iter().map(move |way| row(work, way)));
    let without_osu = || osu::folder().err().map(|error| error.to_string());
    let of_osu = of_osu.map(|row| row.unless(without_osu));
    let of_imb = OF_IMB.map(|work| row(work, Way::Second("")).unless(|| IMB.hindrance()));
    of_osu.chain(of_imb).collect()
}

/// How long both sides measure.
#[derive(Clone, Copy)]
enum Way {
    /// About a second, for which OSU's needs so many iterations.
    Second(&'static str),
    /// The counts that OSU's has without options.
    LikeOsu,
    /// What is there once a job.
    Once,
}

impl Way {
    fn words(self) -> &'static str {
        match self {
            Self::Second(_) => ", 1 s",
            Self::LikeOsu => ", like=osu",
            Self::Once => "",
        }
    }

    fn param(self) -> Option<&'static str> {
        match self {
            Self::Second(_) => Some("time=1 s"),
            Self::LikeOsu => Some("like=osu"),
            Self::Once => None,
        }
    }
}

fn row(work: MpiWork, way: Way) -> Row {
    let goal = if matches!(way, Way::LikeOsu) { GOAL_LIKE_OSU } else { GOAL };
    let figure = Figure {
        name: format!("{}{} vs {}", work.name, way.words(), work.program),
        unit: work.unit,
        better: work.better,
        goal: work.has_goal.then_some(goal),
    };
    let ours = move || {
        let setup = work.setup()?;
        let fixed = work.params.iter().copied().chain(way.param());
        let mut params: Vec<String> = fixed.map(str::to_owned).collect();
        params.push(format!("ranks={}", setup.cpus(work.all_cores).len()));
        params.push(format!("library={}", setup.library.display()));
        params.push(format!("launcher={}", setup.launcher.display()));
        ours::mean_of_trial(work.bench, &params, work.metric)
    };
    let peer = move || {
        let mut options = work.options.to_vec();
        if let (Way::Second(iterations), false) = (way, work.is_of_imb()) {
            options.extend(["-i", iterations]);
        }
        let setup = work.setup()?;
        let value = setup.run(work.program, &options, setup.cpus(work.all_cores), work.column)?;
        Ok(value * work.scale)
    };
    Row::one(figure, ours, peer)
}

impl MpiWork {
    fn is_of_imb(&self) -> bool {
        IMB.programs.contains(&self.program)
    }

    fn setup(&self) -> Result<&'static Setup> {
        if self.is_of_imb() { osu::setup_of_imb(&IMB) } else { setup() }
    }
}

fn prepare() -> Result<()> {
    ours::build()?;
    if osu::folder().is_ok() { setup().map(drop) } else { Ok(()) }
}
