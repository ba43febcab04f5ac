//! The pool of hyperscaler accounts: bindings in the project, claimed and released by their labels.
//!
//! What a reader would get wrong: there is no lock. Each tenant prefers the free bindings in an order of its
//! own, so that tenants seldom meet and two claims of one tenant always do; the API server lets one
//! win, and the loser selects again from the start, where it finds what its own tenant won.

use std::{
    collections::BTreeSet,
    hash::{DefaultHasher, Hash, Hasher},
};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{SHOOTS, Shoot};
use crate::{
    error::{Component, Error, Kind},
    kubernetes::{Cluster, Objects, Resource},
};

/// How often a claim or release that lost a race selects again before the step tries later.
const ROUNDS: usize = 8;

const TENANT: &str = "tenantName";
const DIRTY: &str = "dirty";

/// Which kind of object holds the labels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BindingKind {
    /// The older one; the Shoot names its secret.
    Secret,
    /// The newer one; the Shoot names the binding.
    Credentials,
}

/// A hyperscaler account in the pool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Binding {
    /// Name, labels, version.
    pub metadata: ObjectMeta,
    /// Other fields.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// Which account is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AccountNeed<'a> {
    /// `aws`, `gcp_cf-sa30` …
    pub hyperscaler: &'a str,
    /// Whether only people in the EU may touch it.
    pub eu_access: bool,
}

/// The result of a release.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReleaseResult {
    /// It waits for being cleaned up.
    Dirty,
    /// It is for everybody, or for ourselves: it is never released.
    Exempt,
    /// Other Shoots use it.
    InUse,
    /// It is not there.
    Gone,
}

/// The pool.
#[derive(Debug, Clone)]
pub struct Pool {
    bindings: Objects<Binding>,
    shoots: Objects<Shoot>,
    kind: BindingKind,
}

impl Pool {
    pub(super) fn new(cluster: &Cluster, namespace: &str, kind: BindingKind) -> Self {
        let bindings = cluster.objects(kind.resource(), Some(namespace));
        let shoots = cluster.objects(SHOOTS, Some(namespace));
        Self { bindings, shoots, kind }
    }

    /// All bindings with matching labels, in the order of their names.
    pub async fn list(&self, selector: &str) -> Result<Vec<Binding>, Error> {
        let mut found = self.bindings.list(selector).await?;
        found.sort_by(|one, other| one.metadata.name.cmp(&other.metadata.name));
        Ok(found)
    }

    /// The tenant's account: the one it has, or a free one that is its own from now on.
    pub async fn claim(&self, tenant: &str, wanted: AccountNeed<'_>) -> Result<Binding, Error> {
        let doing = format!("claiming an account for {tenant}");
        let (own, free) = (wanted.own(&doing, tenant)?, wanted.free(&doing)?);
        for _ in 0..ROUNDS {
            if let Some(own) = self.list(&own).await?.into_iter().next() {
                return Ok(own);
            }
            let free = self.list(&free).await?;
            let favourite = free.into_iter().max_by_key(|free| liking(tenant, free.name()));
            let Some(mut free) = favourite else {
                return Err(Error::new(Component::GARDENER, Kind::NotFound, &doing)
                    .because("NoFreeAccount")
                    .saying("no unassigned provider accounts are available"));
            };
            free.label(TENANT, tenant);
            match self.bindings.replace(free.name(), &free).await {
                Err(error) if lost_race(&error) => {}
                claimed => return claimed,
            }
        }
        Err(Error::new(Component::GARDENER, Kind::Changed, &doing)
            .saying("claimed concurrently by another operation"))
    }

    /// The account for everybody that the fewest Shoots use.
    pub async fn shared(&self, wanted: AccountNeed<'_>) -> Result<Binding, Error> {
        let doing = "choosing a shared account";
        let candidates = self.list(&wanted.shared(doing)?).await?;
        let shoots = self.shoots.list("").await?;
        let users =
            |binding: &Binding| shoots.iter().filter(|shoot| self.uses(shoot, binding)).count();
        candidates.into_iter().min_by_key(users).ok_or_else(|| {
            Error::new(Component::GARDENER, Kind::NotFound, doing)
                .because("NoSharedAccount")
                .saying("no shared provider accounts are available")
        })
    }

