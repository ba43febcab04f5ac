//! The Kyma installer: works through the components of an `Installation`, one after the other.
//!
//! What a reader would get wrong: how far it has come stands in `status.description` and nowhere else.
//! The label `action` is an order; it is taken off once the status says that it is being followed.

mod status;

use std::{collections::BTreeSet, time::Duration};

use k8s_openapi::api::{
    apps::v1::Deployment,
    core::v1::{ConfigMap, Namespace, Secret},
};
use kube::{
    Api, Client, Error,
    api::{DeleteParams, DynamicObject, ListParams, ObjectMeta, Patch, PatchParams, PostParams},
};
use serde_json::{Value, json};

use super::{
    FASTEST, INSTALLATION, Next, Settings,
    kinds::{AGENT, INSTALLER, installations},
    scenario::{SLOW, Scenario},
    workload::deployment,
};
use crate::pace::Pace;
pub(super) use status::LITE;
use status::{Component, Task, components};

/// The writer.
const MANAGER: &str = "kyma-installer";
/// How often a component fails that recovers.
const FAILURES: u64 = 2;

pub(super) struct Installer {
    settings: Settings,
    pace: Pace,
}

/// One look at one runtime.
struct Visit<'a> {
    installer: &'a Installer,
    client: &'a Client,
    api: Api<DynamicObject>,
    scenario: Scenario,
    found: DynamicObject,
    components: Vec<Component>,
}

impl Installer {
    pub(super) fn new(settings: Settings, pace: Pace) -> Self {
        Self { settings, pace }
    }

    /// Looks at a runtime and does the next thing.
    pub(super) async fn act(&self, client: &Client) -> Result<Next, Error> {
        let api: Api<DynamicObject> =
            Api::namespaced_with(client.clone(), INSTALLATION.0, &installations());
        let Some(found) = api.get_opt(INSTALLATION.1).await? else { return Ok(Next::Woken) };
        let scenario = Scenario::read(client, "installer").await?;
        let deployments: Api<Deployment> = Api::namespaced(client.clone(), INSTALLER);
        if scenario.says("silent") || deployments.get_opt(INSTALLER).await?.is_none() {
            return Ok(Next::Woken);
        }
        let components = components(&found.data["spec"]);
        let visit = Visit { installer: self, client, api, scenario, found, components };
        visit.act().await
    }
}

