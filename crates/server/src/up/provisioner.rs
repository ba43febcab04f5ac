//! The provisioner of `kcp up`: the same service as in production, between the embedded database and the
//! simulated landscape.

use std::time::Duration;

use anyhow::Context;
use base::Clock;
use secrecy::SecretString;
use simulators::clusters::Clusters;

use super::{
    Connection, Speed,
    folder::{Credentials, Folder, SEALING_KEY},
    landscape::PROVISIONER,
};
use crate::{
    keys,
    provisioner::{ProvisionerAddresses, Service},
    service_context::ServiceContext,
    settings::provisioner::ProvisionerSettings,
};

/// The shortest time in which an agent that failed is given another token.
const PATIENCE: Duration = Duration::from_secs(1);
/// The same time at the watchable speed.
const USUAL_PATIENCE: Duration = Duration::from_mins(2);

/// How long an agent that failed may try, at this speed.
pub(super) fn agent_patience(speed: Speed) -> Duration {
    speed.scaled(USUAL_PATIENCE).max(PATIENCE)
}

/// Starts it.
pub(super) async fn start(
    folder: &Folder,
    credentials: &Credentials,
    connection: &Connection,
    clusters: &Clusters,
    (url, speed): (Option<SecretString>, Speed),
    settings: &ProvisionerSettings,
    clock: &Clock,
) -> anyhow::Result<Service> {
    let sealer = keys::read_or_make(&folder.file(SEALING_KEY))?;
    let place = ServiceContext {
        url: match url {
            Some(url) => url,
            None => folder.database("provisioner.db")?,
        },
        sealer,
        replica: Some(credentials.replica.clone()),
        speed,
    };
    let at = |path: &str| {
        let address = format!("{}{path}", connection.landscape);
        address.parse().with_context(|| format!("{address} is not an address"))
    };
    let outside = ProvisionerAddresses {
        gardener: clusters.garden_kubeconfig().into(),
        director: at("/director/graphql")?,
        tokens: at("/oauth2/token")?,
        client: (PROVISIONER.into(), credentials.client_secret.clone()),
        releases: (at("/kyma-releases")?, at("/kyma-releases")?),
        agent_patience: agent_patience(speed),
    };
    Service::start(settings, place, outside, clock).await.context("the provisioner cannot start")
}
