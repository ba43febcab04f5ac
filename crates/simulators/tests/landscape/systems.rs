//! The conformance list (S1 to S5) of the simulated systems: their bytes, what they refuse, what they keep and let happen, and every
//! kind of trouble. Over real sockets, without the product's own clients.

mod avs;
mod aws;
mod azure;
mod cis;
mod edp;
mod everywhere;
mod ias;
mod keeping;
mod lms;
mod orders;
mod ordinary;
mod reconciler;
mod spc;
mod trouble;
