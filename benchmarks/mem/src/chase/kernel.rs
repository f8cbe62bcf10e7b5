//! Memory with rings of pointers, and the two loops over it.
//!
//! The loops are assembly, so that debug and release builds measure the same, and no compiler can see where a pointer
//! leads.
#![expect(unsafe_code, reason = "assembly that follows pointers through memory")]

use std::arch::asm;

use seatrial_bench::Held;

/// Hops per loop turn, enough to hide the loop's own two instructions.
pub const HOPS_MULTIPLE: u64 = 32;

/// Bytes of a pointer: the distance of rings that share their lines.
pub const POINTER: usize = size_of::<u64>();

/// A ring: one pointer in each of its lines, at the same offset in every line.
#[derive(Clone, Copy, Debug)]
struct Ring {
    /// Offset of line 0's pointer in the memory.
    first: usize,
    lines: usize,
}

///
/// Invariant: every word written is the address of another word of a ring, and nothing else can write. So following
/// pointers from a ring stays in rings. (A pointer that faulty memory changed may lead anywhere; the worker then
/// crashes, and the case fails.)
#[derive(Debug)]
pub struct Rings {
    held: Held,
    line: usize,
    rings: Vec<Ring>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong {
    pub count: u64,
    pub first: String,
}

impl Rings {
    /// Rings in `held`, with one pointer every `line` bytes. Panics when `line` is zero or no multiple of a pointer.
    pub fn new(held: Held, line: usize) -> Self {
        assert!(line > 0 && line.is_multiple_of(POINTER), "a line of {line} bytes");
        Self { held, line, rings: Vec::new() }
    }

    /// Lays a ring whose line 0 has its pointer at offset `first`, and in which line `n` is followed by line
    /// `next[n]`. Returns the ring's number. Panics when the ring does not fit into the memory, or leads out of
    /// itself.
    pub fn lay(&mut self, first: usize, next: &[u32]) -> usize {
        let (base, step, lines) = (self.base(), self.line / POINTER, next.len());
        assert!(first.is_multiple_of(POINTER), "a ring that starts {first} bytes into the memory");
        assert!(next.iter().all(|line| (*line as usize) < lines), "a ring of {lines} leads out of itself");
        let words = self.held.map.as_mut_slice::<u64>().get_mut(first / POINTER..).unwrap_or_default();
        assert!(lines > 0 && (lines - 1) * step < words.len(), "a ring of {lines} lines does not fit");
        for (line, next) in next.iter().enumerate() {
            words[line * step] = (base + first + *next as usize * self.line) as u64;
        }
        self.rings.push(Ring { first, lines });
        self.rings.len() - 1
    }

    /// Follows the pointers of a ring from line `from`, for whole loop turns and at least `hops`. Returns the line
    /// reached and the hops made. Panics without such a ring or line.
    pub fn follow(&self, ring: usize, from: usize, hops: u64) -> (usize, u64) {
        let Ring { first, lines } = self.rings[ring];
        assert!(from < lines, "line {from} of a ring of {lines}");
        let turns = hops.div_ceil(HOPS_MULTIPLE).max(1);
        let base = self.base() + first;
        // SAFETY: line `from` of the ring holds a pointer that `lay` wrote, and pointers lead to pointers only, within
        // the memory that `self` keeps alive and does not write meanwhile.
        let reached = unsafe { follow(base + from * self.line, turns) };
        (reached.wrapping_sub(base) / self.line, turns * HOPS_MULTIPLE)
    }

    /// Loads every `every`-th line of a ring in address order, and the line that it points to. The loads are
    /// independent, so a sweep takes a fraction of a lap; it leaves the lines in the caches that they fit into.
    /// Panics without such a ring, or when `every` is zero.
    pub fn sweep(&self, ring: usize, every: usize) {
        let Ring { first, lines } = self.rings[ring];
        // SAFETY: every line of the ring holds a pointer that `lay` wrote, which leads to another; no line past the last is
        // loaded, since a ring has one at least and `every` goes into its lines so often and once more for the first.
        unsafe { sweep(self.base() + first, every * self.line, (lines - 1) / every + 1) };
    }

    pub fn lines_in(&self, bytes: usize) -> usize {
        (bytes / self.line).max(1)
    }

    /// Compares every pointer of a ring with its order; `None` when all are right. Panics without such a ring, or
    /// when the order has another length.
    pub fn compare(&self, ring: usize, next: &[u32]) -> Option<Wrong> {
        let Ring { first, lines } = self.rings[ring];
        assert_eq!(lines, next.len(), "the order of another ring");
        let base = self.base() + first;
        let words = self.held.map.as_slice::<u64>()[first / POINTER..].iter().step_by(self.line / POINTER);
        let mut wrong: Option<Wrong> = None;
        for (line, (word, next)) in words.zip(next).enumerate() {
            let expected = (base + *next as usize * self.line) as u64;
            if *word != expected {
                let tell = || format!("the pointer in line {line} is {word:#x}, not {expected:#x}");
                wrong.get_or_insert_with(|| Wrong { count: 0, first: tell() }).count += 1;
            }
        }
        wrong
    }

    pub fn held(&self) -> &Held {
        &self.held
    }

    /// Makes line `from` of a ring lead to line `to`, to test the checks.
    #[cfg(test)]
    pub fn redirect(&mut self, ring: usize, from: usize, to: usize) {
        let Ring { first, lines } = self.rings[ring];
        assert!(from < lines && to < lines);
        let address = self.base() + first + to * self.line;
        self.held.map.as_mut_slice::<u64>()[(first + from * self.line) / POINTER] = address as u64;
    }

