//! Shared helpers of the API's tests.

#![allow(dead_code, unreachable_pub, reason = "each test uses a part of it")]

pub mod openapi;
pub mod operations;
pub mod tokens;
