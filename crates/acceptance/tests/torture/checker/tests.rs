//! Invented histories, each with one thing wrong with it.
