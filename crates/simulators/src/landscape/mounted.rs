//! The systems of a landscape, each with its routes.
//!
//! Adding one: its module, and one line in [`SystemContext::systems`].

use std::{
    path::Path,
    sync::{Arc, OnceLock},
};

use axum::Router;
use base::Clock;

use crate::{
    avs, aws, azure, cis, clusters::Visits, edp, ias, issuer::Issuer, lms, pace::Pace, reconciler,
    runtime::releases, spc, store::Error, system::System,
};

/// A system and where it answers.
pub(crate) struct MountedSystem {
    pub(crate) system: Arc<dyn System>,
    pub(crate) routes: Router,
}

impl MountedSystem {
    pub(crate) fn new(system: Arc<dyn System>, routes: Router) -> Self {
        Self { system, routes }
    }
}

/// What a system is opened with.
pub(crate) struct SystemContext<'a> {
    /// Where it may keep a log of its own.
    pub(crate) folder: &'a Path,
    /// Whose tokens it accepts.
    pub(crate) issuer: &'a Arc<Issuer>,
    /// The time.
    pub(crate) clock: &'a Clock,
    /// How fast the world is.
    pub(crate) pace: &'a Pace,
    /// The kubeconfigs of runtimes, as soon as there are clusters.
    pub(crate) visits: &'a Arc<OnceLock<Arc<dyn Visits>>>,
}

impl SystemContext<'_> {
    /// All systems besides the issuer and the Director.
    pub(crate) fn systems(&self) -> Result<Vec<MountedSystem>, Error> {
        Ok(vec![
            avs::mounted(self)?,
            edp::mounted(self)?,
            ias::mounted(self)?,
            lms::mounted(self)?,
            spc::mounted(self)?,
            releases::mounted(),
            reconciler::mounted(self)?,
            cis::mounted(self)?,
            azure::mounted(self)?,
            aws::mounted(self)?,
        ])
    }
}
