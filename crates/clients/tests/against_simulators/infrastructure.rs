//! The clients of the Reconciler, of CIS, Azure and EC2: golden requests, faults, and their simulators.

mod aws;
mod azure;
mod cis;
mod cis_pages;
mod faults;
mod many;
mod payload;
mod reconciler;
mod world;

use crate::support;
