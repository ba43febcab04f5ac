//! The whole system in one process, tested from outside.
