//! The Kyma installer in a runtime: started by a label, steered by overrides, watched by its status.

use std::collections::BTreeMap;

use k8s_openapi::{
    ByteString,
    api::core::v1::{ConfigMap, Secret},
    apimachinery::pkg::apis::meta::v1::ObjectMeta,
};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Runtime, SECRETS};
use crate::{
    error::{Error, Kind},
    kubernetes::Resource,
    releases::Release,
};

const INSTALLATIONS: Resource = Resource {
    group: "installer.kyma-project.io",
    version: "v1alpha1",
    kind: "Installation",
    plural: "installations",
};
const DEPLOYMENTS: Resource =
    Resource { group: "apps", version: "v1", kind: "Deployment", plural: "deployments" };
const CONFIG_MAPS: Resource = Resource::core("ConfigMap", "configmaps");
/// Where the Installation stands, and its name.
const INSTALLATION: (&str, &str) = ("default", "kyma-installation");
/// Where the installer works; its Deployment has the same name.
const INSTALLER: &str = "kyma-installer";
/// Tells the installer what to do.
const ACTION: &str = "action";
/// Names who started the installation last, so that a repeated call knows.
const STARTED_BY: &str = "kcp.provisioner.kyma-project.io/operation-id";

/// The installation.
#[derive(Debug, Clone)]
pub struct Install {
    /// `evaluation` or `production`.
    pub profile: Option<&'static str>,
    /// In this order.
    pub modules: Vec<Module>,
    /// For all components, and for each.
    pub scopes: Vec<Scope>,
}

/// One component.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Module {
    /// Its name.
    pub name: String,
    /// Where it is installed.
    pub namespace: String,
    /// Where its chart comes from, unless it is in the release.
    pub source_url: Option<String>,
}

/// Overrides for all components or for one.
#[derive(Debug, Clone)]
pub struct Scope {
    /// The component; all when absent.
    pub component: Option<String>,
    /// The overrides.
    pub overrides: Vec<Override>,
    /// Whether old values go: otherwise new ones are put over them.
    pub replace: bool,
    /// The word of the label that says so; empty when nobody said anything.
    pub strategy: &'static str,
}

/// One override.
#[derive(Clone)]
pub struct Override {
    /// The overridden key.
    pub key: String,
    /// With what.
    pub value: String,
    /// Whether it goes into a Secret.
    pub secret: bool,
}

impl std::fmt::Debug for Override {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Override").field("key", &self.key).finish_non_exhaustive()
    }
}

/// How an installation is doing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Installation {
    /// In a word.
    pub state: InstallState,
    /// Its progress.
    pub description: String,
    /// Components that failed, with what they said.
    pub failed: Vec<(String, String)>,
    /// The version that it is about, when it says.
    pub version: String,
    /// The user who started it last, if known.
    pub started_by: String,
}

/// How an installation is doing, in a word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InstallState {
    /// There is none.
    Missing,
    /// It was never started, or the installer has not begun what was written last.
    Idle,
    /// The installer is at it.
    InProgress,
    /// Everything is installed.
    Installed,
    /// Something failed.
    Error,
    /// A word that is not known here.
    Other(String),
}

