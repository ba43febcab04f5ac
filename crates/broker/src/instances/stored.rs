//! How an operation is handed to the store: what its plan reads, and beside it what is kept for audit.

use domain::parameters;
use engine::{
    Operation,
    storage::{NewOperation, Snapshot},
};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{
    Caller, Error,
    pairs::{DEPROVISION, PROVISION, SUSPENSION, UNSUSPENSION},
};
use crate::{
    ContextChange, Order,
    operations::{deprovisioning::Deprovisioning, provisioning::Provisioning, update::Updating},
};

/// The input of every operation that a platform asks for. Plans leave out what they do not know.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct StoredInput {
    /// The order.
    pub(super) order: Order,
    /// Whether the instance is to come back.
    #[serde(default)]
    pub(super) temporary: bool,
    /// Whether it comes back.
    #[serde(default)]
    pub(super) returning: bool,
    /// The program that asked.
    #[serde(default)]
    pub(super) user_agent: Option<String>,
    /// On whose behalf.
    #[serde(default)]
    pub(super) originating_identity: Option<String>,
}

impl StoredInput {
    pub(super) fn by(caller: &Caller, order: Order) -> Self {
        Self {
            order,
            temporary: false,
            returning: false,
            user_agent: caller.user_agent.clone(),
            originating_identity: caller.originating_identity.clone(),
        }
    }
}

/// The operation that makes an instance.
pub(super) fn provision(id: Uuid, asked: &StoredInput) -> Result<NewOperation, Error> {
    operation::<Provisioning>(id, asked)
}

/// The operation that removes an instance. Its first step brings what is known from the instance's row.
pub(super) fn deprovision(id: Uuid, asked: &StoredInput) -> Result<NewOperation, Error> {
    operation::<Deprovisioning>(id, asked)
}

/// The operation that removes an instance's cluster until it returns.
pub(super) fn suspension(id: Uuid, asked: StoredInput) -> Result<NewOperation, Error> {
    let operation = operation::<Deprovisioning>(id, &StoredInput { temporary: true, ..asked })?;
    Ok(NewOperation { digest: Some(SUSPENSION.to_vec()), ..operation })
}

/// The operation that makes a suspended instance's next cluster.
pub(super) fn unsuspension(id: Uuid, asked: StoredInput) -> Result<NewOperation, Error> {
    let operation = operation::<Provisioning>(id, &StoredInput { returning: true, ..asked })?;
    Ok(NewOperation { digest: Some(UNSUSPENSION.to_vec()), ..operation })
}

/// Whether an operation is a suspension.
pub(super) fn is_suspension(operation: &Snapshot) -> Result<bool, Error> {
    Ok(operation.kind == DEPROVISION && purpose(operation)?.temporary)
}

/// Whether an operation is the return from a suspension.
pub(super) fn is_unsuspension(operation: &Snapshot) -> Result<bool, Error> {
    Ok(operation.kind == PROVISION && purpose(operation)?.returning)
}

/// The part of the input that tells orders from returns, and removals from suspensions.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Purpose {
    temporary: bool,
    returning: bool,
}

fn purpose(operation: &Snapshot) -> Result<Purpose, Error> {
    Ok(serde_json::from_slice(&operation.input)?)
}

/// The input of an update, beside the fields that every operation has.
#[derive(Serialize)]
pub(super) struct StoredUpdateInput<'a> {
    #[serde(flatten)]
    pub(super) asked: &'a StoredInput,
    /// The parameters that change.
    pub(super) parameters: &'a parameters::Update,
    /// Changes of the context.
    pub(super) context: &'a ContextChange,
    /// The plan that the instance changes to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) plan_id: Option<&'a str>,
}

/// The operation that changes an instance. Its first step works out what the change makes of the instance's row.
pub(super) fn update(
    id: Uuid,
    asked: &StoredUpdateInput<'_>,
    digest: Vec<u8>,
) -> Result<NewOperation, Error> {
    let input = serde_json::to_vec(asked)?;
    Ok(NewOperation { digest: Some(digest), ..new::<Updating>(id, &asked.asked.order, input) })
}

fn operation<O: Operation>(id: Uuid, asked: &StoredInput) -> Result<NewOperation, Error> {
    Ok(new::<O>(id, &asked.order, serde_json::to_vec(asked)?))
}

/// An operation as it is stored before it begins.
pub(super) fn new<O: Operation>(id: Uuid, order: &Order, input: Vec<u8>) -> NewOperation {
    NewOperation {
        id,
        instance: order.instance_id.clone(),
        kind: O::KIND.to_owned(),
        data_version: O::VERSION,
        lane: order.context.globalaccount_id.clone(),
        input,
        // Plans know nothing yet; every field of their data has a default.
        data: b"{}".to_vec(),
        digest: None,
    }
}
