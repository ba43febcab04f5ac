//! Which Gardener it is, and which fields its Shoots have.
//!
//! What a reader would get wrong: the schema decides, not the version. A garden's `/version` is that of Kubernetes, and
//! older gardens tell Gardener's version nowhere but in the status of Shoots.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use serde_json::Value;

use super::{Gardener, SHOOTS};
use crate::{
    error::{Component, Error, Kind},
    kubernetes::Resource,
};

/// The oldest and the newest version of Gardener whose fields are known.
pub const SUPPORTED: (&str, &str) = ("1.65", "1.149");
/// What is tried when a description is read, as errors name it.
const READING: &str = "reading the fields of Shoots";
/// How long a description is good.
const FRESH: Duration = Duration::from_mins(10);
/// Where a garden tells which Gardener it has.
const INFO: (&str, &str) = ("gardener-system-public", "gardener-info");
const CONFIG_MAPS: Resource = Resource::core("ConfigMap", "configmaps");

/// A field of Shoots that not every Gardener has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Field {
    /// One issuer of users, in the Shoot.
    OidcConfig,
    /// Issuers of users, in a `ConfigMap`.
    StructuredAuthentication,
    /// A kubeconfig that does not expire.
    StaticToken,
    /// Users with passwords.
    BasicAuthentication,
    /// The profile with its kind.
    CloudProfile,
    /// The account by the newer kind of binding.
    CredentialsBinding,
}

impl Field {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::OidcConfig,
        Self::StructuredAuthentication,
        Self::StaticToken,
        Self::BasicAuthentication,
        Self::CloudProfile,
        Self::CredentialsBinding,
    ];

    /// Where it stands in a Shoot.
    pub const fn path(self) -> &'static str {
        match self {
            Self::OidcConfig => "spec.kubernetes.kubeAPIServer.oidcConfig",
            Self::StructuredAuthentication => {
                "spec.kubernetes.kubeAPIServer.structuredAuthentication"
            }
            Self::StaticToken => "spec.kubernetes.enableStaticTokenKubeconfig",
            Self::BasicAuthentication => "spec.kubernetes.kubeAPIServer.enableBasicAuthentication",
            Self::CloudProfile => "spec.cloudProfile",
            Self::CredentialsBinding => "spec.credentialsBindingName",
        }
    }

    /// Whether the oldest supported Gardener has it.
    const fn is_old(self) -> bool {
        matches!(self, Self::OidcConfig | Self::StaticToken | Self::BasicAuthentication)
    }
}

/// The features of a garden.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Features {
    version: Option<String>,
    fields: BTreeSet<Field>,
}

impl Features {
    /// A garden of this version with these fields.
    pub fn new(version: Option<&str>, fields: impl IntoIterator<Item = Field>) -> Self {
        Self { version: version.map(str::to_owned), fields: fields.into_iter().collect() }
    }

    /// The oldest supported Gardener; also what a garden is taken for that has never described its Shoots and publishes no
    /// later version.
    pub fn oldest() -> Self {
        Self::new(None, Field::ALL.into_iter().filter(|field| field.is_old()))
    }

    /// Whether there is more than the oldest Gardener has, or less.
    fn differs_from_oldest(&self) -> bool {
        self.fields != Self::oldest().fields
    }

    /// Gardener's version, where the garden tells it: `v1.117.0`.
    pub fn version(&self) -> Option<&str> {
        self.version.as_deref()
    }

    /// Whether Shoots have a field.
    pub fn has(&self, field: Field) -> bool {
        self.fields.contains(&field)
    }

    /// What a description of `core.gardener.cloud/v1beta1` says, as `OpenAPI` of version 2 or 3; nothing when there are no
    /// Shoots in it. Shoots that take any field are those of the oldest Gardener.
    fn described(document: &Value) -> Option<Self> {
        let schemas = ["/components/schemas", "/definitions"]
            .into_iter()
            .find_map(|path| document.pointer(path)?.as_object())?;
        let identity = |schema: &Value| {
            let all = schema["x-kubernetes-group-version-kind"].as_array();
            all.into_iter().flatten().any(|one| {
                one["group"] == SHOOTS.group
                    && one["version"] == SHOOTS.version
                    && one["kind"] == SHOOTS.kind
            })
        };
        let shoot = schemas.values().find(|schema| identity(schema));
        let shoot = shoot.or_else(|| {
            let mut named = schemas.iter();
            Some(named.find(|(name, _)| name.ends_with("core.v1beta1.Shoot"))?.1)
        })?;
        if find(document, shoot, "spec.kubernetes.version").is_none() {
            let parts = [Some(shoot), find(document, shoot, "spec")];
            let is_open = |part: &Value| part["x-kubernetes-preserve-unknown-fields"] == true;
            return parts.into_iter().flatten().any(is_open).then(Self::oldest);
        }
        let has = |field: &Field| find(document, shoot, field.path()).is_some();
        Some(Self::new(None, Field::ALL.into_iter().filter(has)))
    }
}