    fn base(&self) -> usize {
        // Exposed, because the loops use addresses from memory as pointers.
        self.held.map.as_slice::<u64>().as_ptr().expose_provenance()
    }
}

/// Follows pointers from the address `at`, [`HOPS_MULTIPLE`] in a turn; returns the address that is reached.
///
/// # Safety
/// `at` and every address that is found from there on is that of a readable word.
#[cfg(target_arch = "x86_64")]
#[inline(never)]
unsafe fn follow(mut at: usize, turns: u64) -> usize {
    // SAFETY: the caller vouches for every address; nothing is written.
    unsafe {
        asm!(
            ".p2align 6",
            "2:",
            ".rept {hops}",
            "mov {at}, qword ptr [{at}]",
            ".endr",
            "dec {turns}",
            "jnz 2b",
            hops = const HOPS_MULTIPLE,
            at = inout(reg) at,
            turns = inout(reg) turns => _,
            options(nostack, readonly),
        );
    }
    at
}

/// Follows pointers from the address `at`, [`HOPS_MULTIPLE`] in a turn; returns the address that is reached.
///
/// # Safety
/// `at` and every address that is found from there on is that of a readable word.
#[cfg(target_arch = "aarch64")]
#[inline(never)]
unsafe fn follow(mut at: usize, turns: u64) -> usize {
    // SAFETY: the caller vouches for every address; nothing is written.
    unsafe {
        asm!(
            ".p2align 6",
            "2:",
            ".rept {hops}",
            "ldr {at}, [{at}]",
            ".endr",
            "subs {turns}, {turns}, #1",
            "b.ne 2b",
            hops = const HOPS_MULTIPLE,
            at = inout(reg) at,
            turns = inout(reg) turns => _,
            options(nostack, readonly),
        );
    }
    at
}

/// Loads `count` words that are `step` bytes apart, and the words that they point to.
///
/// # Safety
/// All of them are readable, and `count` is above zero.
#[cfg(target_arch = "x86_64")]
#[inline(never)]
unsafe fn sweep(at: usize, step: usize, count: usize) {
    // SAFETY: the caller vouches for every address; nothing is written.
    unsafe {
        asm!(
            "2:",
            "mov {word}, qword ptr [{at}]",
            "mov {word}, qword ptr [{word}]",
            "add {at}, {step}",
            "dec {count}",
            "jnz 2b",
            word = out(reg) _,
            at = inout(reg) at => _,
            step = in(reg) step,
            count = inout(reg) count => _,
            options(nostack, readonly),
        );
    }
}

/// Loads `count` words that are `step` bytes apart, and the words that they point to.
///
/// # Safety
/// All of them are readable, and `count` is above zero.
#[cfg(target_arch = "aarch64")]
#[inline(never)]
unsafe fn sweep(at: usize, step: usize, count: usize) {
    // SAFETY: the caller vouches for every address; nothing is written.
    unsafe {
        asm!(
            "2:",
            "ldr {word}, [{at}]",
            "ldr {word}, [{word}]",
            "add {at}, {at}, {step}",
            "subs {count}, {count}, #1",
            "b.ne 2b",
            word = out(reg) _,
            at = inout(reg) at => _,
            step = in(reg) step,
            count = inout(reg) count => _,
            options(nostack, readonly),
        );
    }
}

#[cfg(test)]
mod tests {
    use seatrial_sys::memory::Pages;

    use super::super::Order;
    use super::*;

    fn order(lines: usize) -> Order {
        let mut order = Order::with_room_for(lines);
        order.grow(lines);
        order
    }

    fn rings(bytes: usize, line: usize) -> Rings {
        Rings::new(Held::take(bytes, &[Pages::Base], None).expect("a little memory"), line)
    }

    #[test]
    fn the_loop_makes_exactly_the_hops_that_it_counts() {
        let order = order(1000);
        for line in [64, 128] {
            let mut rings = rings(1000 * line, line);
            let ring = rings.lay(0, order.next());
            for hops in [1, 32, 33, 999, 12_345] {
                let (reached, made) = rings.follow(ring, 7, hops);
                assert_eq!(made, hops.div_ceil(HOPS_MULTIPLE) * HOPS_MULTIPLE);
                assert_eq!(reached, order.walk(7, made), "{hops} hops over lines of {line}");
            }
        }
    }

    #[test]
    fn rings_that_share_their_lines_do_not_touch_each_other() {
        let (short, long) = (order(16), order(64));
        let mut rings = rings(64 * 64 + 4096, 64);
        let one = rings.lay(0, short.next());
        let two = rings.lay(POINTER, long.next());
        let three = rings.lay(64 * 64, short.next());
        for (ring, order) in [(one, &short), (two, &long), (three, &short)] {
            assert_eq!(rings.compare(ring, order.next()), None);
            assert_eq!(rings.follow(ring, 0, 32), (order.walk(0, 32), 32));
            for every in [1, 3, 16, 100] {
                rings.sweep(ring, every);
            }
        }
    }

    #[test]
    fn a_pointer_that_leads_elsewhere_is_found_with_its_line() {
        let order = order(256);
        let mut rings = rings(256 * 64, 64);
        let ring = rings.lay(0, order.next());
        let elsewhere = (order.next()[100] as usize + 1) % 256;
        rings.redirect(ring, 100, elsewhere);
        let wrong = rings.compare(ring, order.next()).expect("found");
        assert_eq!(wrong.count, 1);
        assert!(wrong.first.starts_with("the pointer in line 100 is 0x"), "{}", wrong.first);
    }

    #[test]
    #[should_panic(expected = "leads out of itself")]
    fn a_ring_that_leads_out_of_itself_is_refused() {
        rings(4096, 64).lay(0, &[1, 2, 5]);
    }

    #[test]
    #[should_panic(expected = "does not fit")]
    fn a_ring_that_does_not_fit_is_refused() {
        rings(4096, 64).lay(0, order(65).next());
    }
}
