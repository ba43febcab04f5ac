//! Registrations in the Director: one runtime after every fault.

use simulators::trouble::{self, Rule};

use super::{registered, registration, row, usual};
use crate::{
    faults::{Fault, for_each_fault},
    world::{TENANT, World},
};

#[tokio::test]
async fn a_registration_leaves_one_runtime_after_every_fault() {
    let world = World::new().await;
    let director = world.director();

    for_each_fault(
        world.side(),
        row("registerRuntime", true),
        usual,
        async |number| director.register(TENANT, &registration(&format!("c-{number}"))).await,
        |number, id| {
            assert_eq!(world.runtimes(&format!("c-{number}")), [id]);
        },
    )
    .await;
    let made = world.applied("director").iter().filter(|line| line.contains("register")).count();
    assert_eq!(made, Fault::ALL.len(), "each registration was applied exactly once");
}

#[tokio::test]
async fn the_look_before_a_registration_may_meet_every_fault() {
    let world = World::new().await;
    let director = world.director();

    for_each_fault(
        world.side(),
        row("runtimes(filter", true),
        usual,
        async |number| director.register(TENANT, &registration(&format!("c-{number}"))).await,
        |number, id| assert_eq!(world.runtimes(&format!("c-{number}")), [id]),
    )
    .await;
}

#[tokio::test]
async fn a_stale_look_does_not_register_twice() {
    let world = World::new().await;
    let director = world.director();
    let first = registered(&director, 1).await;

    let stale = trouble::Kind::StaleRead { seconds: 60 };
    world.troubles().add(Rule::next(1, stale).of("director")).unwrap();
    let second = registered(&director, 1).await;

    assert_eq!(first, second);
    assert_eq!(world.runtimes("c-1"), [first]);
}