#[derive(Deserialize)]
struct Object {
    #[serde(default)]
    metadata: ObjectMeta,
    #[serde(default)]
    status: Status,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Status {
    state: String,
    description: String,
    error_log: Vec<FailedComponent>,
    kyma_version: String,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct FailedComponent {
    component: String,
    log: String,
}

impl Runtime {
    /// How the installation is doing.
    pub async fn installation(&self) -> Result<Installation, Error> {
        let (namespace, name) = INSTALLATION;
        let objects = self.cluster.objects::<Object>(INSTALLATIONS, Some(namespace));
        let Object { metadata, status } = match objects.get(name).await {
            // Neither the object nor its kind.
            Err(error) if error.kind == Kind::NotFound => {
                return Ok(Installation {
                    state: InstallState::Missing,
                    description: String::new(),
                    failed: Vec::new(),
                    version: String::new(),
                    started_by: String::new(),
                });
            }
            object => object?,
        };
        let ordered = metadata.labels.as_ref().is_some_and(|labels| labels.contains_key(ACTION));
        let state = match status.state.as_str() {
            "" => InstallState::Idle,
            // Of the installation before: the installer takes the label off when it begins.
            _ if ordered => InstallState::Idle,
            "InProgress" => InstallState::InProgress,
            "Installed" => InstallState::Installed,
            "Error" => InstallState::Error,
            other => InstallState::Other(other.into()),
        };
        let failed = status.error_log.into_iter().map(|failed| (failed.component, failed.log));
        Ok(Installation {
            state,
            description: status.description,
            failed: failed.collect(),
            version: status.kyma_version,
            started_by: metadata
                .annotations
                .and_then(|mut all| all.remove(STARTED_BY))
                .unwrap_or_default(),
        })
    }

    /// Brings the installer of a release and what it is to install, and starts it in the name of `by`.
    pub async fn install(
        &self,
        release: &Release,
        install: &Install,
        by: &str,
    ) -> Result<(), Error> {
        self.cluster.apply_all(&release.tiller, &self.owner).await?;
        self.cluster.apply_all(&release.installer, &self.owner).await?;
        for scope in &install.scopes {
            self.write_overrides(scope).await?;
        }
        let (namespace, name) = INSTALLATION;
        let installations = self.cluster.objects::<Value>(INSTALLATIONS, Some(namespace));
        let modules: Vec<Value> = install.modules.iter().map(module).collect();
        let mut spec = json!({"components": modules, "version": release.version});
        if let Some(profile) = install.profile {
            spec["profile"] = profile.into();
        }
        let metadata = json!({"labels": {ACTION: "install"}, "annotations": {STARTED_BY: by}});
        let patch = json!({"metadata": metadata, "spec": spec});
        installations.merge(name, &patch).await.map(|_| ())
    }

    /// Takes the installer away, so that another one takes its place.
    pub async fn remove_installer(&self) -> Result<(), Error> {
        let deployments = self.cluster.objects::<Value>(DEPLOYMENTS, Some(INSTALLER));
        match deployments.delete(INSTALLER, None).await {
            Err(error) if error.kind == Kind::NotFound => Ok(()),
            deleted => deleted.map(|_| ()),
        }
    }

    /// Tells the installer to remove everything; whether there was something to remove.
    pub async fn uninstall(&self) -> Result<bool, Error> {
        let (namespace, name) = INSTALLATION;
        let installations = self.cluster.objects::<Value>(INSTALLATIONS, Some(namespace));
        let patch = json!({"metadata": {"labels": {ACTION: "uninstall"}}});
        match installations.merge(name, &patch).await {
            Err(error) if error.kind == Kind::NotFound => Ok(false),
            patched => patched.map(|_| true),
        }
    }

    /// Secret values go into a Secret, the others into a `ConfigMap` of the same name.
    async fn write_overrides(&self, scope: &Scope) -> Result<(), Error> {
        self.ensure_namespace(INSTALLER).await?;
        let name = match &scope.component {
            Some(component) => format!("{component}-installer-config"),
            None => "global-installer-config".into(),
        };
        let (hidden, plain): (Vec<_>, Vec<_>) = scope.overrides.iter().partition(|one| one.secret);
        if !plain.is_empty() {
            let maps = self.cluster.objects::<ConfigMap>(CONFIG_MAPS, Some(INSTALLER));
            let found = maps.find(&name).await?;
            let mut map = found.clone().unwrap_or_default();
            let data = map.data.get_or_insert_default();
            if scope.replace {
                data.clear();
            }
            data.extend(plain.into_iter().map(|one| (one.key.clone(), one.value.clone())));
            let labels = scope.labels(scope.component.is_some());
            map.metadata.labels.get_or_insert_default().extend(labels);
            map.metadata.name = Some(name.clone());
            if found.is_some() {
                maps.replace(&name, &map).await?;
            } else {
                maps.create(&name, &map).await?;
            }
        }
        if !hidden.is_empty() {
            let secrets = self.cluster.objects::<Secret>(SECRETS, Some(INSTALLER));
            let found = secrets.find(&name).await?;
            let mut secret = found.clone().unwrap_or_default();
            let data = secret.data.get_or_insert_default();
            if scope.replace {
                data.clear();
            }
            let bytes = |one: &Override| ByteString(one.value.as_bytes().to_vec());
            data.extend(hidden.into_iter().map(|one| (one.key.clone(), bytes(one))));
            let labels = scope.labels(true);
            secret.metadata.labels.get_or_insert_default().extend(labels);
            secret.metadata.name = Some(name.clone());
            if found.is_some() {
                secrets.replace(&name, &secret).await?;
            } else {
                secrets.create(&name, &secret).await?;
            }
        }
        Ok(())
    }
}

impl Scope {
    fn labels(&self, naming: bool) -> BTreeMap<String, String> {
        let mut labels = BTreeMap::from([
            ("installer".to_owned(), "overrides".to_owned()),
            ("conflict-strategy".to_owned(), self.strategy.to_owned()),
        ]);
        if naming && let Some(component) = &self.component {
            labels.insert("component".into(), component.clone());
        }
        labels
    }
}

fn module(module: &Module) -> Value {
    let mut object = json!({"name": module.name, "namespace": module.namespace});
    if let Some(url) = &module.source_url {
        object["source"] = json!({"url": url});
    }
    object
}
