//! Server-rendered pages for operators.
