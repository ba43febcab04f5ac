//! Whether a system can be reached and knows us: what is found out, and that nothing is changed by it.

use clients::{Error, Kind};
use futures::{FutureExt, future::BoxFuture};
use simulators::trouble;

use super::{test_systems::TestSystems, world::World};

type Check = fn(TestSystems) -> BoxFuture<'static, Result<(), Error>>;

const CHECKS: [(&str, Check); 5] = [
    ("avs", |place| async move { place.avs().check().await }.boxed()),
    ("edp", |place| async move { place.edp().check().await }.boxed()),
    ("ias", |place| async move { place.ias().check().await }.boxed()),
    ("lms", |place| async move { place.lms().check().await }.boxed()),
    ("spc", |place| async move { place.spc().check().await }.boxed()),
];

#[tokio::test]
async fn a_system_that_is_there_and_knows_us_is_fine_and_unchanged() {
    let world = World::new().await;

    for (system, check) in CHECKS {
        check(world.place()).await.unwrap_or_else(|error| panic!("{system}: {error}"));
        assert_eq!(world.running.landscape.ledger().sums(system).applied, 0, "{system}");
    }
}

#[tokio::test]
async fn a_system_that_is_down_or_does_not_know_us_says_so() {
    let world = World::new().await;
    let status = |status| trouble::Kind::Status { status, body: None };

    for (system, check) in CHECKS {
        world.trouble(system, 1, status(503));
        assert_eq!(check(world.place()).await.unwrap_err().kind, Kind::Unavailable, "{system}");
        // A refused token is renewed once.
        let calls = if matches!(system, "avs" | "edp") { 2 } else { 1 };
        world.trouble(system, calls, status(401));
        assert_eq!(check(world.place()).await.unwrap_err().kind, Kind::Unauthorized, "{system}");
    }
}

#[tokio::test]
async fn wrong_credentials_are_told_apart_from_trouble() {
    let world = World::new().await;
    let gate = |component| {
        clients::Gate::new(component, clients::CallLimits::DEFAULT, world.clock.clone())
    };
    let wrong = || "wrong".to_owned().into();
    let place = world.place();
    let mut avs = place.avs_settings();
    avs.password = wrong();
    let issuer = gate(clients::Component::ISSUER);
    let avs = clients::avs::Avs::new(avs, gate(clients::avs::COMPONENT), issuer).unwrap();
    let lms = clients::lms::Settings {
        url: place.systems.join("/lms").unwrap(),
        token: wrong(),
        cluster_type: clients::lms::ClusterType::Ha,
        environment: "dev".into(),
        saml_tenant: "saml".into(),
        region: None,
    };
    let lms = clients::lms::Lms::new(lms, gate(clients::lms::COMPONENT)).unwrap();

    let (avs, lms) = (avs.check().await.unwrap_err(), lms.check().await.unwrap_err());

    assert_eq!((avs.component.0, avs.kind), ("issuer", Kind::Unauthorized));
    assert_eq!((lms.component.0, lms.kind), ("lms", Kind::Unauthorized));
}
