//! What everyone needs and nobody owns: time, failures, and who is calling.

pub mod caller;
pub mod clock;
pub mod failure;

pub use caller::Caller;
pub use clock::Clock;
pub use failure::Failure;
