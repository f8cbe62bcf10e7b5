//! Changes of settings that the controller orders.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use seatrial_model::setting::{SettingsAnswer, SettingsOrder};
use seatrial_sys::root::SysRoot;

use super::reports::Reports;
use super::restore_timer;
use crate::message::Report;

/// Processes of timers, which outlive the agent.
pub(super) type TimerPids = Arc<Mutex<BTreeSet<u32>>>;

/// Carries out `order` on a thread, since a driver may take long, and reports what came of it.
pub(super) fn carry_out(root: SysRoot, reports: Reports, order: SettingsOrder, timers: TimerPids) {
    let work = move || {
        let answer = answer(&root, &order, &timers);
        if let Err(error) = reports.send(&Report::Settings { answer: Box::new(answer) }) {
            tracing::error!("what became of the settings does not fit into a message: {error}");
        }
    };
    if let Err(error) = thread::Builder::new().name("settings".to_owned()).spawn(work) {
        tracing::error!("cannot start a thread to change settings: {error}");
    }
}

fn answer(root: &SysRoot, order: &SettingsOrder, timers: &TimerPids) -> SettingsAnswer {
    let SettingsOrder::Apply { id, restore_after, .. } = order else {
        return seatrial_settings::carry_out(root, &Default::default, order);
    };
    // Before anything is changed, so that no change is without its timer.
    let timer = restore_after.map(|after| restore_timer::start(root, id, after)).transpose();
    let timer = match timer {
        Ok(timer) => timer,
        Err(why) => return SettingsAnswer { refused: Some(why), ..SettingsAnswer::default() },
    };
    if let Some(pid) = timer.as_ref().and_then(|timer| timer.pid) {
        timers.lock().unwrap_or_else(PoisonError::into_inner).insert(pid);
    }
    let answer = seatrial_settings::carry_out(root, &|| seatrial_inventory::read(root), order);
    SettingsAnswer { timer: timer.map(|timer| timer.told), ..answer }
}
