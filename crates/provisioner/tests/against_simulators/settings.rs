//! Effects of the steps' settings in clusters.

use std::time::Duration;

use clients::runtime::Groups;
use provisioner::{operations::StepSettings, shoots::AUDIT_TENANT_ANNOTATION};
use uuid::Uuid;

use crate::world::{World, aws};

/// The administrator whom orders of these tests name.
const ADMINISTRATOR: &str = "ada@example.org";

/// The names of those whom a cluster lets in by bindings for the whole cluster.
fn let_in(world: &World, cluster: &str) -> Vec<String> {
    let server = world.landscape.running.clusters().server();
    let bindings = server.list(cluster, "clusterrolebindings.rbac.authorization.k8s.io");
    let subjects = bindings.iter().filter_map(|binding| binding["subjects"].as_array()).flatten();
    let mut names: Vec<_> =
        subjects.filter_map(|subject| subject["name"].as_str().map(str::to_owned)).collect();
    names.sort();
    names
}

#[tokio::test(flavor = "multi_thread")]
async fn groups_administrators_audit_logs_and_the_lifetime_of_kubeconfigs_are_as_set() {
    let settings = StepSettings {
        groups: Groups { looking: "lookers".into(), acting: "doers".into() },
        bind_administrators: false,
        kubeconfig_lifetime: Duration::from_mins(90),
        ..StepSettings::default()
    };
    let landscapes = [("cf.eu10".to_owned(), "tenant-of-eu10".to_owned())];
    let audited = [("aws".to_owned(), landscapes.into())].into();
    let world = World::with_settings(settings, audited).await;
    let made = world.provisioned(aws("own")).await;

    let names = let_in(&world, "own");
    assert!(
        names.contains(&"lookers".to_owned()) && names.contains(&"doers".to_owned()),
        "{names:?}"
    );
    assert!(!names.contains(&ADMINISTRATOR.to_owned()), "{names:?}");
    let shoot = world.env().gardener.shoot("own").await.unwrap().unwrap();
    assert_eq!(shoot.annotation(AUDIT_TENANT_ANNOTATION), Some("tenant-of-eu10"));
    let id: Uuid = made.runtime_id.parse().unwrap();
    let row = world.env().store.find(id).await.unwrap().unwrap();
    let lasts = row.kubeconfig.unwrap().until.duration_since(world.landscape.clock.now());
    assert!((60..=90).contains(&(lasts.as_secs() / 60)), "{lasts:?}");

    let usual = World::sqlite().await;
    usual.provisioned(aws("usual")).await;
    let shoot = usual.env().gardener.shoot("usual").await.unwrap().unwrap();
    assert_eq!(shoot.annotation(AUDIT_TENANT_ANNOTATION), None);
    let names = let_in(&usual, "usual");
    for name in ["runtimeOperator", "runtimeAdmin", ADMINISTRATOR] {
        assert!(names.contains(&name.to_owned()), "{name}: {names:?}");
    }
}
