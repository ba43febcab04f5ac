//! Whether a kubeconfig that an order brings leads somewhere.

use base64::{Engine, engine::general_purpose::STANDARD};
use clients::kubernetes::{Networks, problem_of_customer};
use domain::parameters::Sensitive;
use serde::Deserialize;

use super::{Refusal, Rule};

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Kubeconfig {
    #[serde(default)]
    current_context: String,
    #[serde(default)]
    contexts: Vec<NamedContext>,
    #[serde(default)]
    clusters: Vec<NamedCluster>,
    #[serde(default)]
    users: Vec<NamedEntry>,
}

#[derive(Deserialize)]
struct NamedContext {
    name: String,
    context: Context,
}

#[derive(Deserialize)]
struct Context {
    #[serde(default)]
    cluster: String,
    #[serde(default)]
    user: String,
}

#[derive(Deserialize)]
struct NamedCluster {
    name: String,
    cluster: Cluster,
}

#[derive(Deserialize)]
struct Cluster {
    #[serde(default)]
    server: String,
}

#[derive(Deserialize)]
struct NamedEntry {
    name: String,
}

/// The kubeconfig in clear, or why it is of no use. What it holds is not repeated.
pub(super) fn decode(encoded: &Sensitive, networks: &Networks) -> Result<Sensitive, Refusal> {
    let refuse = |text: &str| Refusal::new(Rule::Kubeconfig, "/kubeconfig", text);
    let text = STANDARD
        .decode(encoded.expose())
        .ok()
        .and_then(|bytes| String::from_utf8(bytes).ok())
        .ok_or_else(|| refuse("while decoding kubeconfig: kubeconfig is not text in base64"))?;
    let kubeconfig: Kubeconfig = serde_saphyr::from_str(&text)
        .map_err(|_| refuse("while validating kubeconfig: kubeconfig cannot be read"))?;
    let problem = problem(&kubeconfig).map(str::to_owned);
    match problem.or_else(|| problem_of_customer(&text, networks)) {
        Some(problem) => Err(refuse(&format!("while validating kubeconfig: {problem}"))),
        None => Ok(Sensitive::from(text)),
    }
}

fn problem(kubeconfig: &Kubeconfig) -> Option<&'static str> {
    if kubeconfig.clusters.is_empty() || kubeconfig.contexts.is_empty() {
        return Some("kubeconfig is empty: it needs a cluster and a context");
    }
    if kubeconfig.clusters.iter().any(|named| named.cluster.server.is_empty()) {
        return Some("kubeconfig has a cluster without a server");
    }
    let current = &kubeconfig.current_context;
    if !current.is_empty() && !kubeconfig.contexts.iter().any(|named| named.name == *current) {
        return Some("kubeconfig has no context of the name in current-context");
    }
    for NamedContext { context, .. } in &kubeconfig.contexts {
        if !kubeconfig.clusters.iter().any(|named| named.name == context.cluster) {
            return Some("kubeconfig has a context whose cluster does not exist");
        }
        if !kubeconfig.users.iter().any(|named| named.name == context.user) {
            return Some("kubeconfig has a context whose user does not exist");
        }
    }
    None
}