impl Visit<'_> {
    async fn act(&self) -> Result<Next, Error> {
        let action = self.found.metadata.labels.as_ref().and_then(|labels| labels.get("action"));
        match action.map(String::as_str) {
            Some("install") => self.begin(Task::Install).await,
            Some("uninstall") => self.begin(Task::Uninstall).await,
            _ => self.go_on().await,
        }
    }

    fn delay(&self) -> Duration {
        let slow = if self.scenario.says("slow") { SLOW } else { 1 };
        self.installer.pace.scaled(self.installer.settings.component * slow)
    }

    /// Takes an order: first the status, then the label, so that a kill in between repeats it.
    async fn begin(&self, task: Task) -> Result<Next, Error> {
        let first = self.order(task).next().map_or("", |component| &component.name);
        let overrides = self.overrides().await?;
        self.write(json!({
            "state": "InProgress",
            "description": task.says(first),
            "errorLog": null,
            "overrides": overrides,
        }))
        .await?;
        let off = json!({"metadata": {"labels": {"action": null}}});
        self.api.patch(INSTALLATION.1, &by(), &Patch::Merge(off)).await?;
        Ok(Next::After(self.delay()))
    }

    async fn go_on(&self) -> Result<Next, Error> {
        let status = &self.found.data["status"];
        let said = status["description"].as_str().unwrap_or_default();
        let Some((task, current)) = Task::read(said) else { return Ok(Next::Woken) };
        match status["state"].as_str() {
            Some("InProgress") => {}
            Some("Error") if self.recovers(&current) => {}
            _ => return Ok(Next::Woken),
        }
        if task == Task::Install && self.fails(&current) {
            return self.fail(&current).await;
        }
        let delay = self.delay();
        let mut rest = self.order(task).skip_while(|component| component.name != current).skip(1);
        // In a world without delays only those components are shown that stop.
        let next = rest.find(|component| !delay.is_zero() || self.fails(&component.name));
        let Some(next) = next else { return self.finish(task).await };
        let said = task.says(&next.name);
        self.write(json!({"state": "InProgress", "description": said, "errorLog": null})).await?;
        Ok(Next::After(delay))
    }

    fn order(&self, task: Task) -> Box<dyn Iterator<Item = &Component> + Send + '_> {
        match task {
            Task::Install => Box::new(self.components.iter()),
            Task::Uninstall => Box::new(self.components.iter().rev()),
        }
    }

    fn failures(&self, component: &str) -> u64 {
        let log = &self.found.data["status"]["errorLog"][0];
        if log["component"] == component { log["occurrences"].as_u64().unwrap_or(1) } else { 0 }
    }

    fn fails(&self, component: &str) -> bool {
        let recovering = self.scenario.value("recover") == Some(component);
        self.is_unknown(component)
            || self.scenario.value("fail") == Some(component)
            || recovering && self.failures(component) < FAILURES
    }

    /// Whether the release has no such component.
    fn is_unknown(&self, component: &str) -> bool {
        self.components.iter().any(|one| one.name == component && one.is_unknown())
    }

    /// Whether an error may pass: the scenario lets it, or does not ask for it any more.
    fn recovers(&self, component: &str) -> bool {
        !self.is_unknown(component) && self.scenario.value("fail") != Some(component)
    }

    async fn fail(&self, component: &str) -> Result<Next, Error> {
        let occurrences = self.failures(component) + 1;
        let log = if self.is_unknown(component) {
            let version = self.found.data["spec"]["version"].as_str().unwrap_or_default();
            format!("component {component} is not in release {version}")
        } else {
            format!("component {component} did not become ready")
        };
        self.write(json!({
            "state": "Error",
            "description": Task::Install.says(component),
            "errorLog": [{"component": component, "log": log, "occurrences": occurrences}],
        }))
        .await?;
        if self.recovers(component) {
            return Ok(Next::After(self.delay().max(FASTEST)));
        }
        Ok(Next::Woken)
    }

    async fn finish(&self, task: Task) -> Result<Next, Error> {
        if task == Task::Uninstall {
            self.remove_agent().await?;
            return match self.api.delete(INSTALLATION.1, &DeleteParams::default()).await {
                Err(Error::Api(status)) if status.code == 404 => Ok(Next::Woken),
                Err(error) => Err(error),
                Ok(_) => Ok(Next::Woken),
            };
        }
        self.make_namespaces().await?;
        self.install_agent().await?;
        self.write(json!({
            "state": "Installed",
            "description": "Kyma installed",
            "kymaVersion": self.found.data["spec"]["version"],
            "errorLog": null,
        }))
        .await?;
        Ok(Next::Woken)
    }

    async fn make_namespaces(&self) -> Result<(), Error> {
        let all: Api<Namespace> = Api::all(self.client.clone());
        let wanted: BTreeSet<&str> =
            self.components.iter().map(|component| component.namespace.as_str()).collect();
        for name in wanted.into_iter().filter(|name| !name.is_empty()) {
            let metadata = ObjectMeta { name: Some(name.to_owned()), ..ObjectMeta::default() };
            let namespace = Namespace { metadata, ..Namespace::default() };
            match all.create(&PostParams::default(), &namespace).await {
                Err(Error::Api(status)) if status.code == 409 => {}
                Err(error) => return Err(error),
                Ok(_) => {}
            }
        }
        Ok(())
    }

    /// Where the installation puts the agent. It is the one component that does something in a runtime.
    fn agents(&self) -> Option<(&str, Api<Deployment>)> {
        let agent = self.components.iter().find(|component| component.name == AGENT)?;
        let namespace = Some(agent.namespace.as_str()).filter(|name| !name.is_empty())?;
        Some((namespace, Api::namespaced(self.client.clone(), namespace)))
    }

    async fn install_agent(&self) -> Result<(), Error> {
        let Some((namespace, agents)) = self.agents() else { return Ok(()) };
        let version = self.found.data["spec"]["version"].as_str().unwrap_or_default();
        let by = PatchParams::apply(MANAGER).force();
        let agent = Patch::Apply(deployment(AGENT, namespace, version));
        agents.patch(AGENT, &by, &agent).await.map(drop)
    }

    async fn remove_agent(&self) -> Result<(), Error> {
        let Some((_, agents)) = self.agents() else { return Ok(()) };
        match agents.delete(AGENT, &DeleteParams::default()).await {
            Err(Error::Api(status)) if status.code == 404 => Ok(()),
            removed => removed.map(drop),
        }
    }

    /// Reads what the caller overrides; there may be nothing.
    async fn overrides(&self) -> Result<Value, Error> {
        let which = ListParams::default().labels("installer=overrides");
        let maps: Api<ConfigMap> = Api::namespaced(self.client.clone(), INSTALLER);
        let secrets: Api<Secret> = Api::namespaced(self.client.clone(), INSTALLER);
        let mut names: Vec<String> = Vec::new();
        names.extend(maps.list(&which).await?.items.into_iter().filter_map(|m| m.metadata.name));
        names.extend(secrets.list(&which).await?.items.into_iter().filter_map(|s| s.metadata.name));
        names.sort();
        names.dedup();
        Ok(json!(names))
    }

    async fn write(&self, status: Value) -> Result<(), Error> {
        let change = Patch::Merge(json!({"status": status}));
        self.api.patch_status(INSTALLATION.1, &by(), &change).await.map(drop)
    }
}

fn by() -> PatchParams {
    PatchParams { field_manager: Some(MANAGER.into()), ..PatchParams::default() }
}
