//! Registrations whose answer was lost: found again by the same request.

use simulators::trouble::{Kind, Rule};

use crate::world::{World, aws, caller};

const LOST: Kind = Kind::LostAnswer { status: None };

const BUSY: Kind = Kind::Status { status: 429, body: None };

/// Texts in the bodies of calls of the Director.
const REGISTERS: &str = "registerRuntime";

pub(super) const LOOKS: &str = "LabelFilter";

/// The next call of the Director with this text in it meets trouble.
fn meets(world: &World, text: &str, trouble: Kind) {
    let rule = Rule::next(1, trouble).of("director").holding(text);
    world.landscape.running.landscape.troubles().add(rule).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_registration_whose_answer_was_lost_is_found_by_the_same_request_whatever_fails_meanwhile()
 {
    let world = World::sqlite().await;
    let nothing = Kind::Malformed { body: Some(r#"{"data":{"result":{"data":[]}}}"#.into()) };
    let table = [
        ("looked-up", vec![(REGISTERS, LOST), (LOOKS, BUSY)], vec![]),
        ("looked-up-again", vec![(REGISTERS, LOST), (LOOKS, BUSY)], vec![(LOOKS, BUSY)]),
        ("gateway", vec![(REGISTERS, Kind::LostAnswer { status: Some(500) })], vec![]),
        ("late", vec![(REGISTERS, LOST), (LOOKS, BUSY)], vec![(LOOKS, nothing.clone())]),
        (
            "late-and-busy",
            vec![(REGISTERS, LOST), (LOOKS, BUSY)],
            vec![(LOOKS, nothing), (REGISTERS, BUSY)],
        ),
    ];

    for (at, (name, first, second)) in table.into_iter().enumerate() {
        let mut ends = Vec::new();
        for troubles in [first, second] {
            for (text, trouble) in troubles {
                meets(&world, text, trouble);
            }
            ends.push(world.provisioner.provision(&caller(), aws(name)).await);
        }
        let third = world.provisioner.provision(&caller(), aws(name)).await;

        assert!(ends[0].is_err(), "{name}");
        let third = third.unwrap_or_else(|error| panic!("{name}: {error}"));
        world.success_of(&third.id).await;
        assert_eq!(registered(&world), at + 1, "{name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_registration_is_found_again_after_a_director_that_was_left_alone() {
    let world = World::sqlite().await;
    world.trouble("director", 4, Kind::Status { status: 500, body: None });
    for _ in 0..4 {
        let missing = "5d1c0c1e-0000-4000-8000-000000000001";
        world.env().director.runtime(&caller().tenant, missing).await.unwrap_err();
    }
    meets(&world, REGISTERS, LOST);

    let refused = world.provisioner.provision(&caller(), aws("paused")).await.unwrap_err();
    let calls = world.calls("director");
    world.until(async || world.provisioner.provision(&caller(), aws("paused")).await.is_ok()).await;

    assert!(refused.message.contains("its last calls failed"), "{refused}");
    assert!(world.calls("director") > calls);
    assert_eq!(registered(&world), 1);
}

pub(super) fn registered(world: &World) -> usize {
    use simulators::system::System;
    world.landscape.running.landscape.director().objects().len()
}
