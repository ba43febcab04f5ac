//! Operations of the provisioner: one plan per kind of operation, one file per step.
//!
//! What a reader would get wrong: all operations share input, data, memory and surroundings, so that a
//! step can stand in several plans. What differs is the plan.

pub mod deprovisioning;
pub mod env;
pub mod hibernation;
pub(crate) mod own_shoot;
pub mod provisioning;
pub mod reconnection;
mod shared;
pub mod upgrade;
pub mod upgrade_shoot;

use clients::{
    error::{Error as ClientError, Kind},
    gardener::{Problem, Shoot},
    runtime::Runtime,
};
use engine::{Applies, Condition, Cx, Operation, StepError, StepResult, step::Waiting, waiting};
use jiff::Timestamp;
use secrecy::SecretString;
use serde::{Deserialize, Serialize};
use store::engine::Document as StoredDocument;
use uuid::Uuid;

use crate::{
    configuration::Cluster, document::Document, error::component, shoots::versions,
    status::OperationType,
};
pub use env::{Env, StepSettings};
use own_shoot::{needed_shoot, shoot, shoot_to_remove};

/// Under which name clusters remember which fields are ours.
pub const OWNER: &str = "kcp-provisioner";

/// The request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Input {
    /// The runtime.
    pub target: Target,
    /// The document after the operation has succeeded.
    pub document: Document,
    /// The operation type that callers see.
    pub known_as: OperationType,
    /// Whether Kyma is installed, upgraded or removed on the way.
    pub kyma: bool,
    /// Whether the Shoot is changed on the way.
    pub shoot: bool,
    /// The message before the first run.
    pub first_message: String,
    /// Versions that the caller named; the cluster's own may be higher.
    #[serde(default, skip_serializing_if = "Versions::is_empty")]
    pub requested: Versions,
    /// A digest of the request, when it came with an idempotency key: the key stands for no other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<Uuid>,
}

/// Versions that a caller names.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Versions {
    /// The Kubernetes version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kubernetes: Option<String>,
    /// The version of the machine image.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine_image: Option<String>,
}

impl Versions {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// For people: which versions of a cluster are higher than these, and stay.
    pub(crate) fn below(&self, cluster: &Cluster) -> Vec<String> {
        let pairs = [
            ("kubernetesVersion", &self.kubernetes, Some(&cluster.kubernetes_version)),
            ("machineImageVersion", &self.machine_image, cluster.machine_image_version.as_ref()),
        ];
        let note = |(field, requested, version): (_, &Option<String>, Option<&String>)| {
            let (requested, version) = (requested.as_ref()?, version?);
            let text = format!("{field} stays {version}, because {requested} is lower");
            versions::is_lower(requested, version).then_some(text)
        };
        pairs.into_iter().filter_map(note).collect()
    }
}

/// The runtime that an operation works on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Target {
    /// Its id, ours and the Director's.
    pub runtime: Uuid,
    /// The global account.
    pub tenant: String,
    /// The global account under which the Director has the runtime, when it has moved since.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub registered_tenant: Option<String>,
    /// The subaccount; may be empty.
    pub subaccount: String,
    /// The Shoot's name.
    pub shoot: String,
}

impl Target {
    /// The tenant under which the Director has the runtime: it knows nothing of a move.
    pub fn directors_tenant(&self) -> &str {
        self.registered_tenant.as_deref().unwrap_or(&self.tenant)
    }
}

/// Data of the steps.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Data {
    /// The cluster's domain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub domain: Option<String>,
    /// The seed that runs its control plane.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<String>,
    /// The generation of the Shoot that has our change in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generation: Option<i64>,
    /// Whether an issuer that is in force was changed, and the Shoot not reconciled with it yet.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub issuer_changed: bool,
    /// When the agent got its last token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_configured_at: Option<Timestamp>,
    /// Notes for callers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// Memory; never stored with an operation.
#[derive(Default)]
pub struct Memory {
    /// The runtime's kubeconfig.
    pub kubeconfig: Option<SecretString>,
    /// Whether the stored way in was not accepted.
    pub refused: bool,
}

/// Every operation of the provisioner.
pub trait OnRuntime: Operation<Input = Input, Data = Data, Memory = Memory, Env = Env> {}

impl<O: Operation<Input = Input, Data = Data, Memory = Memory, Env = Env>> OnRuntime for O {}

/// Runs a step only when Kyma is part of the operation.
const fn with_kyma<O: OnRuntime>() -> Condition<O> {
    Condition::new("Kyma is part of it", |cx| {
        Applies::when(cx.input.kyma, "Kyma is not part of this")
    })
}

