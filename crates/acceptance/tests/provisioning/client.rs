//! The broker's client of the provisioner, against one that works: every call, all that can happen to it, and what comes
//! of it there.
//!
//! What a reader would get wrong: a call is made again under the key of the first time, as a step makes it again in its
//! next run, and by another client, as the next replica does.

mod asking;
mod call;
mod changing;
mod expected;
mod hostile;
mod making;
mod reach;
mod refusals;
mod secrets;
mod side;
