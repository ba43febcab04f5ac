//! Empties a subscription before it is given to another tenant.

use super::Azure;
use crate::error::Error;

impl Azure {
    /// Has every group deleted and says how many there were. Only zero means empty: a group that is being
    /// deleted is still there. Any failure is given back after the other groups had their turn, so
    /// that the caller keeps the subscription dirty.
    pub async fn clean_up(&self) -> Result<usize, Error> {
        let groups = self.groups().await?;
        let mut failed = None;
        for group in groups.iter().filter(|group| !group.is_deleting()) {
            if let Err(error) = self.delete_group(&group.name).await {
                tracing::warn!(group = group.name, %error, "resource group not deleted");
                failed = failed.or(Some(error));
            }
        }
        failed.map_or(Ok(groups.len()), Err)
    }
}
