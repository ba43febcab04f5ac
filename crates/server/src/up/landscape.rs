//! The simulated outside world: one landscape in the data folder, with everybody it knows.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use anyhow::Context;
use api::{router::open, scope};
use axum::{Router, extract::ConnectInfo, http::Extensions};
use base::Clock;
use secrecy::SecretString;
use simulators::{
    clusters::{self, Clusters},
    director,
    issuer::{self, Client, Grant, Issuer, ONE_DAY, SigningKey, User},
    landscape::{self, Landscape, SCOPES},
    pace,
    trouble::wire::Wire,
};
use tokio::net::{TcpListener, TcpStream};

use super::{
    GardenOptions,
    folder::{Credentials, Folder},
};
use crate::{
    Settings, Speed,
    readiness::Always,
    serving::{Acceptance, ConnectionLimits, Stream},
    settings::{
        access::{Audience, IssuerSettings},
        orders::CatalogSettings,
    },
};

/// The public client under which people log in.
pub(super) const PEOPLE: &str = "kcp";
/// The client under which the broker speaks to the provisioner.
pub(super) const BROKER: &str = "kcp-broker";
/// The client under which the provisioner speaks to the Director.
pub(super) const PROVISIONER: &str = "kcp-provisioner";
/// The namespace of data tenants on the event data platform.
pub(super) const EDP_NAMESPACE: &str = "kcp";
/// The kubeconfig of the control plane's own cluster.
pub(super) const CONTROL_PLANE_KUBECONFIG: &str = "kubeconfigs/kcp.yaml";
/// The kubeconfig of the garden.
pub(super) const GARDEN_KUBECONFIG: &str = "kubeconfigs/garden.yaml";
/// How its connections are accepted: trouble can reset them.
pub(super) const ACCEPTANCE: Acceptance =
    Acceptance { limits: ConnectionLimits::DEFAULT, tls: None, wrapper: Some(resettable) };
/// Dice that fall alike at every first start.
const SEED: u64 = 1;

fn resettable(stream: TcpStream) -> (Box<dyn Stream>, Extensions) {
    let (wire, line) = Wire::new(stream);
    let mut carried = Extensions::new();
    carried.insert(ConnectInfo(line));
    (Box::new(wire), carried)
}

/// Opens the landscape that will answer at `address`.
pub(super) fn landscape(
    folder: &Folder,
    credentials: &Credentials,
    settings: &Settings,
    address: SocketAddr,
    speed: Speed,
    clock: &Clock,
) -> anyhow::Result<Arc<Landscape>> {
    let key = SigningKey::from_file_or_create(&folder.file("issuer-key.pem"))
        .context("the issuer has no key")?;
    let settings = landscape::Settings {
        issuer: issuer_settings(credentials, settings, address),
        key,
        director: director::Settings {
            seed: SEED,
            // An agent in every runtime does.
            plays_agent: false,
            ..director::Settings::default()
        },
        speed: match speed {
            Speed::Times(factor) => pace::Speed::Times(factor),
            Speed::Max => pace::Speed::MAX,
        },
        seed: SEED,
    };
    let landscape = Landscape::open(settings, &folder.file("landscape"), clock.clone())
        .context("the landscape cannot be opened")?;
    Ok(Arc::new(landscape))
}

/// Opens the clusters of the landscape behind `listener`, and leaves kubeconfigs for them.
pub(super) async fn clusters(
    folder: &Folder,
    landscape: &Landscape,
    garden: GardenOptions,
    listener: TcpListener,
) -> anyhow::Result<Clusters> {
    let inside = folder.file("landscape").join("clusters");
    let mut settings = clusters::Settings::default();
    let GardenOptions { version, webhooks } = garden;
    settings.garden.version = version;
    settings.garden.webhooks = webhooks;
    let clusters = Clusters::start(landscape, settings, &inside, listener).await;
    let clusters = clusters.context("the simulated clusters cannot be opened")?;
    folder.make("kubeconfigs")?;
    for (name, kubeconfig) in [
        (GARDEN_KUBECONFIG, clusters.garden_kubeconfig()),
        (CONTROL_PLANE_KUBECONFIG, clusters.control_plane_kubeconfig()),
    ] {
        folder.write_privately(name, kubeconfig.as_bytes())?;
    }
    Ok(clusters)
}

/// Stops the clusters; what does not end within `grace` is cut off.
pub(super) async fn stop(clusters: &Clusters, clock: &Clock, grace: Duration) {
    tokio::select! {
        () = clusters.stop() => {}
        () = clock.sleep(grace) => tracing::debug!("requests to clusters are cut off"),
    }
}