/// Whether a version of Gardener, such as `v1.117.0`, is later than the oldest supported one.
fn is_after_oldest(version: &str) -> bool {
    let numbers = |text: &str| {
        let mut parts = text.trim_start_matches('v').split('.').map(|part| part.parse().ok());
        Some((parts.next()??, parts.next()??))
    };
    let found: Option<(u32, u32)> = numbers(version);
    found.is_some_and(|found| Some(found) > numbers(SUPPORTED.0))
}

/// The schema at a path. References are followed, also inside of `allOf`.
fn find<'a>(document: &'a Value, schema: &'a Value, path: &str) -> Option<&'a Value> {
    let (key, rest) = path.split_once('.').map_or((path, None), |(key, rest)| (key, Some(rest)));
    let inside = property(document, schema, key, 8)?;
    match rest {
        Some(rest) => find(document, inside, rest),
        None => Some(inside),
    }
}

fn property<'a>(document: &'a Value, schema: &'a Value, key: &str, depth: u8) -> Option<&'a Value> {
    if let Some(found) = schema["properties"].get(key) {
        return Some(found);
    }
    let depth = depth.checked_sub(1)?;
    let named = schema["$ref"].as_str().and_then(|name| document.pointer(name.strip_prefix('#')?));
    let parts = schema["allOf"].as_array().into_iter().flatten();
    named.into_iter().chain(parts).find_map(|part| property(document, part, key, depth))
}

/// The features as they were read. Only one task reads at a time; a report that the garden has changed never waits.
#[derive(Debug, Default)]
pub(super) struct FeaturesRead {
    known: Mutex<Snapshot>,
    reading: tokio::sync::Mutex<()>,
}

#[derive(Debug, Default)]
struct Snapshot {
    /// How often answers have shown that the garden is not what it was.
    contradictions: u64,
    last: Option<CachedFeatures>,
}

#[derive(Debug)]
struct CachedFeatures {
    features: Arc<Features>,
    /// When the reading began, by the monotonic clock.
    read: Duration,
    /// How many contradictions there had been then.
    contradictions: u64,
}

impl FeaturesRead {
    /// The features, if they were read after `earliest` and not contradicted since.
    fn since(&self, earliest: Duration) -> Option<Arc<Features>> {
        let known = self.known();
        let last = known.last.as_ref()?;
        let good = last.contradictions == known.contradictions && last.read >= earliest;
        good.then(|| last.features.clone())
    }

    /// Whether the garden was last described as another one than the oldest.
    fn differed_from_oldest(&self) -> bool {
        self.known().last.as_ref().is_some_and(|last| last.features.differs_from_oldest())
    }

    fn contradictions(&self) -> u64 {
        self.known().contradictions
    }

    fn contradict(&self) {
        self.known().contradictions += 1;
    }

    /// Keeps what was read; true if it is news.
    fn keep(&self, last: CachedFeatures) -> bool {
        let mut known = self.known();
        let news = known.last.as_ref().is_none_or(|before| before.features != last.features);
        known.last = Some(last);
        news
    }

    fn known(&self) -> MutexGuard<'_, Snapshot> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Gardener {
    /// What the garden has: read at first, and again after a while or when an answer shows that it has changed. A garden
    /// that cannot be read again has what it had.
    pub async fn features(&self) -> Result<Arc<Features>, Error> {
        self.features_within(FRESH).await
    }

    /// Reads them again, so that what is known does not get old while steps need it.
    pub async fn refresh_features(&self) -> Result<(), Error> {
        self.features_within(Duration::ZERO).await.map(drop)
    }

    /// The features as they were read within this time at the longest.
    async fn features_within(&self, longest: Duration) -> Result<Arc<Features>, Error> {
        let now = || self.cluster.gate().clock().monotonic();
        let earliest = now().saturating_sub(longest);
        let fresh = || self.features.since(earliest);
        if let Some(features) = fresh() {
            return Ok(features);
        }
        let _reading = self.features.reading.lock().await;
        if let Some(features) = fresh() {
            return Ok(features);
        }
        let (read, contradictions) = (now(), self.features.contradictions());
        let features = match self.read_features().await {
            Ok(features) => Arc::new(features),
            Err(error) => {
                let Some(features) = self.features.since(Duration::ZERO) else {
                    return Err(error);
                };
                tracing::warn!(%error, "the garden cannot be described again: it is taken for what it was");
                return Ok(features);
            }
        };
        if self.features.keep(CachedFeatures { features: features.clone(), read, contradictions }) {
            let version = features.version().unwrap_or("unknown");
            tracing::info!(gardener.version = version, fields = ?features.fields, "the garden has Gardener {version}");
        }
        Ok(features)
    }

    /// Has them read again before they are used next.
    pub(super) fn forget_features(&self) {
        self.features.contradict();
    }

