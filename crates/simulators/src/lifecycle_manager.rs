//! The simulated Lifecycle Manager: the kind Kyma in the control plane's cluster, and its controller.
//!
//! What a reader would get wrong: the controller keeps nothing. How far a Kyma has come stands in its status, so one
//! that is killed and started again carries on where the Kyma is.

mod admission;
mod controller;
mod decide;
mod furnish;
mod kinds;
mod report;
mod scenario;

use std::time::Duration;

pub use controller::Controller;
pub(crate) use decide::is_at_rest;
pub use kinds::definitions;

pub(crate) use furnish::furnish;
pub(crate) use scenario::WORDS;

/// The annotation with the scenario of a Kyma.
pub const SCENARIO: &str = "landscape.kcp.dev/scenario";
/// Kymas as a resource.
pub const KYMAS: &str = "kymas.operator.kyma-project.io";
/// The `ConfigMap` with the templates of Kymas.
pub const TEMPLATES: &str = "kyma-templates";

/// Holds a Kyma until the Lifecycle Manager has let go of it.
const FINALIZER: &str = "operator.kyma-project.io/Kyma";
/// A Kyma with this label is left alone.
const SKIP: &str = "operator.kyma-project.io/skip-reconciliation";
/// Says for which Kyma a kubeconfig is.
const KYMA_NAME: &str = "operator.kyma-project.io/kyma-name";

/// How long things take, at the watchable speed.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Until the modules of a Kyma are ready.
    pub processing: Duration,
    /// Until everything of a Kyma is removed.
    pub deleting: Duration,
    /// How long after an error it is looked at again.
    pub after_error: Duration,
    /// How long after a warning it is looked at again.
    pub after_warning: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            processing: Duration::from_secs(4),
            deleting: Duration::from_secs(3),
            after_error: Duration::from_secs(2),
            after_warning: Duration::from_secs(30),
        }
    }
}

/// The kind and its rules added to a catalog; they hold in the cluster named `cluster`.
pub(crate) fn catalog(catalog: cluster::Catalog, cluster: &str) -> cluster::Catalog {
    let place = || cluster::Where::Only(cluster.to_owned());
    let all = kinds::all().into_iter();
    let catalog = all.fold(catalog, |catalog, kind| catalog.kind(place(), kind));
    catalog.admission(place(), KYMAS, admission::admit)
}
