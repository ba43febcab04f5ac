//! The chores of both services: each is started, and works.

use std::time::Duration;

use base::Clock;
use serde_json::Value;

use super::{audited_tests::bearer, testing};
use crate::settings;

const OF_BROKER: [&str; 5] = ["audit", "maintenance", "orchestrations", "jobs", "answers"];
const OF_PROVISIONER: [&str; 6] =
    ["shoot signals", "garden features", "failed runtimes", "abandoned intents", "sums", "audit"];

#[tokio::test(flavor = "multi_thread")]
async fn every_chore_of_both_services_is_started_and_jobs_run_when_they_are_due() {
    let mut settings = settings::load(None).unwrap();
    settings.jobs.expiry.every = Some(Duration::from_secs(1));
    let started = testing::start_with(settings).await;
    let up = started.up();

    assert_eq!(up.broker.chores.names(), OF_BROKER);
    assert_eq!(up.provisioner.chores.names(), OF_PROVISIONER);
    let (http, token) = (reqwest::Client::new(), bearer(up, None));
    let due = async {
        loop {
            let asked = http.get(format!("{}/jobs/expiry", up.connection.broker));
            let answer = asked.header("authorization", &token).send().await.unwrap();
            let job: Value = answer.json().await.unwrap();
            if job["last_run"]["ended_at"].is_string() {
                return job["last_run"].clone();
            }
            Clock::running().sleep(Duration::from_millis(25)).await;
        }
    };
    let run = tokio::time::timeout(Duration::from_mins(2), due).await.unwrap();
    assert_eq!(run["requested_by"], Value::Null, "nobody has asked for it: {run}");
    started.stop().await;
}
