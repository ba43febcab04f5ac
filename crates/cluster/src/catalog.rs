//! Additions of the embedding program to clusters: kinds, admission rules, subresources.
//!
//! Admission runs under the cluster's lock, so it sees exactly the state the write lands on; it must
//! not wait for anything.

use std::{fmt, pin::Pin, sync::Arc};

use jiff::Timestamp;
use serde_json::Value;

use crate::{Identity, Kind, Server, Status, store::State};

/// In which clusters something holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Where {
    /// In all of them.
    Everywhere,
    /// In the one with this name.
    Only(String),
    /// In all but these.
    Except(Vec<String>),
}

impl Where {
    fn includes(&self, cluster: &str) -> bool {
        match self {
            Self::Everywhere => true,
            Self::Only(name) => name == cluster,
            Self::Except(names) => !names.iter().any(|name| name == cluster),
        }
    }
}

/// The verb of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verb {
    /// It is new.
    Create,
    /// It is changed.
    Update,
    /// It is to go.
    Delete,
}

/// How unknown fields are treated.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum FieldValidation {
    /// They are dropped.
    Ignore,
    /// They are dropped, and a warning says so.
    #[default]
    Warn,
    /// The write is refused.
    Strict,
}

/// One write that an admission rule may change or refuse.
pub struct Admission<'a> {
    /// Which cluster.
    pub cluster: &'a str,
    /// The writer.
    pub user: &'a Identity,
    /// The verb.
    pub verb: Verb,
    /// The subresource that is written, if not the object itself.
    pub subresource: Option<&'a str>,
    /// The kind of the object.
    pub kind: &'a Kind,
    /// The object before.
    pub old: Option<&'a Value>,
    /// The object as it will be stored; may be changed. For a deletion, the object that is to go, and only its finalizers
    /// may be changed.
    pub object: &'a mut Value,
    /// Set to count a generation although nothing that is wanted has changed.
    pub new_generation: bool,
    /// Set to count none although something has; `new_generation` goes first.
    pub same_generation: bool,
    /// How the request wants unknown fields treated.
    pub field_validation: FieldValidation,
    /// Sent to the caller in `Warning` headers.
    pub warnings: Vec<String>,
    /// Whether nothing will be stored.
    pub dry_run: bool,
    /// The time.
    pub now: Timestamp,
    pub(crate) state: &'a State,
}

impl Admission<'_> {
    /// Another object of the same cluster; `resource` is the plural with the group, such as
    /// `shoots.core.gardener.cloud`.
    pub fn find(&self, resource: &str, namespace: &str, name: &str) -> Option<Arc<Value>> {
        self.state.get(resource, namespace, name).cloned()
    }

    /// All objects of a kind in the same cluster.
    pub fn list(&self, resource: &str, namespace: Option<&str>) -> Vec<Arc<Value>> {
        self.state.list(resource, namespace).map(|(_, object)| Arc::clone(object)).collect()
    }
}

/// A POST to a subresource of an existing object.
pub struct Call {
    /// The server, for instance to make a kubeconfig for another of its clusters.
    pub server: Server,
    /// Which cluster.
    pub cluster: String,
    /// The caller.
    pub user: Identity,
    /// The object whose subresource it is.
    pub object: Arc<Value>,
    /// The body of the request.
    pub body: Value,
}

/// The response of a subresource: the status code and the body.
pub type Answer = Result<(u16, Value), Status>;

