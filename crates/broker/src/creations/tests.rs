//! An id that has arrived is not lost, and what may exist stays listed.

use base::Clock;
use clients::Component;
use engine::PlantedBug;
use store::{
    EngineStore, Sealer, Set,
    engine::Time,
    testing::{Databases, TestDatabase},
};

use super::*;

const AVS: Component = Component("avs");

async fn creations(database: &TestDatabase) -> Creations {
    let opened = database.database().await;
    for set in [Set::Engine, Set::Broker] {
        opened.migrate(set).await.unwrap();
    }
    let (clock, sealer) = (Clock::running(), Sealer::generate());
    let engine = EngineStore::new(opened, sealer, Time::Database, PlantedBug::Nothing);
    Creations::new(BrokerStore::new(engine, clock.clone()), clock)
}

fn thing() -> PlannedCreation<'static> {
    let operation = Uuid::from_u128(7);
    PlannedCreation { system: AVS.0, name: "K8S-AWS-Kyma-int-i-1", instance: "i-1", operation }
}

fn answered(id: &str) -> std::future::Ready<Result<String, Error>> {
    std::future::ready(Ok(id.to_owned()))
}

fn failed(kind: Kind) -> std::future::Ready<Result<String, Error>> {
    std::future::ready(Err(Error::new(AVS, kind, "creating an evaluation")))
}

#[tokio::test]
async fn an_id_that_could_not_be_stored_is_taken_by_the_next_run_instead_of_another_call() {
    for (name, database) in Databases::both().await {
        let here = creations(&database).await;
        let elsewhere = creations(&database).await;

        drop(here.create(thing(), answered("910003")).await.unwrap());
        let again = here.create(thing(), answered("910004")).await.unwrap();

        assert_eq!(again.id, "910003", "{name}");
        drop(again);
        while here.of("i-1").await.unwrap().iter().all(|it| it.answer.is_none()) {
            tokio::task::yield_now().await;
        }
        let taken_over = elsewhere.create(thing(), answered("910005")).await.unwrap();
        assert_eq!(taken_over.id, "910003", "{name}");
        taken_over.stored();
    }
}

#[tokio::test]
async fn what_a_call_may_have_made_stays_listed_and_what_it_cannot_have_made_does_not() {
    for (name, database) in Databases::both().await {
        let creations = creations(&database).await;
        let definite = [
            Kind::Refused { status: 400 },
            Kind::Unauthorized,
            Kind::NotHeld,
            Kind::Paused { retry_after: Duration::from_secs(1) },
            Kind::Throttled { retry_after: None },
        ];

        for kind in definite {
            assert!(creations.create(thing(), failed(kind)).await.is_err());
            assert_eq!(creations.of("i-1").await.unwrap(), [], "{kind:?} {name}");
        }
        for kind in [Kind::AnswerLost, Kind::Malformed, Kind::Unavailable] {
            assert!(creations.create(thing(), failed(kind)).await.is_err());
        }

        let listed = creations.of("i-1").await.unwrap();
        assert_eq!(listed.len(), 3, "{name}");
        assert!(listed.iter().all(|it| it.name == thing().name && it.answer.is_none()));
    }
}
