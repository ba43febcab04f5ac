//! The tutorial "add a step" (`docs/tutorials/add-a-step.md`): its code, compiled, run in the broker's own plans against the
//! landscape and a service on a socket, and compared with the page.

mod goodbye_world;
mod greetings;
mod hasty;
mod hello_world;
mod life;
mod page;
mod plans;
mod service;
mod trying;