/// Knows who a token stands for that is none of the server's own: server, cluster, token.
pub(crate) type Authenticator = Arc<dyn Fn(&Server, &str, &str) -> Option<Identity> + Send + Sync>;
pub(crate) type Rule = Arc<dyn Fn(&mut Admission<'_>) -> Result<(), Status> + Send + Sync>;
pub(crate) type Handler =
    Arc<dyn Fn(Call) -> Pin<Box<dyn Future<Output = Answer> + Send>> + Send + Sync>;

type VersionOf = Arc<dyn Fn(&Server, &str) -> Option<String> + Send + Sync>;

/// The version of Kubernetes that a cluster pretends to be unless the embedding program says another.
pub(crate) const VERSION: &str = "1.32.0";

/// Everything the embedding program adds.
#[derive(Clone, Default)]
pub struct Catalog {
    versions: Vec<(Where, VersionOf)>,
    kinds: Vec<(Where, Arc<Kind>)>,
    rules: Vec<(Where, String, Rule)>,
    handlers: Vec<(Where, String, String, Handler)>,
    authenticators: Vec<(Where, Authenticator)>,
}

impl Catalog {
    /// The same with one more kind.
    pub fn kind(mut self, place: Where, kind: Kind) -> Self {
        self.kinds.push((place, Arc::new(kind)));
        self
    }

    /// The same with one more admission rule for a kind, named as in [`Kind::resource`]. Rules are
    /// asked in the order in which they were added.
    pub fn admission(
        mut self,
        place: Where,
        resource: &str,
        rule: impl Fn(&mut Admission<'_>) -> Result<(), Status> + Send + Sync + 'static,
    ) -> Self {
        self.rules.push((place, resource.to_owned(), Arc::new(rule)));
        self
    }

    /// The same with a function that answers POST to a subresource of a kind.
    pub fn subresource<F>(
        mut self,
        place: Where,
        resource: &str,
        name: &str,
        handler: impl Fn(Call) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Answer> + Send + 'static,
    {
        let handler: Handler = Arc::new(move |call| Box::pin(handler(call)));
        self.handlers.push((place, resource.to_owned(), name.to_owned(), handler));
        self
    }

    /// The same with a function that knows who a bearer token stands for that the server itself has not issued. It is
    /// given the server, the name of the cluster and the token, and must not wait for anything.
    pub fn authenticator(
        mut self,
        place: Where,
        authenticator: impl Fn(&Server, &str, &str) -> Option<Identity> + Send + Sync + 'static,
    ) -> Self {
        self.authenticators.push((place, Arc::new(authenticator)));
        self
    }

    pub(crate) fn authenticate(
        &self,
        server: &Server,
        cluster: &str,
        token: &str,
    ) -> Option<Identity> {
        let here = self.authenticators.iter().filter(|(place, _)| place.includes(cluster));
        here.into_iter().find_map(|(_, authenticator)| authenticator(server, cluster, token))
    }

    /// The same with a function that says which version of Kubernetes a cluster is, such as `1.32.4`. It gets the
    /// server and the cluster's name.
    pub fn version(
        mut self,
        place: Where,
        of: impl Fn(&Server, &str) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        self.versions.push((place, Arc::new(of)));
        self
    }

    pub(crate) fn version_of(&self, server: &Server, cluster: &str) -> String {
        let mut of = self.versions.iter().filter(|(place, _)| place.includes(cluster));
        of.find_map(|(_, of)| of(server, cluster)).unwrap_or_else(|| VERSION.to_owned())
    }

    pub(crate) fn kinds_of(&self, cluster: &str) -> Vec<Arc<Kind>> {
        let added = self.kinds.iter().filter(|(place, _)| place.includes(cluster));
        crate::builtin::kinds().iter().chain(added.map(|(_, kind)| kind)).cloned().collect()
    }

    pub(crate) fn admit(&self, admission: &mut Admission<'_>) -> Result<(), Status> {
        let resource = admission.kind.resource();
        for (place, concerned, rule) in &self.rules {
            if *concerned == resource && place.includes(admission.cluster) {
                rule(admission)?;
            }
        }
        Ok(())
    }

    pub(crate) fn handler(&self, cluster: &str, resource: &str, name: &str) -> Option<Handler> {
        let mut handlers = self.handlers.iter();
        let found = handlers.find(|(place, kind, sub, _)| {
            kind == resource && sub == name && place.includes(cluster)
        });
        found.map(|(.., handler)| Arc::clone(handler))
    }
}

impl fmt::Debug for Catalog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Catalog").field("kinds", &self.kinds).finish_non_exhaustive()
    }
}
