//! Tenants of logging as a service: one for each name and region, made by one operation at a time.

use std::time::Duration;

use uuid::Uuid;

use super::BrokerStore;
use crate::{Error, Moment};

// $5: an asker from before this is taken for dead.
const CLAIM: &str = "
    INSERT INTO lms_tenants (name, region, operation_id, asked_at) VALUES ($1, $2, $3, $4)
    ON CONFLICT (name, region) DO UPDATE SET operation_id = $3, asked_at = $4
    WHERE lms_tenants.tenant_id IS NULL
      AND (lms_tenants.operation_id = $3 OR lms_tenants.asked_at < $5)";
const KEEP: &str = "
    UPDATE lms_tenants SET tenant_id = $4
    WHERE name = $1 AND region = $2 AND operation_id = $3 AND tenant_id IS NULL";
const FIND: &str = "SELECT tenant_id FROM lms_tenants WHERE name = $1 AND region = $2";

/// Every statement; they go by primary keys.
#[cfg(test)]
pub(super) const TEXTS: &[(&str, &str)] = &[(CLAIM, ""), (KEEP, ""), (FIND, "")];

/// The state of a tenant in a region.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LmsTenant {
    /// It is there.
    Known(String),
    /// The operation that asks shall make it.
    Mine,
    /// Another operation makes it.
    Others,
}

impl BrokerStore {
    /// Says that an operation is about to make a tenant, unless it is there or another operation is at it. One that has been
    /// at it for longer than `patience` is taken for dead.
    pub async fn claim_lms_tenant(
        &self,
        name: &str,
        region: &str,
        operation: Uuid,
        patience: Duration,
    ) -> Result<LmsTenant, Error> {
        let now = self.clock.now();
        let claimed = on!(self.database().writer(), |pool| {
            sqlx::query(CLAIM)
                .bind(name)
                .bind(region)
                .bind(operation)
                .bind(Moment::from(now))
                .bind(Moment::from(now - patience))
                .execute(pool)
                .await
                .map(|done| done.rows_affected())
        })?;
        if claimed == 1 {
            return Ok(LmsTenant::Mine);
        }
        let known = self.lms_tenant(name, region).await?;
        Ok(known.map_or(LmsTenant::Others, LmsTenant::Known))
    }

    /// Keeps the tenant that an operation has made, and gives the one that counts: another operation may have taken this one for
    /// dead.
    pub async fn keep_lms_tenant(
        &self,
        name: &str,
        region: &str,
        operation: Uuid,
        tenant: &str,
    ) -> Result<Option<String>, Error> {
        on!(self.database().writer(), |pool| {
            sqlx::query(KEEP)
                .bind(name)
                .bind(region)
                .bind(operation)
                .bind(tenant)
                .execute(pool)
                .await
                .map(drop)
        })?;
        self.lms_tenant(name, region).await
    }

    /// The tenant of a name in a region, if it is there.
    pub async fn lms_tenant(&self, name: &str, region: &str) -> Result<Option<String>, Error> {
        let found: Option<Option<String>> = on!(self.database().reader(), |pool| {
            sqlx::query_scalar(FIND).bind(name).bind(region).fetch_optional(pool).await
        })?;
        Ok(found.flatten())
    }
}
