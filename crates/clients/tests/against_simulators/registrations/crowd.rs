//! A thousand calls at once against systems that answer slowly: each system sees no more than its limit.

use std::{collections::BTreeMap, time::Duration};

use clients::{
    CallLimits,
    edp::Tenant,
    spc::{Event, EventType},
};
use futures::{FutureExt, future::join_all};
use simulators::{
    ledger::{Filter, Phase},
    trouble::Kind,
};

use super::{test_systems::TestSystems, world::World};

const EACH: u64 = 200;
const AT_ONCE: usize = 8;

/// The most calls of each system that were under way at the same time.
fn most(world: &World) -> BTreeMap<String, i64> {
    let mut under_way: BTreeMap<String, i64> = BTreeMap::new();
    let mut most: BTreeMap<String, i64> = BTreeMap::new();
    for entry in world.running.landscape.ledger().all(&Filter::default()).unwrap() {
        let now = under_way.entry(entry.about.system.clone()).or_default();
        *now += match entry.phase {
            Phase::Received => 1,
            Phase::Applied => 0,
            Phase::Replied | Phase::Lost => -1,
        };
        let most = most.entry(entry.about.system).or_default();
        *most = (*most).max(*now);
    }
    most
}

#[tokio::test]
async fn a_thousand_calls_at_once_respect_the_limit_of_each_system() {
    let world = World::new().await;
    let limits =
        CallLimits { at_once: AT_ONCE, call: Duration::from_secs(300), ..CallLimits::DEFAULT };
    let place = TestSystems { limits, ..world.place() };
    let (avs, edp, ias, lms, spc) =
        (place.avs(), place.edp(), place.ias(), place.lms(), place.spc());
    for system in ["avs", "edp", "ias", "lms", "spc"] {
        world.trouble(system, EACH, Kind::Slow { delay_ms: 20 });
    }

    let calls = (0..EACH).map(|number| {
        let (avs, edp, ias, lms, spc) = (&avs, &edp, &ias, &lms, &spc);
        async move {
            let id = number.to_string();
            let tenant = Tenant::of_subaccount(&id);
            let kind = EventType::Kyma;
            let event = Event { orchestration_id: id, event_type: kind, tenants: Vec::new() };
            let (avs, edp, ias, lms, spc) = futures::join!(
                avs.delete(1),
                edp.create_tenant(&tenant),
                ias.company().map(|done| done.map(drop)),
                lms.create_tenant("ga", "eu").map(|done| done.map(drop)),
                spc.create(&event).map(|done| done.map(drop)),
            );
            [avs, edp, ias, lms, spc].into_iter().all(|done| done.is_ok())
        }
    });
    let done = join_all(calls);
    // Not faster than ten times as fast: on a slow disk, tokens would end on the way.
    let ticking = async {
        let real = base::Clock::running();
        loop {
            world.clock.advance(Duration::from_millis(10));
            real.sleep(Duration::from_millis(1)).await;
        }
    };
    let done = tokio::select! {
        done = done => done,
        () = ticking => unreachable!(),
    };

    assert!(done.into_iter().all(|fine| fine));
    let most = most(&world);
    for system in ["avs", "edp", "ias", "lms", "spc"] {
        assert_eq!(most[system], i64::try_from(AT_ONCE).unwrap(), "{system}");
    }
    assert_eq!(world.objects("edp", "tenant").await.len(), 200);
}
