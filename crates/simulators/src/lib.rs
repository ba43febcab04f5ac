//! Every outside system, speaking its real protocol, with switches for trouble.
