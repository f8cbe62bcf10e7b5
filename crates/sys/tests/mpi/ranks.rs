//! Real jobs: this test program, started again by the launcher of each library.

use std::path::Path;
use std::process::Command;

use seatrial_sys::mpi::{
    Abi, Communicator, Mpi, MpiError, NonBlocking, Reduction, RmaMemory, RmaOperation, RmaSynchronization,
    RmaWindow, ThreadLevel, Window, WindowLayout,
};

use crate::libraries::{Installed, installed};

/// Names the library to a rank.
const LIBRARY: &str = "SEATRIAL_TEST_MPI_LIBRARY";

/// Runs the test `program` of this file as `ranks` ranks; returns what they print.
fn job(of: &Installed, ranks: usize, program: &str) -> String {
    let mut command = Command::new(&of.launcher);
    command.arg("-n").arg(ranks.to_string());
    if of.library.ends_with("libmpi.so.40") {
        command
            .arg("--oversubscribe")
            .env("OMPI_ALLOW_RUN_AS_ROOT", "1")
            .env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
        command.env("PRTE_ALLOW_RUN_AS_ROOT", "1").env("PRTE_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
        // MPI_Compare_and_swap of 8 B crashes in the component rdma of Open MPI 4.1, which Debian has (issue 7967 of Open
        // MPI). The component pt2pt is in Open MPI 4 alone.
        if of.library.starts_with("/usr") {
            command.env("OMPI_MCA_osc", "pt2pt");
        }
    }
    command.arg(std::env::current_exe().expect("its path"));
    command.args(["--ignored", "--nocapture", "--test-threads", "1", "--exact", program]);
    let ended = command.env(LIBRARY, &of.library).output().expect("the launcher runs");
    let (out, err) = (String::from_utf8_lossy(&ended.stdout), String::from_utf8_lossy(&ended.stderr));
    assert!(ended.status.success(), "{of:?}: {}\n{out}\n{err}", ended.status);
    out.into_owned()
}

fn library() -> Mpi {
    let path = std::env::var_os(LIBRARY).expect("is run by another test");
    Mpi::open(Path::new(&path)).expect("the library")
}

#[test]
fn ranks_exchange_messages_and_sums_with_every_library() {
    for of in installed() {
        let told = job(of, 3, "ranks::as_a_rank");
        let ok = told.matches("rank is right").count();
        assert_eq!(ok, 3, "{of:?}: {told}");
    }
}

#[test]
fn the_interface_of_a_library_is_found_out_without_a_launcher() {
    for of in installed() {
        let program = std::env::current_exe().expect("its path");
        let mut alone = Command::new(program);
        alone.args(["--ignored", "--nocapture", "--exact", "ranks::as_a_reader"]).env(LIBRARY, &of.library);
        let ended = alone.output().expect("started");
        let told = String::from_utf8_lossy(&ended.stdout);
        assert!(ended.status.success() && told.contains("library is right"), "{of:?}: {told}");
    }
}

/// A process loads one library: the symbols of two would mix.
#[test]
#[ignore = "is a process of another test"]
fn as_a_reader() {
    let mpi = library();
    let path = std::env::var(LIBRARY).expect("named");
    let (abi, says) = (mpi.abi(), mpi.says().expect("a text"));
    let of_mpich = if path.contains("/intel/") { "Intel(R) MPI Library" } else { "MPICH" };
    let (wanted, maker) = match path.rsplit('/').next() {
        Some("libmpi_abi.so.1") => (Abi::Standard, of_mpich),
        Some("libmpi.so.40") => (Abi::OpenMpi, "Open MPI"),
        _ => (Abi::Mpich, of_mpich),
    };
    assert_eq!(abi, wanted, "{path}: {says}");
    assert!(says.contains(maker), "{says}");
    assert!(mpi.standard().expect("a version").0 >= 3);
    println!("library is right");
}

#[test]
fn a_library_that_is_none_of_mpi_says_what_it_lacks() {
    let mpi = Mpi::open(Path::new("libc.so.6")).expect("the C library");
    let error = mpi.says().expect_err("it has no MPI");
    assert_eq!(
        error,
        MpiError::Missing { library: "libc.so.6".to_owned(), symbol: "MPI_Get_library_version" }
    );
    assert!(matches!(Mpi::open(Path::new("libmpi-of-nobody.so")), Err(MpiError::Library(_))));
}

#[test]
#[ignore = "is a rank of a job"]
fn as_a_rank() {
    let mpi = library();
    let world = Communicator::start(&mpi, ThreadLevel::Funneled).expect("started");
    let (rank, size) = (world.rank(), world.size());
    assert_eq!(size, 3);
    // A ring: to the next, from the one before.
    let (next, before) = ((rank + 1) % size, (rank + size - 1) % size);
    let mut got = [0_u8; 1024];
    world.exchange(&[&[rank as u8; 1024]], next, &mut [&mut got], before, 7).expect("exchanged");
    assert_eq!(got, [before as u8; 1024]);
    // A window: one buffer many times, many buffers each once.
    let mut into = [[0_u8; 64]; 5];
    let mut places: Vec<&mut [u8]> = into.iter_mut().map(|buffer| &mut buffer[..]).collect();
    world.exchange(&[&[rank as u8; 64][..]; 5], next, &mut places, before, 8).expect("exchanged");
    assert_eq!(into, [[before as u8; 64]; 5]);
    // The same twice with requests that are used again: messages apart, then all in one place.
    let (out, mut memory) = ([rank as u8; 256], [0_u8; 256]);
    let mut window = Window::new(&world, 8);
    for (stride, wanted) in [(64, 4 * 16), (0, 16)] {
        let layout = WindowLayout { first: 32, stride, size: 16, count: 4 };
        memory.fill(0xff);
        let peer = size - 1 - rank;
        window.exchange(peer, 10, Some((&out, layout)), Some((&mut memory, layout))).expect("exchanged");
        assert_eq!(memory.iter().filter(|byte| **byte == peer as u8).count(), wanted, "stride {stride}");
    }
    if rank == 0 {
        world.send(b"to the last", size - 1, 9).expect("sent");
    } else if rank == size - 1 {
        let mut text = [0_u8; 11];
        world.receive(&mut text, 0, 9).expect("received");
        assert_eq!(&text, b"to the last");
    }
    let mine = [rank as f64, 1.0];
    let mut all = [0.0; 2];
    world.all_reduce(&mine, &mut all, Reduction::Sum).expect("summed");
    assert_eq!(all, [3.0, 3.0]);
    let mut both = mine;
    world.all_reduce_in_place(&mut both, Reduction::Max).expect("compared");
    assert_eq!(both, [2.0, 1.0]);
    let mut at_root = [0.0; 2];
    world.reduce(&mine, &mut at_root, Reduction::Sum, 1).expect("summed");
    assert_eq!(at_root, if rank == 1 { [3.0, 3.0] } else { [0.0, 0.0] });
    let mut sums = [0.0_f32; 2];
    let own: Vec<f32> = (0..6).map(|element| (10 * rank + element) as f32).collect();
    world.reduce_scatter_block(&own, &mut sums, Reduction::Sum).expect("summed");
    let of_rank = (3 * 2 * rank) as f32;
    assert_eq!(sums, [30.0 + of_rank, 33.0 + of_rank]);
    let mut up_to = [0.0_f32; 1];
    world.scan(&[(rank + 1) as f32], &mut up_to, Reduction::Sum).expect("summed");
    assert_eq!(up_to, [[1.0], [3.0], [6.0]][rank]);
    let mut text = if rank == 2 { *b"two" } else { *b"???" };
    world.broadcast(&mut text, 2).expect("told");
    assert_eq!(&text, b"two");
    let mut pieces = [9_u8; 6];
    world.all_gather(&[rank as u8; 2], &mut pieces).expect("gathered");
    assert_eq!(pieces, [0, 0, 1, 1, 2, 2]);
    let mut crossed = [9_u8; 3];
    let own: Vec<u8> = (0..3).map(|to| (10 * rank + to) as u8).collect();
    world.all_to_all(&own, &mut crossed).expect("crossed");
    assert_eq!(crossed, [rank as u8, 10 + rank as u8, 20 + rank as u8]);
    let mut gathered = [9_u8; 3];
    world.gather(&[rank as u8], &mut gathered, 0).expect("gathered");
    assert_eq!(gathered, if rank == 0 { [0, 1, 2] } else { [9; 3] });
    let mut piece = [9_u8; 2];
    world.scatter(&[0, 1, 2, 3, 4, 5], &mut piece, 0).expect("scattered");
    assert_eq!(piece, [2 * rank as u8, 2 * rank as u8 + 1]);
    non_blocking(&world);
    let part = world.split(u16::from(rank == 0)).expect("split");
    assert_eq!((part.size(), part.rank()), if rank == 0 { (1, 0) } else { (2, rank - 1) });
    part.barrier().expect("all came");
    let pair = world.split(u16::from(rank == 2)).expect("split");
    if pair.size() == 2 {
        one_sided(&pair);
    }
    // An error is returned, in the library's words, and does not end the process.
    let error = world.send(b"", size + 5, 1).expect_err("there is no such rank");
    assert!(error.to_string().to_lowercase().contains("rank"), "{error}");
    world.barrier().expect("all came");
    mpi.finish().expect("ended");
    println!("rank is right");
}

/// Every non-blocking operation, with something done between its start and its end.
fn non_blocking(world: &Communicator<'_>) {
    const SUM: Reduction = Reduction::Sum;
    let (rank, size) = (world.rank(), world.size());
    let own = [rank as f32, 1.0];
    let six: Vec<f32> = (0..6).map(|element| (10 * rank + element) as f32).collect();
    let mut calls = 0;
    let mut run = |collective: NonBlocking<'_, f32>| {
        world.overlap(collective, || calls += 1).expect("started and ended");
    };
    run(NonBlocking::Barrier);
    let mut told = if rank == 2 { [7.0, 8.0] } else { [0.0; 2] };
    run(NonBlocking::Broadcast { elements: &mut told, root: 2 });
    assert_eq!(told, [7.0, 8.0]);
    let mut into = [9.0; 2];
    run(NonBlocking::Reduce { own: &own, into: &mut into, operation: SUM, root: 1 });
    assert_eq!(into, if rank == 1 { [3.0, 3.0] } else { [9.0; 2] });
    run(NonBlocking::AllReduce { own: &own, into: &mut into, operation: SUM });
    assert_eq!(into, [3.0, 3.0]);
    run(NonBlocking::ReduceScatterBlock { own: &six, into: &mut into, operation: SUM });
    assert_eq!(into, [30.0 + (6 * rank) as f32, 33.0 + (6 * rank) as f32]);
    run(NonBlocking::Scan { own: &own, into: &mut into, operation: SUM });
    assert_eq!(into, [[0.0, 1.0], [1.0, 2.0], [3.0, 3.0]][rank]);
    let (mut all, gathered) = ([9.0; 6], [0.0, 1.0, 1.0, 1.0, 2.0, 1.0]);
    run(NonBlocking::AllGather { own: &own, all: &mut all });
    assert_eq!(all, gathered);
    all.fill(9.0);
    run(NonBlocking::Gather { own: &own, all: &mut all, root: 0 });
    assert_eq!(all, if rank == 0 { gathered } else { [9.0; 6] });
    run(NonBlocking::Scatter { all: &gathered, own: &mut into, root: 0 });
    assert_eq!(into, own);
    run(NonBlocking::AllToAll { out: &six, into: &mut all });
    let crossed: Vec<f32> = (0..6).map(|at| (10 * (at / 2) + 2 * rank + at % 2) as f32).collect();
    assert_eq!(all[..], crossed);
    assert_eq!((calls, size), (10, 3));
}

