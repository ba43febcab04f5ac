//! The tutorial "add a step" (`docs/tutorials/add-a-step.md`): its page shows code of the broker, and its steps are proven here, in the
//! broker's own plans against the landscape.

mod page;
mod proof;
