//! Requests and what becomes of them.

mod kyma;
mod names;
mod networks;
mod providers;
mod provision;
pub(crate) mod samples;
mod upgrade;
mod upgrade_providers;
mod versions;
