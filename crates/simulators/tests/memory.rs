//! What a landscape keeps: of runtimes that live, of runtimes that were removed, and on the disk.
//!
//! What a reader would get wrong: memory is what the operating system says, so nothing else may run in this process.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::{fs, path::Path, sync::Arc, time::Duration};

use base::Clock;
use serde_json::{Value, json};
use simulators::{
    pace::Speed,
    testing::{Options, Running},
};

const SHOOTS: &str = "shoots.core.gardener.cloud";
const NAMESPACE: &str = "garden-kyma";

/// B21: per living and per removed runtime.
const LIVING: u64 = 1 << 20;
const REMOVED: u64 = 100 << 10;

struct World {
    running: Running,
    clock: Clock,
    folder: tempfile::TempDir,
}

impl World {
    async fn new() -> Self {
        let (folder, clock) = (tempfile::tempdir().unwrap(), Clock::running());
        let running = Self::run(folder.path(), &clock).await;
        Self { running, clock, folder }
    }

    async fn run(folder: &Path, clock: &Clock) -> Running {
        let mut options = Options { speed: Speed::MAX, plays_agent: false, ..Options::default() };
        options.clusters.garden.cleaning = Some(Duration::from_secs(30));
        Running::with(folder, clock.clone(), 7, options).await
    }

    fn shoot(&self, name: &str) -> Option<Arc<Value>> {
        self.running.clusters().server().get("garden", SHOOTS, NAMESPACE, name)
    }

    fn apply(&self, object: &Value) {
        self.running.clusters().server().apply("garden", "test", object).unwrap();
    }

    async fn until(&self, so: impl Fn() -> bool) {
        for _ in 0..12_000 {
            if so() {
                return;
            }
            self.clock.sleep(Duration::from_millis(5)).await;
        }
        panic!("it does not come about");
    }

    async fn make(&self, name: &str) {
        self.apply(&shoot(name));
        self.running.clusters().rest().reached(name).await;
        self.until(|| self.running.clusters().server().clusters().iter().any(|it| it == name))
            .await;
    }

    async fn remove(&self, name: &str) {
        let confirmed = json!({
            "apiVersion": "core.gardener.cloud/v1beta1", "kind": "Shoot",
            "metadata": {
                "name": name, "namespace": NAMESPACE,
                "annotations": {"confirmation.gardener.cloud/deletion": "true"},
            },
        });
        let server = self.running.clusters().server();
        // Another manager than the one that applied the rest: fields that it does not repeat are released.
        server.apply("garden", "confirmation", &confirmed).unwrap();
        server.remove("garden", SHOOTS, NAMESPACE, name).unwrap();
        self.until(|| self.shoot(name).is_none()).await;
    }

    async fn rounds(&self, from: usize, to: usize) {
        for round in from..to {
            let name = format!("r-{round}");
            self.make(&name).await;
            self.remove(&name).await;
        }
    }
}

fn shoot(name: &str) -> Value {
    let version = "aws.provider.extensions.gardener.cloud/v1alpha1";
    json!({
        "apiVersion": "core.gardener.cloud/v1beta1",
        "kind": "Shoot",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {
            "cloudProfileName": "aws",
            "region": "eu-central-1",
            "secretBindingName": "aws-free-1",
            "networking": {"type": "calico", "nodes": "10.250.0.0/16"},
            "kubernetes": {"version": "1.25.6"},
            "provider": {
                "type": "aws",
                "controlPlaneConfig": {"kind": "ControlPlaneConfig", "apiVersion": version},
                "infrastructureConfig": {
                    "kind": "InfrastructureConfig", "apiVersion": version,
                    "networks": {"vpc": {"cidr": "10.250.0.0/16"}, "zones": [{
                        "name": "eu-central-1a", "internal": "10.250.48.0/20",
                        "public": "10.250.32.0/20", "workers": "10.250.0.0/19",
                    }]},
                },
                "workers": [{
                    "name": "cpu-worker-0", "machine": {"type": "m5.xlarge"}, "minimum": 3,
                    "maximum": 10, "maxSurge": 3, "maxUnavailable": 0,
                    "volume": {"type": "gp3", "size": "50Gi"}, "zones": ["eu-central-1a"],
                }],
            },
        },
    })
}

/// The memory of this process, in bytes.
fn resident() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    let kilobytes: u64 = line.split_whitespace().nth(1).unwrap().parse().unwrap();
    kilobytes << 10
}

fn size(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).unwrap().map(Result::unwrap);
    entries
        .map(|entry| {
            let about = entry.metadata().unwrap();
            if about.is_dir() { size(&entry.path()) } else { about.len() }
        })
        .sum()
}

#[tokio::test(flavor = "multi_thread")]
async fn b21_neither_living_nor_removed_runtimes_take_more_memory_than_they_may() {
    let world = World::new().await;
    world.rounds(0, 30).await;

    let before = resident();
    world.rounds(30, 130).await;
    let removed = resident().saturating_sub(before) / 100;
    let before = resident();
    for at in 0..50 {
        world.make(&format!("l-{at}")).await;
    }
    let living = resident().saturating_sub(before) / 50;

    println!("{} KiB of each removed, {} KiB of each living runtime", removed >> 10, living >> 10);
    assert!(removed <= REMOVED, "{removed} bytes are kept of each removed runtime");
    assert!(living <= LIVING, "{living} bytes are taken by each living runtime");
    assert_eq!(world.running.clusters().server().clusters().len(), 52);
    // A hundred and eighty runtimes came, and a hundred and thirty went: the log is compacted all the while.
    let kept = size(world.folder.path());
    assert!(kept < 32 << 20, "{kept} bytes on the disk");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_binding_that_is_deleted_goes_with_the_last_shoot_that_uses_it() {
    let world = World::new().await;
    world.make("user").await;
    let bindings = "secretbindings.core.gardener.cloud";
    let server = world.running.clusters().server();
    let found = || server.get("garden", bindings, NAMESPACE, "aws-free-1");

    server.remove("garden", bindings, NAMESPACE, "aws-free-1").unwrap();
    let held = found().is_some();
    world.remove("user").await;
    world.until(|| found().is_none()).await;

    assert!(held, "a Shoot uses it");
}

#[tokio::test(flavor = "multi_thread")]
async fn released_accounts_are_clean_again_unless_a_shoot_still_uses_them() {
    let world = World::new().await;
    world.make("user").await;
    let dirty = |name: &str| {
        json!({
            "apiVersion": "core.gardener.cloud/v1beta1", "kind": "SecretBinding",
            "metadata": {
                "name": name, "namespace": NAMESPACE,
                "labels": {"dirty": "true", "tenantName": "somebody"},
            },
        })
    };
    world.apply(&dirty("aws-free-1"));
    world.apply(&dirty("aws-free-2"));
    let labels = |name: &str| {
        let bindings = "secretbindings.core.gardener.cloud";
        let found = world.running.clusters().server().get("garden", bindings, NAMESPACE, name);
        found.unwrap()["metadata"]["labels"].clone()
    };

    world.until(|| labels("aws-free-2").get("dirty").is_none()).await;

    assert_eq!(labels("aws-free-2").get("tenantName"), None);
    assert_eq!(labels("aws-free-2")["hyperscalerType"], "aws");
    assert_eq!(labels("aws-free-1")["dirty"], "true");
    assert_eq!(labels("aws-free-1")["tenantName"], "somebody");
}
