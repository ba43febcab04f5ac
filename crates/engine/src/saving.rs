//! Saves in the middle of a run: the step asks, the driver of its operation commits and answers.

use serde::Serialize;
use tokio::sync::{mpsc, oneshot};

use crate::{codec::Codec, storage::Change};

/// Why a save did not land.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SaveError {
    /// The operation is not held here any more.
    NotHeld,
    /// A change to another row was refused, or the data cannot be written.
    Refused(String),
}

/// A commit that a step requests from its driver.
pub(crate) struct SaveRequest {
    pub(crate) data: Option<Vec<u8>>,
    pub(crate) changes: Vec<Change>,
    pub(crate) answer: oneshot::Sender<Result<(), SaveError>>,
}

/// The step's end of the line to its driver.
pub(crate) struct Saver<D> {
    codec: Codec,
    saved: Vec<u8>,
    line: mpsc::Sender<SaveRequest>,
    data: std::marker::PhantomData<fn(&D)>,
}

impl<D: Serialize + Sync> Saver<D> {
    pub(crate) fn new(codec: Codec, saved: Vec<u8>, line: mpsc::Sender<SaveRequest>) -> Self {
        Self { codec, saved, line, data: std::marker::PhantomData }
    }

    /// Commits the data if it changed, or if changes to other rows come with it.
    pub(crate) async fn save(&mut self, data: &D, changes: Vec<Change>) -> Result<(), SaveError> {
        let bytes =
            self.codec.encode(data).map_err(|failure| SaveError::Refused(failure.message))?;
        let changed = bytes != self.saved;
        if !changed && changes.is_empty() {
            return Ok(());
        }
        let (answer, answered) = oneshot::channel();
        let request = SaveRequest { data: changed.then(|| bytes.clone()), changes, answer };
        self.line.send(request).await.map_err(|_| SaveError::NotHeld)?;
        answered.await.unwrap_or(Err(SaveError::NotHeld))?;
        self.saved = bytes;
        Ok(())
    }

    /// The encoded data if it differs from what was saved last, and the codec to go on with.
    pub(crate) fn finish(self, data: &D) -> Result<(Codec, Vec<u8>, bool), base::Failure> {
        let bytes = self.codec.encode(data)?;
        let changed = bytes != self.saved;
        Ok((self.codec, bytes, changed))
    }
}
