//! Counts received bytes, in slices that begin and end with a receipt.

/// Delay, in slices, from which a gap is recorded: see [`Meter::close`].
const GAP_SLICES: u64 = 2;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slice {
    /// Time of the receipt before the first one of the slice, in nanoseconds of the monotonic clock.
    pub start_ns: u64,
    pub end_ns: u64,
    /// Bytes without those of the receipt at the start.
    pub bytes: u64,
}

#[derive(Debug)]
pub struct Meter {
    /// Bytes since the start of the stream.
    pub total: u64,
    least_ns: u64,
    recording: bool,
    opened_ns: u64,
    edge: Option<(u64, u64)>,
    slices: Vec<Slice>,
    last_ns: u64,
}

impl Meter {
    /// A meter with room for `room` slices of at least `least_ns` each. Further slices extend the last one.
    pub fn new(least_ns: u64, room: usize) -> Self {
        Self {
            total: 0,
            least_ns,
            recording: false,
            opened_ns: 0,
            edge: None,
            slices: Vec::with_capacity(room.max(1)),
            last_ns: 0,
        }
    }

    pub fn open(&mut self, now_ns: u64) {
        self.recording = true;
        self.opened_ns = now_ns;
        self.edge = None;
        self.slices.clear();
    }

    pub fn add(&mut self, bytes: u64, now_ns: u64) {
        self.total += bytes;
        if !self.recording {
            return;
        }
        self.last_ns = now_ns;
        match self.edge {
            None => {
                // The first slice starts at the first receipt, since the time in which its bytes arrived is unknown.
                // If the first receipt is late, no data arrived until then, which is known.
                if now_ns - self.opened_ns > GAP_SLICES * self.least_ns {
                    self.slices.push(Slice { start_ns: self.opened_ns, end_ns: now_ns, bytes });
                }
                self.edge = Some((now_ns, self.total));
            }
            Some((edge_ns, edge_total)) if now_ns - edge_ns >= self.least_ns => {
                self.push(edge_ns, now_ns, self.total - edge_total);
                self.edge = Some((now_ns, self.total));
            }
            Some(_) => {}
        }
    }

    /// Ends recording and returns the slices. The last slice ends at the last receipt, so that its rate is exact. If
    /// no data arrived for the time of some slices, it ends now.
    pub fn close(&mut self, now_ns: u64) -> &[Slice] {
        if std::mem::take(&mut self.recording) {
            let idle_from = if self.edge.is_some() { self.last_ns } else { self.opened_ns };
            let stalled = now_ns.saturating_sub(idle_from) > GAP_SLICES * self.least_ns;
            let (edge_ns, edge_total) = self.edge.unwrap_or((self.opened_ns, self.total));
            let end_ns = if stalled { now_ns } else { self.last_ns };
            if (stalled || self.total > edge_total) && end_ns > edge_ns {
                self.push(edge_ns, end_ns, self.total - edge_total);
            }
        }
        &self.slices
    }

    /// Never allocates: without room the last slice becomes longer, which is still true.
    fn push(&mut self, start_ns: u64, end_ns: u64, bytes: u64) {
        if self.slices.len() < self.slices.capacity() {
            self.slices.push(Slice { start_ns, end_ns, bytes });
        } else if let Some(last) = self.slices.last_mut() {
            last.end_ns = end_ns;
            last.bytes += bytes;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slice(start_ns: u64, end_ns: u64, bytes: u64) -> Slice {
        Slice { start_ns, end_ns, bytes }
    }

    #[test]
    fn slices_begin_and_end_with_receipts_and_lose_nothing() {
        let mut meter = Meter::new(100, 10);
        meter.add(7, 900);
        meter.open(1000);
        for (now, bytes) in [(1030, 1), (1080, 10), (1150, 20), (1260, 40), (1300, 80)] {
            meter.add(bytes, now);
        }
        // The first receipt only starts the clock: how long its byte took is unknown.
        assert_eq!(meter.close(1305), [slice(1030, 1150, 30), slice(1150, 1260, 40), slice(1260, 1300, 80)]);
        assert_eq!(meter.total, 158);
        assert!(meter.close(2000).len() == 3, "closing twice adds nothing");
    }

    #[test]
    fn a_stall_counts_at_the_start_in_the_middle_and_at_the_end() {
        let mut meter = Meter::new(100, 10);
        meter.open(1000);
        for (now, bytes) in [(1500, 5), (1600, 10), (2600, 10)] {
            meter.add(bytes, now);
        }
        let slices = meter.close(4000).to_vec();
        let wanted =
            [slice(1000, 1500, 5), slice(1500, 1600, 10), slice(1600, 2600, 10), slice(2600, 4000, 0)];
        assert_eq!(slices, wanted);
    }

    #[test]
    fn a_flow_without_a_byte_is_a_slice_of_nothing() {
        let mut meter = Meter::new(100, 10);
        meter.open(1000);
        assert_eq!(meter.close(5000), [slice(1000, 5000, 0)]);
        meter.open(6000);
        meter.add(3, 6010);
        meter.add(4, 6050);
        assert_eq!(meter.close(6060), [slice(6010, 6050, 4)]);
    }

    #[test]
    fn without_room_the_last_slice_grows() {
        let mut meter = Meter::new(10, 2);
        meter.open(0);
        (1..=5).for_each(|at| meter.add(1, at * 10));
        let slices = meter.close(55).to_vec();
        let bytes: u64 = slices.iter().map(|slice| slice.bytes).sum();
        let capacity = meter.slices.capacity();
        assert!(slices.len() <= capacity && bytes == 4 && slices.last().map(|last| last.end_ns) == Some(50));
    }
}
