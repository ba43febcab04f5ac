//! The kinds that runtimes have from the start, and the writes that wake their controllers.

use cluster::{Admission, Catalog, Column, Kind, Where};
use kube::api::{ApiResource, GroupVersionKind};

use super::{Actor, Wakes, btp, scenario};
use crate::clusters::own::USER;

/// The agent's connection: its name.
pub(crate) const CONNECTION: &str = "compass-connection";
/// The agent's connections as a resource.
pub(crate) const CONNECTIONS: &str = "compassconnections.compass.kyma-project.io";
/// The installation: its namespace and name.
pub(crate) const INSTALLATION: (&str, &str) = ("default", "kyma-installation");
/// Installations as a resource.
pub(crate) const INSTALLATIONS: &str = "installations.installer.kyma-project.io";
/// The agent's Deployment, in the namespace of its component.
pub(crate) const AGENT: &str = "compass-runtime-agent";
/// The agent's configuration as its caller writes it.
pub(super) const CONFIGURATION: &str = "compass-agent-configuration";
const DEPLOYMENTS: &str = "deployments.apps";
/// Whatever the name is.
const ANY: &str = "";
/// The installer: its namespace and the name of its deployment.
pub(super) const INSTALLER: &str = "kyma-installer";

/// How `kube` speaks of connections.
pub(super) fn connections() -> ApiResource {
    let gvk = GroupVersionKind::gvk("compass.kyma-project.io", "v1alpha1", "CompassConnection");
    ApiResource::from_gvk_with_plural(&gvk, "compassconnections")
}

/// How `kube` speaks of installations.
pub(super) fn installations() -> ApiResource {
    let gvk = GroupVersionKind::gvk("installer.kyma-project.io", "v1alpha1", "Installation");
    ApiResource::from_gvk_with_plural(&gvk, "installations")
}

/// Adds them to a catalog; they hold in all clusters but these. The installer of Kyma brings the
/// definition of installations along; that they are known before makes `kubectl apply` of the
/// installer's file work at the first try.
pub(crate) fn catalog(catalog: Catalog, besides: &[&str], wakes: &Wakes) -> Catalog {
    let place = || Where::Except(besides.iter().map(ToString::to_string).collect());
    let (group, plural) = ("compass.kyma-project.io", "compassconnections");
    let connection = Kind::new(group, "v1alpha1", plural, "CompassConnection")
        .column(Column::text("State", ".status.connectionState"));
    let (group, plural) = ("installer.kyma-project.io", "installations");
    let installation = Kind::new(group, "v1alpha1", plural, "Installation")
        .namespaced()
        .subresource("status")
        .column(Column::text("State", ".status.state"))
        .column(Column::text("Description", ".status.description"))
        .column(Column::text("Version", ".status.kymaVersion"));
    let everybody: &[Actor] = &[Actor::Agent, Actor::Installer, Actor::BtpOperator];
    let operator: &[Actor] = &[Actor::BtpOperator];
    let agent: &[Actor] = &[Actor::Agent];
    let installer: &[Actor] = &[Actor::Installer];
    let bells = [
        ("secrets", CONFIGURATION, agent),
        (CONNECTIONS, CONNECTION, agent),
        ("configmaps", scenario::OBJECT.1, everybody),
        ("secrets", btp::CREDENTIALS.1, operator),
        (btp::BINDINGS, ANY, operator),
        (btp::INSTANCES, ANY, operator),
        (INSTALLATIONS, INSTALLATION.1, installer),
        (DEPLOYMENTS, INSTALLER, installer),
        (DEPLOYMENTS, AGENT, agent),
    ];
    let catalog = catalog.kind(place(), connection).kind(place(), installation);
    bells.into_iter().fold(catalog, |catalog, (resource, name, actors)| {
        let wakes = wakes.clone();
        catalog.admission(place(), resource, move |write| {
            if concerns(write, resource, name) {
                for actor in actors {
                    wakes.wake(write.cluster, *actor);
                }
            }
            Ok(())
        })
    })
}

/// The actors are not woken by what they write themselves; but that the installer brings the agent concerns the agent.
fn concerns(write: &Admission<'_>, resource: &str, name: &str) -> bool {
    let named = name == ANY || write.object["metadata"]["name"] == name;
    named && !write.dry_run && (write.user.user != USER || resource == DEPLOYMENTS)
}