/// Rank 0 operates on the memory of rank 1: every operation, memory and synchronization.
fn one_sided(pair: &Communicator<'_>) {
    const WORDS: usize = 8;
    let layout = WindowLayout { first: 8, stride: 16, size: 8, count: 3 };
    let own = [9, 10, 11, 12, 13, 14, 15, 16];
    let is_origin = pair.rank() == 0;
    for memory in [RmaMemory::Allocate, RmaMemory::Create, RmaMemory::Dynamic] {
        for synchronization in [
            RmaSynchronization::Flush,
            RmaSynchronization::Lock,
            RmaSynchronization::Fence,
            RmaSynchronization::Pscw,
        ] {
            let words = if is_origin { 0 } else { WORDS };
            let mut window = RmaWindow::new(pair, memory, words, synchronization).expect("a window");
            window
                .with_words(|words| {
                    assert!(words.iter().all(|word| *word == 0));
                    words.fill(100);
                })
                .expect("locked");
            pair.barrier().expect("all came");
            window.open(is_origin).expect("opened");
            let ones = i64::from_ne_bytes([1; 8]);
            let (mut got, mut before) = ([0_u8; 8 * WORDS], [[0_i64; WORDS]; 3]);
            if is_origin {
                let [fetched, swapped, kept] = &mut before;
                let (expected, new, other) = (own.map(|own| ones + 2 * own), [5; WORDS], [1; WORDS]);
                let bytes = [[1_u8; 8]; WORDS];
                for operation in [
                    RmaOperation::Put(bytes.as_flattened()),
                    RmaOperation::Get(&mut got),
                    RmaOperation::Accumulate(&own),
                    RmaOperation::FetchAndAdd { own: &own, before: fetched },
                    RmaOperation::CompareAndSwap { expected: &other, new: &other, before: kept },
                    RmaOperation::CompareAndSwap { expected: &expected, new: &new, before: swapped },
                ] {
                    window.operate(operation, layout).expect("operated");
                }
            } else {
                (0..6).for_each(|_| window.attend().expect("attended"));
            }
            window.close(is_origin).expect("closed");
            pair.barrier().expect("all came");
            if is_origin {
                let words: Vec<i64> =
                    got.chunks(8).map(|word| i64::from_ne_bytes(word.try_into().expect("a word"))).collect();
                assert_eq!(words, [0, ones, 0, ones, 0, ones, 0, 0], "{memory:?} {synchronization:?}");
                let [fetched, swapped, kept] = before;
                assert_eq!(fetched, [0, ones + 10, 0, ones + 12, 0, ones + 14, 0, 0]);
                let sums = [0, ones + 20, 0, ones + 24, 0, ones + 28, 0, 0];
                assert_eq!((kept, swapped), (sums, sums));
            }
            // The elements that were expected are swapped, others are kept.
            let wanted = [100, 5, 100, 5, 100, 5, 100, 100];
            let held = window.with_words(|words| words.to_vec()).expect("locked");
            assert_eq!(held, &wanted[..words], "{memory:?} {synchronization:?}");
            window.free().expect("freed");
        }
    }
}