    async fn read_features(&self) -> Result<Features, Error> {
        let described = self.described().await?;
        let version = self.published_version().await?;
        let has_more = || {
            self.features.differed_from_oldest() || version.as_deref().is_some_and(is_after_oldest)
        };
        // A kube-apiserver that has just started describes Gardener's kinds a moment later than its own.
        if described.is_none() && has_more() {
            let error = Error::new(Component::GARDENER, Kind::Unavailable, READING);
            return Err(error.saying("the garden does not describe Shoots"));
        }
        Ok(Features { version, ..described.unwrap_or_else(Features::oldest) })
    }

    /// The fields of Shoots; nothing when no document has Shoots.
    async fn described(&self) -> Result<Option<Features>, Error> {
        let newer = format!("/openapi/v3/apis/{}/{}", SHOOTS.group, SHOOTS.version);
        for path in [newer.as_str(), "/openapi/v2"] {
            match self.cluster.document::<Value>(READING, path).await {
                Ok(document) => {
                    if let Some(features) = Features::described(&document) {
                        return Ok(Some(features));
                    }
                }
                Err(error) if matches!(error.kind, Kind::NotFound | Kind::Refused { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(None)
    }

    /// From the garden's own `ConfigMap`, or from the first Shoot that says who made it.
    async fn published_version(&self) -> Result<Option<String>, Error> {
        let maybe = |read: Result<Value, Error>| match read {
            Ok(found) => Ok(Some(found)),
            Err(error) if matches!(error.kind, Kind::NotFound | Kind::Unauthorized) => Ok(None),
            Err(error) => Err(error),
        };
        let doing = "reading Gardener's version";
        let path = CONFIG_MAPS.path(Some(INFO.0)).unwrap_or_default();
        let info = self.cluster.document(doing, &format!("{path}/{}", INFO.1)).await;
        let info = maybe(info)?;
        let published = info.as_ref().and_then(|info| info["data"]["gardenerAPIServer"].as_str());
        let published = published.and_then(|text| {
            text.lines().find_map(|line| line.trim().strip_prefix("version:")).map(str::trim)
        });
        if let Some(version) = published.filter(|version| !version.is_empty()) {
            return Ok(Some(version.to_owned()));
        }
        let path = SHOOTS.path(Some(&self.namespace)).unwrap_or_default();
        let shoots = maybe(self.cluster.document(doing, &format!("{path}?limit=1")).await)?;
        let version =
            shoots.as_ref().and_then(|list| list.pointer("/items/0/status/gardener/version"));
        let version = version.and_then(Value::as_str).filter(|version| !version.is_empty());
        Ok(version.map(|version| format!("v{}", version.trim_start_matches('v'))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn fields_are_found_through_references_as_real_gardens_write_them() {
        let name =
            |kind: &str| format!("com.github.gardener.gardener.pkg.apis.core.v1beta1.{kind}");
        let third = |kind: &str| json!({"default": {}, "allOf": [{"$ref": format!("#/components/schemas/{}", name(kind))}]});
        let newer = json!({"components": {"schemas": {
            name("Shoot"): {"properties": {"spec": third("ShootSpec")}, "x-kubernetes-group-version-kind": [
                {"group": "core.gardener.cloud", "version": "v1beta1", "kind": "Shoot"},
            ]},
            name("ShootSpec"): {"properties": {"kubernetes": third("Kubernetes"), "credentialsBindingName": {"type": "string"}}},
            name("Kubernetes"): {"properties": {"version": {"type": "string"}, "kubeAPIServer": third("KubeAPIServerConfig")}},
            name("KubeAPIServerConfig"): {"properties": {"structuredAuthentication": {}}},
        }}});
        let second = json!({"definitions": {
            name("Shoot"): {"properties": {"spec": {"$ref": format!("#/definitions/{}", name("ShootSpec"))}}},
            name("ShootSpec"): {"properties": {"kubernetes": {"properties": {"version": {}, "enableStaticTokenKubeconfig": {}}}}},
        }});
        let open = json!({"components": {"schemas": {name("Shoot"): {"x-kubernetes-preserve-unknown-fields": true}}}});

        let newer = Features::described(&newer).unwrap();
        let older = Features::described(&second).unwrap();

        let expected = [Field::StructuredAuthentication, Field::CredentialsBinding];
        assert_eq!(newer, Features::new(None, expected));
        assert_eq!(older, Features::new(None, [Field::StaticToken]));
        assert_eq!(Features::described(&open), Some(Features::oldest()));
        assert_eq!(Features::described(&json!({"definitions": {}})), None);
    }

    #[test]
    fn only_a_version_after_the_oldest_says_that_there_must_be_more() {
        let later = ["v1.66.0", "v1.117.3", "1.149.0", "v2.0.0"];
        let others = ["v1.65.2", "v1.9.0", "unknown", ""];

        assert!(later.into_iter().all(is_after_oldest));
        assert!(!others.into_iter().any(is_after_oldest));
    }
}
