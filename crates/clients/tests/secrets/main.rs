//! Secrets appear in no log, no error and no number (C8), whatever the other side does.
//!
//! A test program of its own: the log of the whole process is kept.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod chatty;
#[path = "../against_simulators/modules/world.rs"]
#[expect(dead_code, reason = "written for the tests against the simulators")]
mod control_plane;
#[path = "../against_simulators/faults.rs"]
#[expect(dead_code, reason = "written for the tests against the simulators")]
mod faults;
#[path = "../against_simulators/garden.rs"]
#[expect(dead_code, reason = "written for the tests against the simulators")]
mod garden;
mod infrastructure;
mod modules;
#[path = "../against_simulators/infrastructure/payload.rs"]
mod payload;
mod provisioner;
mod registrations;
#[path = "../conformance/support.rs"]
#[expect(dead_code, reason = "written for the conformance tests")]
mod support;
mod with_faults;
#[path = "../against_simulators/world.rs"]
#[expect(dead_code, reason = "written for the tests against the simulators")]
mod world;

use std::sync::{Arc, Mutex};

use clients::{CallReport, Observer};

/// Keeps what an observer is told of the calls.
#[derive(Debug, Clone, Default)]
struct CallLog(Arc<Mutex<Vec<String>>>);

impl Observer for CallLog {
    fn finished(&self, seen: &CallReport<'_>) {
        self.0.lock().unwrap().push(format!("{seen:?}"));
    }
}
