//! The environment broker: what the Open Service Broker API means.

pub mod catalog;
pub mod operations;
