//! All HTTP in: parse, authenticate, call, answer.
