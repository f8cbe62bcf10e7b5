//! What a flow received, slice by slice, with edges at the ends of reads.

use seatrial_model::{Nanos, Params, Quantity, Sample};

/// Slices of one phase; memory is allocated before it.
#[derive(Clone, Debug)]
pub struct Slices {
    span_ns: u64,
    /// The last edge; `None` before the first read, whose bytes arrived in an unknown time.
    edge_ns: Option<u64>,
    last_ns: u64,
    bytes: u64,
    done: Vec<(u64, u64, u64)>,
}

impl Slices {
    pub fn new(time: Nanos, span: Nanos) -> Self {
        let span_ns = span.get().max(1);
        // Room for datagrams after the end of the phase, and for a last partial slice.
        let count = time.get() / span_ns + 16;
        Self { span_ns, edge_ns: None, last_ns: 0, bytes: 0, done: Vec::with_capacity(count as usize) }
    }

    pub fn clear(&mut self) {
        self.done.clear();
        (self.edge_ns, self.last_ns, self.bytes) = (None, 0, 0);
    }

    /// Counts a read that returned at `now`. Does not allocate: without room for another slice the last one grows.
    pub fn note(&mut self, bytes: u64, now: u64) {
        self.last_ns = now;
        let Some(edge) = self.edge_ns else {
            self.edge_ns = Some(now);
            return;
        };
        self.bytes += bytes;
        if now - edge >= self.span_ns && self.done.len() + 1 < self.done.capacity() {
            self.done.push((edge, now, self.bytes));
            (self.edge_ns, self.bytes) = (Some(now), 0);
        }
    }

    pub fn finish(&mut self) {
        if let Some(edge) = self.edge_ns.filter(|edge| self.last_ns > *edge) {
            self.done.push((edge, self.last_ns, self.bytes));
            (self.edge_ns, self.bytes) = (Some(self.last_ns), 0);
        }
    }

    pub fn samples(&self, flow: u16) -> Vec<Sample> {
        let at = Params::from([("flow", u64::from(flow).into())]);
        let sample = |(start, end, bytes): &(u64, u64, u64)| {
            let span = (Nanos(*start), Nanos(*end));
            Sample::new("received", at.clone(), span, Quantity::bytes(*bytes))
        };
        self.done.iter().map(sample).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_begin_and_end_with_a_read_and_hold_what_came_between() {
        let mut slices = Slices::new(Nanos(100), Nanos(10));
        for (bytes, now) in [(50, 3), (1, 5), (2, 14), (4, 20), (8, 40), (16, 45)] {
            slices.note(bytes, now);
        }
        slices.finish();
        assert_eq!(slices.done, [(3, 14, 3), (14, 40, 12), (40, 45, 16)]);
        slices.clear();
        slices.note(7, 100);
        slices.finish();
        assert!(slices.done.is_empty(), "one read is no time");
    }

    #[test]
    fn the_last_slice_grows_when_there_is_no_room_for_more() {
        let mut slices = Slices::new(Nanos(0), Nanos(1));
        let room = slices.done.capacity();
        (0..1000).for_each(|now| slices.note(1, now));
        slices.finish();
        assert_eq!((slices.done.len(), slices.done.capacity()), (room, room));
        assert_eq!(slices.done.iter().map(|slice| slice.2).sum::<u64>(), 999);
    }
}
