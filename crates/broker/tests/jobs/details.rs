//! What a report has no room for is stored beside the run, and read page by page.

use std::{collections::BTreeSet, time::Duration};

use broker::jobs::{DetailPage, Settings};
use domain::OperationId;
use serde_json::json;

use crate::world::World;

/// More than a report has room for.
const SHOOTS: usize = 230;

fn settings() -> Settings {
    let mut settings = Settings { settled: Duration::from_millis(1), ..Settings::default() };
    settings.archive.keep_runs = Duration::ZERO;
    settings
}

/// All details of a run, so many at a time; and how many pages they are.
async fn all(world: &World, run: Option<OperationId>, most: u32) -> (Vec<String>, u32) {
    let (mut items, mut after, mut pages) = (Vec::new(), 0, 0);
    loop {
        let page = world.jobs.details("drift", run.clone(), after, most).await.unwrap().unwrap();
        pages += 1;
        let DetailPage { details, next, .. } = page;
        assert!(details.len() <= most as usize);
        items.extend(details.into_iter().map(|it| format!("{}: {}", it.item, it.text)));
        match next {
            Some(next) => after = next,
            None => return (items, pages),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_difference_can_be_read_however_many_there_are() {
    for world in World::both(settings).await {
        assert!(world.jobs.details("drift", None, 0, 100).await.unwrap().is_none(), "it never ran");
        for number in 0..SHOOTS {
            world.shoot(&format!("s-{number:03}"), json!({})).await;
        }
        let expected: BTreeSet<String> =
            (0..SHOOTS).map(|number| format!("s-{number:03}: Shoot without an instance")).collect();

        let run = world.run("drift", false).await;

        assert_eq!((run.report.details.len(), run.report.omitted), (200, 30));
        for (most, pages) in [(1_000, 1), (100, 3), (115, 2), (200, 2), (7, 33)] {
            let (found, read) = all(&world, None, most).await;
            assert_eq!(found.len(), SHOOTS, "{most} at a time");
            assert_eq!(found.into_iter().collect::<BTreeSet<_>>(), expected, "{most} at a time");
            assert_eq!(read, pages, "{most} at a time");
        }

        // The newest run is another one now; the first one can still be named.
        let second = world.run("drift", true).await;
        let newest = world.jobs.details("drift", None, 0, 1).await.unwrap().unwrap();
        assert_eq!(newest.operation, second.operation);
        assert_eq!(all(&world, Some(run.operation.clone()), 100).await.0.len(), SHOOTS);
        let named = Some(run.operation.clone());
        let of_another = world.jobs.details("expiry", named, 0, 1).await.unwrap();
        assert!(of_another.is_none());

        // The details go with their run: the newest run of a sort is kept.
        world.run("drift", false).await;
        let stored = async |run: &OperationId| {
            world.store.job_details(run.uuid(), 0..u64::MAX, 100).await.unwrap().len()
        };
        assert_eq!(stored(&run.operation).await, 30);
        world.run("archive", false).await;
        assert_eq!(stored(&run.operation).await, 0);
        assert_eq!(stored(&second.operation).await, 30);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn details_behind_a_gap_in_the_numbers_are_read_once() {
    for world in World::both(settings).await {
        for number in 0..SHOOTS {
            world.shoot(&format!("s-{number:03}"), json!({})).await;
        }
        let run = world.run("drift", false).await;
        // Only a run that is not the newest one loses details.
        world.run("drift", false).await;
        let before = world.clock.now() + Duration::from_mins(1);
        assert_eq!(world.store.forget_job_details("job/drift", before, 10).await.unwrap(), 10);

        for most in [7, 200, 1_000] {
            let (found, _) = all(&world, Some(run.operation.clone()), most).await;

            let different: BTreeSet<&String> = found.iter().collect();
            assert_eq!((found.len(), different.len()), (SHOOTS - 10, SHOOTS - 10), "{most}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn details_that_are_stored_again_take_the_place_of_the_first_ones() {
    for world in World::both(settings).await {
        let run = world.run("drift", false).await.operation.uuid();
        let detail = |item: &str| store::broker::StoredDetail {
            item: item.into(),
            outcome: "done".into(),
            text: "a\u{0}b".into(),
        };

        for items in [["a", "b", "c"], ["d", "e", "f"]] {
            world.store.add_job_details(run, 7, &items.map(detail)).await.unwrap();
        }

        let found = world.store.job_details(run, 8..100, 100).await.unwrap();
        let found: Vec<(&str, &str)> =
            found.iter().map(|it| (it.detail.item.as_str(), it.detail.text.as_str())).collect();
        assert_eq!(found, [("e", "ab"), ("f", "ab")]);
        assert_eq!(world.store.job_details(run, 7..8, 100).await.unwrap().len(), 1);
    }
}
