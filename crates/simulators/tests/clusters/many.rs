//! Many runtimes at once: all connect, none is forgotten. `KCP_RUNTIMES=1000` raises the number.

use std::env;

use futures::{StreamExt, stream};

use crate::world::{World, connection_in};

#[tokio::test(flavor = "multi_thread")]
async fn all_agents_connect() {
    let wanted = env::var("KCP_RUNTIMES").ok().and_then(|text| text.parse().ok()).unwrap_or(20);
    let world = World::new().await;
    let before = world.clock.monotonic();

    let connected = stream::iter(0..wanted)
        .map(|number| {
            let (world, name) = (&world, format!("many-{number}"));
            async move {
                let client = world.runtime_with_agent(&name).await;
                let id = world.registered(&name).await;
                world.configure(&client, &id).await;
                connection_in(&client, "Synchronized").await;
                world.registration(&id).await["status"]["condition"] == "CONNECTED"
            }
        })
        .buffer_unordered(16)
        .filter(|connected| std::future::ready(*connected))
        .count()
        .await;

    let memory = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let memory =
        memory.lines().find(|line| line.starts_with("VmRSS")).unwrap_or_default().to_owned();
    let took = world.clock.monotonic().saturating_sub(before);
    println!("{wanted} runtimes connected in {took:?}, {memory}");
    assert_eq!(connected, wanted);
}
