//! What we call: one folder per outside system.
