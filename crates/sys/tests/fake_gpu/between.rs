//! Ranks that are processes: what each sends is a file in a folder of the job, beside this copy of the library.

use std::collections::HashMap;
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime};

use crate::nccl::{Call, work};
use crate::world::{folder_of, note, with};

/// The operations of this process so far: it is a rank of one job.
static OPERATIONS: AtomicU64 = AtomicU64::new(0);

pub fn are_processes() -> bool {
    with(|world| world.config.numbers.contains_key("processes"))
}

/// A number that no other job has.
pub fn new_id() -> u64 {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("after 1970");
    now.as_nanos() as u64
}

fn folder(id: u64) -> PathBuf {
    folder_of(&format!("job-{id}")).expect("a folder beside the library")
}

/// Writes the own file and waits for those of the other ranks; what each holds, none where one does not come.
fn exchange(id: u64, what: &str, (rank, ranks): (usize, usize), own: &[u8]) -> Option<Vec<Vec<u8>>> {
    let folder = folder(id);
    let name = |rank: usize| folder.join(format!("{what}-{rank}"));
    fs::create_dir_all(&folder).ok()?;
    // A file that is there is whole.
    let unfinished = folder.join(format!("unfinished-{rank}"));
    fs::write(&unfinished, own).and_then(|()| fs::rename(&unfinished, name(rank))).ok()?;
    let until = Instant::now() + Duration::from_secs_f64(with(|world| world.config.number("patience", 20.0)));
    let read = |rank| loop {
        match fs::read(name(rank)) {
            Ok(bytes) => return Some(bytes),
            Err(_) if Instant::now() > until => return None,
            Err(_) => std::thread::sleep(Duration::from_micros(100)),
        }
    };
    (0..ranks).map(read).collect()
}

pub fn join(id: u64, place: (usize, usize)) -> bool {
    exchange(id, "join", place, &[]).is_some()
}

/// An operation of one call on each rank.
pub fn operate(id: u64, (rank, ranks): (usize, usize), calls: &[Call]) -> bool {
    let [call] = calls else { return false };
    let number = OPERATIONS.fetch_add(1, Ordering::Relaxed);
    // SAFETY: whoever called it vouches for the memory, as with a real library.
    let own = unsafe { std::slice::from_raw_parts(call.from as *const u8, call.sent(ranks)) };
    let Some(sent) = exchange(id, &number.to_string(), (rank, ranks), own) else { return false };
    // Everybody is at this operation, and has read what was sent in the one before.
    if let Some(before) = number.checked_sub(1) {
        let _ = fs::remove_file(folder(id).join(format!("{before}-{rank}")));
    }
    let mut rooms: Vec<Vec<u64>> =
        sent.iter().map(|bytes| vec![0; (bytes.len() * ranks).div_ceil(8)]).collect();
    let all: HashMap<usize, Vec<Call>> = (0..ranks)
        .map(|other| {
            let to = if other == rank { call.to } else { rooms[other].as_mut_ptr() as usize };
            (other, vec![Call { from: sent[other].as_ptr() as usize, to, ..*call }])
        })
        .collect();
    work(&all, ranks);
    note("operating");
    true
}