    /// Whether an account could be claimed right now. It promises nothing.
    pub async fn has_free(&self, wanted: AccountNeed<'_>) -> Result<bool, Error> {
        self.bindings.any(&wanted.free("looking for a free account")?).await
    }

    /// Whether the tenant has an account.
    pub async fn has_own(&self, tenant: &str, wanted: AccountNeed<'_>) -> Result<bool, Error> {
        let doing = format!("looking for the account of {tenant}");
        self.bindings.any(&wanted.own(&doing, tenant)?).await
    }

    /// All accounts that a tenant has, whatever they are for. One whose id cannot be the value of a label has none.
    pub async fn owned_by(&self, tenant: &str) -> Result<Vec<Binding>, Error> {
        match label_value("listing the accounts of a tenant", tenant) {
            Ok(()) => self.list(&format!("{TENANT}={tenant}")).await,
            Err(_) => Ok(Vec::new()),
        }
    }

    /// Whether a Shoot that names `secret` is paid by an account that is the tenant's own, and not ours.
    pub async fn is_own(
        &self,
        secret: &str,
        tenant: &str,
        wanted: AccountNeed<'_>,
    ) -> Result<bool, Error> {
        let doing = format!("looking for account {secret} of {tenant}");
        let own = self.list(&wanted.own(&doing, tenant)?).await?;
        let mut own = own.iter().filter(|binding| !binding.has("internal"));
        Ok(own.any(|binding| self.name_for_shoot(binding) == Some(secret)))
    }

    /// Whether there is an account for everybody.
    pub async fn has_shared(&self, wanted: AccountNeed<'_>) -> Result<bool, Error> {
        self.bindings.any(&wanted.shared("looking for a shared account")?).await
    }

    /// Gives an account back, unless it is still in use. Repeating it changes nothing.
    pub async fn release(&self, name: &str) -> Result<ReleaseResult, Error> {
        for _ in 0..ROUNDS {
            let Some(mut binding) = self.bindings.find(name).await? else {
                return Ok(ReleaseResult::Gone);
            };
            if binding.has("shared") || binding.has("internal") {
                return Ok(ReleaseResult::Exempt);
            }
            if binding.has(DIRTY) {
                return Ok(ReleaseResult::Dirty);
            }
            let shoots = self.shoots.list("").await?;
            if shoots.iter().any(|shoot| self.uses(shoot, &binding)) {
                return Ok(ReleaseResult::InUse);
            }
            binding.label(DIRTY, "true");
            match self.bindings.replace(name, &binding).await {
                Err(error) if lost_race(&error) => {}
                released => return released.map(|_| ReleaseResult::Dirty),
            }
        }
        let doing = format!("releasing account {name}");
        Err(Error::new(Component::GARDENER, Kind::Changed, &doing)
            .saying("claimed concurrently by another operation"))
    }

    /// The accounts that wait for being cleaned up, in the order of their names. Shared ones never do: they may be in use.
    pub async fn dirty(&self) -> Result<Vec<Binding>, Error> {
        self.list(&format!("{DIRTY}=true,shared!=true,internal!=true")).await
    }

    /// The names of those of these accounts that a Shoot uses; one page of Shoots at a time is in memory.
    pub async fn used(&self, bindings: &[Binding]) -> Result<BTreeSet<String>, Error> {
        let mut used = BTreeSet::new();
        let take = |shoot: Shoot| {
            let of = bindings.iter().filter(|binding| self.uses(&shoot, binding));
            used.extend(of.map(|binding| binding.name().to_owned()));
        };
        self.shoots.each("", take).await?;
        Ok(used)
    }

    /// Makes an account that was cleaned up free again, if it is still as it was read: nobody has written it meanwhile.
    pub async fn free(&self, binding: &Binding) -> Result<(), Error> {
        let mut free = binding.clone();
        if let Some(labels) = &mut free.metadata.labels {
            labels.remove(DIRTY);
            labels.remove(TENANT);
        }
        self.bindings.replace(free.name(), &free).await.map(drop)
    }

