//! The runtime agent: exchanges a one-time token for credentials and keeps the runtime connected, in runtimes that have
//! its Deployment.
//!
//! What a reader would get wrong: it has no memory. Which tokens it has tried stands in an annotation of
//! the connection, its credentials in a Secret; so it can be killed anywhere and never loses a token to a
//! half-finished exchange, which it repeats under the same key.

mod configuration;
mod connection;
mod graphql;

use std::time::Duration;

use base::Clock;
use k8s_openapi::api::{
    apps::v1::Deployment,
    core::v1::{ConfigMap, Secret},
};
use kube::{
    Api, Client, Error,
    api::{DynamicObject, ListParams, Patch, PatchParams},
};
use serde_json::{Value, json};

use super::{
    CONNECTION, FASTEST, Next, Settings,
    kinds::{AGENT, connections},
    scenario::{SLOW, Scenario},
};
use crate::pace::Pace;
use configuration::{Configuration, Credentials};
use connection::{Connection, State};
use graphql::{Failure, Wire};

/// Its field manager.
const MANAGER: &str = AGENT;

pub(super) struct Agent {
    wire: Wire,
    settings: Settings,
    clock: Clock,
    pace: Pace,
}

/// One look at one runtime.
struct Visit<'a> {
    agent: &'a Agent,
    client: &'a Client,
    connections: Api<DynamicObject>,
    scenario: Scenario,
}

impl Agent {
    pub(super) fn new(settings: Settings, clock: Clock, pace: Pace) -> Self {
        Self { wire: Wire::new(), settings, clock, pace }
    }

    /// Looks at a runtime and does the next thing.
    pub(super) async fn act(&self, client: &Client) -> Result<Next, Error> {
        let scenario = Scenario::read(client, "agent").await?;
        if scenario.says("silent") || !is_installed(client).await? {
            return Ok(Next::Woken);
        }
        let connections = Api::all_with(client.clone(), &connections());
        let visit = Visit { agent: self, client, connections, scenario };
        let configurations = Configuration::all(client).await?;
        let found = match visit.connections.get_opt(CONNECTION).await? {
            Some(found) => found,
            None => match configurations.first() {
                Some(configuration) => visit.begin(configuration).await?,
                None => return Ok(Next::Woken),
            },
        };
        let connection = Connection(&found);
        match configurations.iter().find(|one| !connection.has_tried(&one.digest())) {
            Some(configuration) => visit.connect(configuration, connection).await,
            None => visit.maintain(connection).await,
        }
    }
}

/// Whether Kyma has brought the agent.
async fn is_installed(client: &Client) -> Result<bool, Error> {
    let name = ListParams::default().fields(&format!("metadata.name={AGENT}"));
    let found = Api::<Deployment>::all(client.clone()).list(&name).await?;
    Ok(found.items.iter().any(|one| one.metadata.deletion_timestamp.is_none()))
}

