//! One loop, ready to run.

mod kernel;

use std::fmt;

use kernel::Loop;
pub(super) use kernel::{Code, Operands};

use super::arrays::Arrays;
use super::isa::Isa;
use super::name::{Kernel, Store};
use super::pattern::SCALAR;
use super::prefetch::Prefetch;

#[derive(Clone, Debug)]
pub struct Pass {
    kernel: Kernel,
    store: Option<Store>,
    isa: Isa,
    prefetch: Prefetch,
    code: Loop,
}

impl Pass {
    /// The loop of `kernel` without prefetch. `store` is required where [`Kernel::has_store_choice`] holds, else `None`; the C
    /// library's kernels ignore `isa`. `None` for other combinations, and where this CPU lacks `isa`.
    pub fn select(kernel: Kernel, store: Option<Store>, isa: Isa) -> Option<Self> {
        Self::select_with(kernel, store, isa, Prefetch::None)
    }

    /// The same loop with each kind of prefetch that it has, none first.
    pub fn of_each_prefetch(&self) -> Vec<Self> {
        let kinds = Prefetch::ALL.iter();
        kinds.filter_map(|kind| Self::select_with(self.kernel, self.store, self.isa, *kind)).collect()
    }

    /// The loop of `kernel` with a given prefetch; `None` also where `isa` has no such loop.
    pub fn select_with(kernel: Kernel, store: Option<Store>, isa: Isa, prefetch: Prefetch) -> Option<Self> {
        if kernel.has_store_choice() != store.is_some() {
            return None;
        }
        let code = Loop::find(kernel, store, isa, prefetch)?;
        Some(Self { kernel, store, isa, prefetch, code })
    }

    pub fn kernel(&self) -> Kernel {
        self.kernel
    }

    pub fn isa(&self) -> Isa {
        self.isa
    }

    pub fn prefetch(&self) -> Prefetch {
        self.prefetch
    }

    /// Says that the loop has this prefetch, which none has on every CPU.
    #[cfg(test)]
    pub fn with_prefetch(self, prefetch: Prefetch) -> Self {
        Self { prefetch, ..self }
    }

    /// Runs the loop once over the arrays; returns the exclusive or of all words of `a` for `read`, else 0.
    /// Non-temporal stores are fenced once, at the end. `scale` and `triad` multiply by [`SCALAR`]. Panics before the
    /// first access when the arrays do not [fit](Arrays::fit).
    pub fn run(&self, arrays: &mut Arrays<'_>) -> u64 {
        if let Err(misfit) = arrays.fit(self.kernel) {
            panic!("the loop {self} cannot run: {misfit}");
        }
        self.code.run(arrays, SCALAR)
    }
}

impl fmt::Display for Pass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.kernel())?;
        if let Some(store) = self.store {
            write!(f, " {store}")?;
        }
        write!(f, " {} {}", self.isa(), self.prefetch())
    }
}

#[cfg(test)]
mod tests;
