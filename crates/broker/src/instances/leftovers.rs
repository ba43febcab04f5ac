//! What is left of instances that were removed, page by page.

use serde::Serialize;
use store::broker::PageKey;

use super::{Broker, Error};
use crate::chores::leftovers::{self, Leftover};

/// Some instances of which something is left, and where to go on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LeftoverPage {
    /// The instances.
    pub leftovers: Vec<Leftover>,
    /// The instance to go on behind; none when there are no more.
    pub next: Option<String>,
}

impl Broker {
    /// The instances of which something is left, behind the one that is named.
    pub async fn leftovers(&self, after: Option<&str>, most: u32) -> Result<LeftoverPage, Error> {
        let parts = self.parts();
        let after = match after {
            Some(id) => {
                let unknown = || Error::Bad(format!("names an instance that is gone: {id}"));
                let row = parts.store.find(id).await?.ok_or_else(unknown)?;
                Some(PageKey { created_at: row.created_at, id: row.id })
            }
            None => None,
        };
        let (leftovers, next) =
            leftovers::list(&parts.store, &parts.operations, after, most).await?;
        Ok(LeftoverPage { leftovers, next: next.map(|key| key.id) })
    }

    /// What is left of one instance; none when it is there, or all of it is gone.
    pub async fn leftovers_of(&self, instance: &str) -> Result<Option<Leftover>, Error> {
        Ok(leftovers::of(&self.parts().store, &self.parts().operations, instance).await?)
    }
}

impl From<leftovers::Error> for Error {
    fn from(error: leftovers::Error) -> Self {
        match error {
            leftovers::Error::Instances(error) => error.into(),
            leftovers::Error::Operations(error) => error.into(),
        }
    }
}