impl Visit<'_> {
    fn delay(&self, delay: Duration) -> Duration {
        let slow = if self.scenario.says("slow") { SLOW } else { 1 };
        self.agent.pace.scaled(delay * slow)
    }

    fn later(&self) -> Next {
        Next::After(self.delay(self.agent.settings.retry).max(FASTEST))
    }

    async fn begin(&self, configuration: &Configuration) -> Result<DynamicObject, Error> {
        let object = json!({
            "apiVersion": "compass.kyma-project.io/v1alpha1",
            "kind": "CompassConnection",
            "metadata": {"name": CONNECTION},
            "spec": {"managementInfo": {"connectorUrl": configuration.connector_url}},
        });
        let by = PatchParams::apply(MANAGER).force();
        self.connections.patch(CONNECTION, &by, &Patch::Apply(object)).await
    }

    async fn write(&self, change: Value) -> Result<(), Error> {
        let by = PatchParams { field_manager: Some(MANAGER.into()), ..PatchParams::default() };
        self.connections.patch(CONNECTION, &by, &Patch::Merge(change)).await.map(drop)
    }

    fn now(&self) -> String {
        self.agent.clock.now().to_string()
    }

    /// Exchanges a token that was not tried before.
    async fn connect(
        &self,
        configuration: &Configuration,
        connection: Connection<'_>,
    ) -> Result<Next, Error> {
        let delay = self.delay(self.agent.settings.connecting);
        let digest = configuration.digest();
        if !delay.is_zero() && connection.trying() != Some(&digest) {
            self.write(connection::trying(&digest)).await?;
            return Ok(Next::After(delay));
        }
        let exchanged = if self.scenario.says("refuse") {
            Err(Failure::Refused("the scenario of this runtime refuses the connection".into()))
        } else {
            self.agent.wire.exchange(configuration, &connection.key(&digest)).await
        };
        let credentials = match exchanged {
            Ok(credentials) => credentials,
            Err(Failure::Refused(why)) => {
                let mut change = Connection::failed(State::ConnectionFailed, &why);
                change["metadata"] = connection.tried(&digest)["metadata"].take();
                self.write(change).await?;
                return Ok(Next::Woken);
            }
            Err(Failure::Unreachable(why)) => {
                self.write(Connection::failed(State::ConnectionFailed, &why)).await?;
                return Ok(self.later());
            }
        };
        credentials.keep(self.client, &configuration.namespace).await?;
        self.write(connection.connected(
            &digest,
            &configuration.namespace,
            &credentials,
            &self.now(),
        ))
        .await?;
        Ok(Next::After(self.delay(self.agent.settings.synchronising)))
    }

    /// Keeps a connection going.
    async fn maintain(&self, connection: Connection<'_>) -> Result<Next, Error> {
        if let Some(order) = self.scenario.order("disconnect").filter(|it| !connection.lost_by(it))
        {
            self.write(Connection::lost(order)).await?;
            return Ok(Next::Woken);
        }
        match connection.state() {
            None | Some(State::ConnectionFailed) => Ok(Next::Woken),
            Some(_) if connection.asks("refreshCredentialsNow") => self.renew(connection).await,
            Some(State::Synchronized) if !connection.asks("resyncNow") => Ok(Next::Woken),
            Some(_) => self.synchronise(connection).await,
        }
    }

    async fn renew(&self, connection: Connection<'_>) -> Result<Next, Error> {
        let credentials = self.credentials(connection).await?;
        let renewed = match &credentials {
            Some(credentials) => self.agent.wire.renew(credentials).await,
            None => Err(Failure::Refused("the agent has no credentials".into())),
        };
        match renewed {
            Ok(renewed) => {
                renewed.keep(self.client, connection.home()).await?;
                self.write(Connection::renewed(&renewed, &self.now())).await?;
                Ok(Next::After(Duration::ZERO))
            }
            Err(Failure::Refused(why) | Failure::Unreachable(why)) => {
                self.write(Connection::failed(State::ConnectionMaintenanceFailed, &why)).await?;
                Ok(self.later())
            }
        }
    }

    async fn credentials(&self, connection: Connection<'_>) -> Result<Option<Credentials>, Error> {
        let secrets: Api<Secret> = Api::namespaced(self.client.clone(), connection.home());
        let found = secrets.get_opt(configuration::CREDENTIALS).await?;
        Ok(found.as_ref().and_then(Credentials::read))
    }

    /// Tells the Director that the runtime is there, and where its console is.
    async fn synchronise(&self, connection: Connection<'_>) -> Result<Next, Error> {
        let Some(credentials) = self.credentials(connection).await? else {
            let why = "the agent has no credentials";
            self.write(Connection::failed(State::ConnectionFailed, why)).await?;
            return Ok(Next::Woken);
        };
        for (word, state) in [
            ("sync-failed", State::SynchronizationFailed),
            ("metadata-failed", State::MetadataUpdateFailed),
        ] {
            if self.scenario.says(word) {
                if connection.state() != Some(state) {
                    let why = "the scenario of this runtime lets it fail";
                    self.write(Connection::failed(state, why)).await?;
                }
                return Ok(Next::Woken);
            }
        }
        let infos: Api<ConfigMap> = Api::namespaced(self.client.clone(), "kube-system");
        let domain = infos.get_opt("shoot-info").await?.and_then(|info| info.data);
        let domain = domain.and_then(|data| data.get("domain").cloned());
        match self.agent.wire.tell(&credentials, domain).await {
            Ok(()) => {
                self.write(Connection::synchronized(&self.now())).await?;
                Ok(Next::Woken)
            }
            Err(Failure::Refused(why) | Failure::Unreachable(why)) => {
                self.write(Connection::failed(State::SynchronizationFailed, &why)).await?;
                Ok(self.later())
            }
        }
    }
}