    /// The namespace and name of the Secret with an account's credentials.
    pub fn secret_of<'a>(&self, binding: &'a Binding) -> Option<(&'a str, &'a str)> {
        let reference = match self.kind {
            BindingKind::Secret => binding.rest.get("secretRef")?,
            BindingKind::Credentials => binding.rest.get("credentialsRef")?,
        };
        Some((reference.get("namespace")?.as_str()?, reference.get("name")?.as_str()?))
    }

    /// The name by which a Shoot refers to this account.
    pub fn name_for_shoot<'a>(&self, binding: &'a Binding) -> Option<&'a str> {
        match self.kind {
            BindingKind::Secret => binding.rest.get("secretRef")?.get("name")?.as_str(),
            BindingKind::Credentials => Some(binding.name()),
        }
    }

    fn uses(&self, shoot: &Shoot, binding: &Binding) -> bool {
        // A Shoot with a newer Kubernetes names the CredentialsBinding, which has the name of the SecretBinding. By
        // convention a binding and its secret have the same name, too; older Shoots may name either.
        let spec = &shoot.spec;
        [&spec.secret_binding_name, &spec.credentials_binding_name].into_iter().flatten().any(
            |named| {
                *named == binding.name() || Some(named.as_str()) == self.name_for_shoot(binding)
            },
        )
    }
}

impl BindingKind {
    pub(super) fn resource(self) -> Resource {
        match self {
            Self::Secret => Resource {
                group: "core.gardener.cloud",
                version: "v1beta1",
                kind: "SecretBinding",
                plural: "secretbindings",
            },
            Self::Credentials => Resource {
                group: "security.gardener.cloud",
                version: "v1alpha1",
                kind: "CredentialsBinding",
                plural: "credentialsbindings",
            },
        }
    }
}

impl Binding {
    /// Its name.
    pub fn name(&self) -> &str {
        self.metadata.name.as_deref().unwrap_or_default()
    }

    /// One of its labels.
    pub fn labelled(&self, key: &str) -> Option<&str> {
        self.metadata.labels.as_ref()?.get(key).map(String::as_str)
    }

    fn has(&self, label: &str) -> bool {
        let labels = self.metadata.labels.as_ref();
        labels.and_then(|labels| labels.get(label)).is_some_and(|value| value == "true")
    }

    fn label(&mut self, key: &str, value: &str) {
        self.metadata.labels.get_or_insert_default().insert(key.into(), value.into());
    }
}

impl AccountNeed<'_> {
    fn selector(&self, doing: &str) -> Result<String, Error> {
        label_value(doing, self.hyperscaler)?;
        let eu_access = if self.eu_access { "euAccess=true" } else { "!euAccess" };
        Ok(format!("hyperscalerType={},{eu_access}", self.hyperscaler))
    }

    /// The tenant's account.
    fn own(&self, doing: &str, tenant: &str) -> Result<String, Error> {
        label_value(doing, tenant)?;
        Ok(format!("{},shared!=true,!{DIRTY},{TENANT}={tenant}", self.selector(doing)?))
    }

    /// A free account.
    fn free(&self, doing: &str) -> Result<String, Error> {
        Ok(format!("{},shared!=true,!{DIRTY},!{TENANT}", self.selector(doing)?))
    }

    /// A shared account.
    fn shared(&self, doing: &str) -> Result<String, Error> {
        Ok(format!("{},shared=true", self.selector(doing)?))
    }
}

/// How much a tenant likes a binding: alike in every process, whatever else is free.
fn liking(tenant: &str, binding: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    (tenant, binding).hash(&mut hasher);
    hasher.finish()
}

/// The binding belongs to another tenant now, or is gone: select again.
fn lost_race(error: &Error) -> bool {
    matches!(error.kind, Kind::Changed | Kind::NotFound)
}

/// Refuses what cannot be the value of a label: in a selector it would mean something else.
fn label_value(doing: &str, value: &str) -> Result<(), Error> {
    let inner = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    let ends = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    let bytes = value.as_bytes();
    let fits = bytes.len() <= 63 && ends(bytes.first()) && ends(bytes.last());
    if fits && bytes.iter().copied().all(inner) {
        return Ok(());
    }
    Err(Error::new(Component::GARDENER, Kind::Refused { status: 400 }, doing)
        .saying("the requested value is not a valid label value"))
}
