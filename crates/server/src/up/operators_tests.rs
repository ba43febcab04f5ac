//! What operators are answered over a socket: jobs and their runs, the archive, what is left over, and what is wrong with a request.

use std::time::Duration;

use base::Clock;
use reqwest::Method;
use serde_json::{Value, json};

use super::{Up, audited_tests::bearer, testing};

struct Operator<'a> {
    up: &'a Up,
    http: reqwest::Client,
    token: String,
}

impl<'a> Operator<'a> {
    fn new(up: &'a Up) -> Self {
        Self { up, http: reqwest::Client::new(), token: bearer(up, None) }
    }

    async fn ask(&self, method: Method, path: &str, body: &str) -> (u16, Value) {
        let request = self.http.request(method, format!("{}{path}", self.up.connection.broker));
        let request = request.header("authorization", &self.token).body(body.to_owned());
        let answer = request.send().await.unwrap();
        (answer.status().as_u16(), answer.json().await.unwrap_or_default())
    }

    async fn get(&self, path: &str) -> (u16, Value) {
        self.ask(Method::GET, path, "").await
    }

    async fn run(&self, job: &str, body: &str) -> Value {
        let (status, started) = self.ask(Method::POST, &format!("/jobs/{job}/run"), body).await;
        assert_eq!((status, &started["started"]), (202, &json!(true)), "{job}: {started}");
        started["operation"].clone()
    }

    /// The newest run of a job, once it has ended.
    async fn ended(&self, job: &str, field: &str) -> Value {
        let ending = async {
            loop {
                let (status, mut found) = self.get(&format!("/jobs/{job}")).await;
                assert_eq!((status, &found["name"]), (200, &json!(job)), "{found}");
                if found[field]["ended_at"].is_string() {
                    return found[field].take();
                }
                Clock::running().sleep(Duration::from_millis(25)).await;
            }
        };
        let ended = tokio::time::timeout(Duration::from_mins(5), ending).await;
        ended.unwrap_or_else(|_| panic!("the run of {job} does not end"))
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn jobs_are_run_and_told_and_what_cannot_run_is_refused() {
    let started = testing::start().await;
    let operator = Operator::new(started.up());

    let (status, all) = operator.get("/jobs").await;
    assert_eq!(status, 200, "{all}");
    let names: Vec<&str> =
        all["jobs"].as_array().unwrap().iter().map(|job| job["name"].as_str().unwrap()).collect();
    assert_eq!(names, broker::jobs::names().collect::<Vec<_>>());
    assert_eq!(operator.get("/drift").await, (200, json!({})), "it never ran");

    for (job, body) in [("drift", r#"{"dry_run": true}"#), ("expiry", r#"{"dryRun": true}"#)] {
        let operation = operator.run(job, body).await;
        let run = operator.ended(job, "last_dry_run").await;
        assert_eq!((&run["operation"], &run["requested_by"]), (&operation, &json!("jo")), "{run}");
        assert_eq!(run["state"], "succeeded", "{run}");
        assert_eq!(operator.get(&format!("/jobs/{job}")).await.1["last_run"], Value::Null);
    }
    for (job, body) in [("drift", ""), ("expiry", "{}")] {
        let operation = operator.run(job, body).await;
        assert_eq!(operator.ended(job, "last_run").await["operation"], operation, "{job}");
    }
    let drift = operator.ended("drift", "last_run").await;
    assert_eq!(operator.get("/drift").await, (200, json!({ "last_run": drift })));

    for (job, body, expected) in [
        ("nope", "", 404),
        ("environment-cleanup", "", 409),
        ("drift", r#"{"dry": true}"#, 400),
        ("drift", r#"{"dry_run": "yes"}"#, 400),
    ] {
        let refused = operator.ask(Method::POST, &format!("/jobs/{job}/run"), body).await;
        assert_eq!(refused.0, expected, "{job} {body}: {}", refused.1);
    }
    assert_eq!(operator.get("/jobs/nope").await.0, 404);
    started.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_have_bounds_and_what_is_not_there_is_told() {
    let started = testing::start().await;
    let operator = Operator::new(started.up());

    for (path, list) in
        [("/archive", "archived"), ("/leftovers", "leftovers"), ("/may-exist", "may_exist")]
    {
        for (query, expected) in [
            ("", 200),
            ("?limit=1", 200),
            ("?limit=200", 200),
            ("?limit=0", 400),
            ("?limit=201", 400),
            ("?size=1", 400),
        ] {
            let (status, answer) = operator.get(&format!("{path}{query}")).await;
            assert_eq!(status, expected, "{path}{query}: {answer}");
            if status == 200 {
                assert_eq!(answer[list], json!([]), "{path}{query}: {answer}");
            }
        }
    }
    for path in ["/archive/nope", "/leftovers/nope"] {
        assert_eq!(operator.get(path).await.0, 404, "{path}");
    }
    let expired = operator.ask(Method::PUT, "/expire/service_instance/nope", "").await;
    let told = json!({ "error": "Cannot find Instance for instanceID:'nope'" });
    assert_eq!(expired, (404, told));
    let settled = operator.ask(Method::DELETE, "/may-exist/nope", "").await;
    assert_eq!((settled.0, &settled.1["description"]), (400, &json!("id is no id")));
    started.stop().await;
}