/// Runs a step only when the Shoot is changed.
const fn with_shoot<O: OnRuntime>() -> Condition<O> {
    Condition::new("the cluster is changed", |cx| {
        Applies::when(cx.input.shoot, "the cluster is not changed")
    })
}

/// The runtime's cluster, opened with a kubeconfig that is still good for a while.
async fn runtime<O: OnRuntime>(cx: &mut Cx<'_, O>) -> Result<Runtime, StepError> {
    let kubeconfig = match &cx.memory.kubeconfig {
        Some(kubeconfig) => kubeconfig.clone(),
        None => cx.env.kubeconfig(&cx.input.target, cx.now, cx.memory.refused).await?,
    };
    let cluster = cx.env.clusters.get(&kubeconfig).await.map_err(as_step_error)?;
    cx.memory.kubeconfig = Some(kubeconfig);
    cx.memory.refused = false;
    Ok(Runtime::new(cluster, OWNER))
}

/// A failed call into the runtime. When the runtime rejects our credentials, the next run asks for another
/// kubeconfig.
fn on_runtime_error<O: OnRuntime>(cx: &mut Cx<'_, O>, error: ClientError) -> StepError {
    if error.kind == Kind::Unauthorized {
        if let Some(kubeconfig) = cx.memory.kubeconfig.take() {
            cx.env.clusters.forget(&kubeconfig);
        }
        cx.memory.refused = true;
    }
    as_step_error(error)
}

/// A failed call, under the component that clients know.
fn as_step_error(error: ClientError) -> StepError {
    let named = |mut failure: base::Failure| {
        failure.component = component(&failure.component).to_owned();
        failure
    };
    match StepError::from(error) {
        StepError::Transient { failure, retry_after } => {
            StepError::Transient { failure: named(failure), retry_after }
        }
        StepError::Fatal(failure) => StepError::Fatal(named(failure)),
        StepError::NotHeld => StepError::NotHeld,
    }
}

/// A document as it is stored in the runtime's row.
fn stored(document: &Document) -> Result<StoredDocument, StepError> {
    StoredDocument::new(document).map_err(|error| StepError::internal(&error))
}

/// Shows what Gardener warned of with the run.
fn note_warnings<O: OnRuntime>(cx: &mut Cx<'_, O>, written: &Shoot) {
    note_all(cx, &written.warnings);
}

/// The same for writes that answer with warnings alone.
fn note_all<O: OnRuntime>(cx: &mut Cx<'_, O>, warnings: &[String]) {
    for warning in warnings {
        cx.note(format!("Gardener warns: {warning}"));
    }
}

/// Waits for something to happen to the Shoot.
fn for_shoot<O: OnRuntime>(cx: &Cx<'_, O>, reason: String) -> Waiting {
    waiting(reason).or_signal(shoot_signal(&cx.input.target.shoot))
}

/// The signal that something happened to a Shoot.
pub fn shoot_signal(name: &str) -> String {
    format!("shoot/{name}")
}

/// How far Gardener is, for people.
fn progress(shoot: &Shoot) -> String {
    match shoot.last_operation() {
        Some(last) => format!("{} %: {}", last.progress, in_a_sentence(&last.description)),
        None => "Gardener has not begun".into(),
    }
}

/// A description as it stands inside of a sentence.
fn in_a_sentence(description: &str) -> String {
    let text = description.trim_end_matches('.');
    let mut letters = text.chars();
    match (letters.next(), letters.next()) {
        (Some(first), Some(second)) if second.is_lowercase() => {
            first.to_lowercase().chain(text.chars().skip(1)).collect()
        }
        _ => text.to_owned(),
    }
}

/// A problem that Gardener reports: final, or one that it or we get over. Only what is final is called a failure;
/// its words are those that clients of the reference know.
fn reported(problem: &Problem, is_final: bool, doing: &str, shoot: &Shoot) -> StepResult {
    let (state, description) = shoot
        .last_operation()
        .map_or(("", ""), |last| (last.state.as_str(), last.description.as_str()));
    let how = if is_final { "failed" } else { "is held up" };
    let message =
        format!("{doing} {how}. Last Shoot state: {state}, Shoot description: {description}");
    let failure = base::Failure { message, ..problem.failure() };
    Err(if is_final { StepError::fatal(failure) } else { StepError::transient(failure) })
}

#[cfg(test)]
mod tests;
