//! Acceptance of an operation on a row of a service: the row and the operation change together or not at all.

use ::engine::storage::{Acceptance, NewOperation, Pairs};

use crate::{EngineStore, Error, Transaction};

/// The result of accepting an operation on a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowAcceptance {
    /// The table of pairs has decided.
    Yes(Acceptance),
    /// Nothing stored: the request was made from a revision that is not the current one any more.
    Changed,
    /// Nothing stored: the row is removed or unknown.
    Gone,
}

/// The row that an operation is for.
pub(crate) trait Row {
    /// Whether the row is still what the operation was asked for; then it changes with it.
    async fn touch(&self, transaction: &mut Transaction) -> Result<bool, Error>;

    /// Whether the row is there at all.
    async fn is_there(&self) -> Result<bool, Error>;
}

/// Accepts an operation on a row in one transaction. What answers a repetition answers it whatever became of the row
/// since.
pub(crate) async fn accept(
    engine: &EngineStore,
    row: &impl Row,
    operation: NewOperation,
    pairs: &Pairs<'_>,
) -> Result<RowAcceptance, Error> {
    let mut transaction = engine.database().begin().await?;
    let acceptance = engine.accept_in(&mut transaction, operation, pairs).await?;
    let lands = match acceptance {
        Acceptance::Started | Acceptance::Queued => row.touch(&mut transaction).await?,
        Acceptance::Same(_) | Acceptance::Refused(_) => false,
    };
    if lands {
        transaction.commit().await?;
        return Ok(RowAcceptance::Yes(acceptance));
    }
    transaction.rollback().await?;
    if matches!(acceptance, Acceptance::Same(_)) {
        return Ok(RowAcceptance::Yes(acceptance));
    }
    Ok(match acceptance {
        _ if !row.is_there().await? => RowAcceptance::Gone,
        Acceptance::Refused(_) => RowAcceptance::Yes(acceptance),
        _ => RowAcceptance::Changed,
    })
}

/// Operations find their row by the instance they name; `what` is the row in words.
pub(crate) fn check_instance(id: &str, what: &str, operation: &NewOperation) -> Result<(), Error> {
    if operation.instance == id {
        return Ok(());
    }
    let NewOperation { id: operation, instance, .. } = operation;
    Err(Error::Refused(format!(
        "operation {operation} is for \"{instance}\", not for {what} \"{id}\""
    )))
}
