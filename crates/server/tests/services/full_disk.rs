//! Both services on a PostgreSQL whose disk fills up: what they answer, and that nothing accepted is lost.

use std::time::Duration;

use base::Clock;
use reqwest::Method;
use secrecy::ExposeSecret;
use serde_json::{Value, json};
use server::{settings, up::Up};
use store::testing::{Part, SmallDisk};

use crate::platform::Platform;
use crate::support::{free_ports, options};

/// Enough writes for pages that still have room to fill up.
const MANY: usize = 2_000;

fn instance(id: &str) -> String {
    format!("/oauth/v2/service_instances/{id}")
}

async fn ordered(platform: &Platform<'_>, id: &str) -> (u16, Value) {
    let order = platform.order("aws", &json!({}));
    let path = format!("{}?accepts_incomplete=true", instance(id));
    platform.ask(Method::PUT, &path, Some(&order)).await
}

/// Asks the provisioner for another cluster, as the broker does.
async fn cluster(up: &Up, number: usize) -> (u16, Value) {
    let mutation = format!(
        "mutation {{ result: provisionRuntime(config: {{ runtimeInput: {{ name: \"demo-{number}\" }} \
         clusterConfig: {{ administrators: [\"ada@example.org\"] gardenerConfig: {{ name: \"d-{number}\" \
         provider: \"gcp\" targetSecret: \"gcp-free-1\" region: \"europe-west3\" workerCidr: \"10.250.0.0/22\" \
         providerSpecificConfig: {{ gcpConfig: {{ zones: [\"europe-west3-a\"] }} }} }} }} }}) {{ id runtimeID }} }}"
    );
    graphql(up, &mutation).await
}

async fn graphql(up: &Up, query: &str) -> (u16, Value) {
    let asked = reqwest::Client::new()
        .post(format!("{}/graphql", up.connection.provisioner))
        .bearer_auth(up.connection.token.expose_secret())
        .header("tenant", "ga-1")
        .json(&json!({"query": query}));
    let answer = asked.send().await.unwrap();
    (answer.status().as_u16(), answer.json().await.unwrap())
}

/// Until it is so, or too late.
async fn until(what: &str, is_so: impl AsyncFn() -> bool) {
    let clock = Clock::running();
    while !is_so().await {
        assert!(clock.monotonic() < Duration::from_secs(120), "{what}");
        clock.sleep(Duration::from_millis(100)).await;
    }
}

async fn fills_up(part: Part, enough: usize) {
    let mut disk = SmallDisk::of(part).await;
    let data = tempfile::tempdir().unwrap();
    let mut options = options(free_ports(), data.path(), "max", settings::load(None).unwrap());
    options.database = Some(disk.url().into());
    let up = Up::start(options).await.unwrap();
    let platform = Platform::of(&up).await;
    let mut accepted = vec!["before".to_owned()];
    assert_eq!(ordered(&platform, "before").await.0, 202);
    let (mut refusals, mut clusters, mut failures) = (0, Vec::new(), 0);

    disk.fill().await;
    for number in 0..MANY {
        let id = format!("meanwhile-{number}");
        match ordered(&platform, &id).await {
            (202, _) => accepted.push(id),
            (503 | 507, _) => refusals += 1,
            (status, answer) => panic!("{status}: {answer}"),
        }
        match cluster(&up, number).await {
            // Refused before it begins: there is no room for its entry in the audit.
            (503, _) => failures += 1,
            (200, answer) => match answer["data"]["result"]["runtimeID"].as_str() {
                Some(runtime) => clusters.push(runtime.to_owned()),
                None => {
                    let message = answer["errors"][0]["message"].as_str().unwrap_or_default();
                    assert!(message.contains("database request failed"), "{answer}");
                    failures += 1;
                }
            },
            (status, answer) => panic!("{status}: {answer}"),
        }
        if refusals >= enough && failures >= enough {
            break;
        }
    }
    disk.free().await;

    assert!(
        refusals >= enough && failures >= enough,
        "{refusals} and {failures} of {MANY} were refused"
    );
    let ready = async |base: &str| {
        reqwest::get(format!("{base}/readyz")).await.is_ok_and(|answer| answer.status() == 200)
    };
    until("they are not ready again", async || {
        ready(&up.connection.broker).await && ready(&up.connection.provisioner).await
    })
    .await;
    until("orders are still refused", async || ordered(&platform, "afterwards").await.0 == 202)
        .await;
    for id in &accepted {
        let (status, answer) =
            platform.ask(Method::GET, &format!("{}/last_operation", instance(id)), None).await;
        assert_eq!(status, 200, "{id} was accepted and is lost: {answer}");
    }
    for id in ["before", "afterwards"] {
        platform.succeeded(&instance(id)).await;
    }
    for runtime in clusters {
        let query = format!(
            "query {{ result: runtimeStatus(id: \"{runtime}\") {{ lastOperationStatus {{ id }} }} }}"
        );
        let (_, answer) = graphql(&up, &query).await;
        assert!(answer["data"]["result"]["lastOperationStatus"]["id"].is_string(), "{answer}");
    }
    until("clusters are still refused", async || {
        let (status, answer) = cluster(&up, MANY).await;
        status == 200 && answer["errors"].is_null()
    })
    .await;
    up.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn p25_on_a_full_disk_of_postgresql_both_services_refuse_lose_nothing_and_heal() {
    fills_up(Part::Data, 5).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn p25_without_room_for_the_log_of_postgresql_both_services_refuse_lose_nothing_and_heal() {
    // Each of them waits for a connection.
    fills_up(Part::Log, 2).await;
}