/// The definitions of everything that lives in the simulated clusters: with them, the landscape's controllers work on any Kubernetes
/// API server.
#[must_use]
pub fn definitions() -> Vec<serde_json::Value> {
    let all = simulators::garden::definitions()
        .into_iter()
        .chain(simulators::lifecycle_manager::definitions())
        .chain(simulators::runtime::definitions());
    all.collect()
}

fn issuer_settings(
    credentials: &Credentials,
    settings: &Settings,
    address: SocketAddr,
) -> issuer::Settings {
    let machine = |id: &str| Client {
        id: id.into(),
        secret: Some(credentials.client_secret.clone()),
        grants: vec![Grant::ClientCredentials],
        scopes: every_scope(),
    };
    issuer::Settings {
        url: format!("http://{address}"),
        audience: vec![settings.access.audience.clone()],
        lifetime: ONE_DAY,
        clients: vec![
            Client {
                id: PEOPLE.into(),
                secret: None,
                grants: vec![
                    Grant::Password,
                    Grant::AuthorizationCode,
                    Grant::Device,
                    Grant::Refresh,
                ],
                scopes: every_scope(),
            },
            machine(BROKER),
            machine(&format!("edp-namespace;{EDP_NAMESPACE}")),
            machine(PROVISIONER),
        ],
        users: vec![User {
            name: credentials.user.clone(),
            password: credentials.password.clone(),
            scopes: every_scope(),
            groups: groups(),
        }],
    }
}

/// How its issuer is trusted: as a platform's own, whose tokens speak for all tenants. The ID tokens of people are for the
/// client that they log in with: `kcp`, or one that was added by order.
pub(super) fn trusted(url: &str) -> IssuerSettings {
    IssuerSettings { audience: Some(Audience::Any), any_tenant: true, ..IssuerSettings::at(url) }
}

/// People of the landscape's issuer enter runtimes that are ordered without an issuer, unless the settings name another one or bring
/// defaults of their own. Shoots name issuers by https only, and simulated runtimes do not compare the scheme.
pub(super) fn open_runtimes(catalog: &mut CatalogSettings, landscape: &str) -> anyhow::Result<()> {
    let CatalogSettings { folder, oidc_issuer_url, oidc_client_id, .. } = catalog;
    if folder.is_some() || oidc_issuer_url.is_some() || oidc_client_id.is_some() {
        return Ok(());
    }
    let issuer = landscape.replacen("http://", "https://", 1);
    *oidc_issuer_url = Some(issuer.parse().context("the landscape has no address")?);
    *oidc_client_id = Some(PEOPLE.into());
    Ok(())
}

/// A token that opens every door for a day.
pub(super) fn token(issuer: &Issuer, credentials: &Credentials) -> anyhow::Result<SecretString> {
    let claims = issuer.claims(PEOPLE, &credentials.user, &every_scope(), &groups());
    Ok(issuer.sign(&claims).context("the token cannot be signed")?.into())
}

pub(super) fn router(landscape: &Arc<Landscape>) -> Router {
    landscape::router(landscape).merge(open(Arc::new(Always)))
}

fn every_scope() -> Vec<String> {
    scope::ALL.into_iter().chain(SCOPES).map(str::to_owned).collect()
}

fn groups() -> Vec<String> {
    ["runtimeAdmin", "runtimeOperator", "orchestrationsAdmin"].map(str::to_owned).to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_of_the_landscape_enter_runtimes_unless_the_settings_name_an_issuer() {
        let opened = |change: fn(&mut CatalogSettings)| {
            let mut catalog = crate::settings::load(None).unwrap().catalog;
            change(&mut catalog);
            open_runtimes(&mut catalog, "http://127.0.0.1:8082").unwrap();
            let issuer = catalog.oidc_issuer_url.map(|url| url.to_string());
            (issuer.unwrap_or_default(), catalog.oidc_client_id.unwrap_or_default())
        };
        let pair = |issuer: &str, client: &str| (issuer.to_owned(), client.to_owned());

        assert_eq!(opened(|_| {}), pair("https://127.0.0.1:8082/", "kcp"));
        let other = opened(|it| it.oidc_issuer_url = "https://id.test".parse().ok());
        assert_eq!(other, pair("https://id.test/", ""));
        let client = opened(|it| it.oidc_client_id = Some("people".into()));
        assert_eq!(client, pair("", "people"));
        assert_eq!(opened(|it| it.folder = Some("catalog".into())), pair("", ""));
    }
}
