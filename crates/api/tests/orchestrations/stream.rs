//! How far an orchestration is, as events.

use std::time::Duration;

use serde_json::{Value, json};

use crate::{Service, body};

/// A stream of events, and what of it has not been read yet.
struct Events(reqwest::Response, String);

impl Events {
    async fn open(service: &Service, id: &str) -> Self {
        let request = reqwest::Client::new()
            .get(format!("{}/orchestrations/{id}/progress", service.address))
            .bearer_auth(service.token())
            .header("accept", "text/event-stream");
        let answer = request.send().await.unwrap();
        assert_eq!(answer.status().as_u16(), 200);
        assert_eq!(answer.headers()["content-type"], "text/event-stream");
        Self(answer, String::new())
    }

    /// The next event; none when the stream has ended.
    async fn next(&mut self) -> Option<Value> {
        loop {
            if let Some((event, rest)) = self.1.split_once("\n\n") {
                let (event, rest) = (event.to_owned(), rest.to_owned());
                self.1 = rest;
                let data = event.lines().find_map(|line| line.strip_prefix("data: "));
                // A comment keeps the connection open.
                let Some(data) = data else { continue };
                assert!(event.lines().any(|line| line == "event: progress"), "{event}");
                return Some(serde_json::from_str(data).unwrap());
            }
            let more = self.0.chunk().await.unwrap()?;
            self.1.push_str(std::str::from_utf8(&more).unwrap());
        }
    }

    /// The next event, while time goes by: nobody knows when the follower begins to wait.
    async fn later(&mut self, service: &Service) -> Option<Value> {
        loop {
            match tokio::time::timeout(Duration::from_millis(10), self.next()).await {
                Ok(event) => return event,
                Err(_) => service.clock.advance(Duration::from_secs(2)),
            }
        }
    }
}

#[tokio::test]
async fn progress_is_told_as_events_to_all_who_listen_until_the_end() {
    let service = Service::start().await;
    service.made(1).await;
    let (_, created) = service.post("/upgrade/kyma", &body("now", 1, Some(json!({})))).await;
    let id = created["orchestrationID"].as_str().unwrap().to_owned();
    let mut all = [Events::open(&service, &id).await, Events::open(&service, &id).await];

    // Each listener hears at once how far it is.
    for events in &mut all {
        let first = events.next().await.unwrap();
        assert_eq!((&first["state"], &first["workers"]), (&json!("pending"), &json!(1)));
    }
    service.orchestrations.change_workers(&id, 7).await.unwrap();
    service.orchestrations.cancel(&id).await.unwrap();
    for events in &mut all {
        let changed = events.later(&service).await.unwrap();
        assert_eq!((&changed["state"], &changed["workers"]), (&json!("canceling"), &json!(7)));
    }

    service.end(&id).await;
    for events in &mut all {
        assert_eq!(events.later(&service).await.unwrap()["state"], "canceled");
        assert_eq!(events.later(&service).await, None);
    }
}

#[tokio::test]
async fn an_unknown_orchestration_is_no_stream_and_without_the_header_it_is_told_once() {
    let service = Service::start().await;
    service.made(1).await;
    let (_, created) = service.post("/upgrade/kyma", &body("now", 1, Some(json!({})))).await;
    let id = created["orchestrationID"].as_str().unwrap();

    let (status, once) = service.get(&format!("/orchestrations/{id}/progress")).await;
    let unknown = reqwest::Client::new()
        .get(format!("{}/orchestrations/nope/progress", service.address))
        .bearer_auth(service.token())
        .header("accept", "application/json;q=0.5, text/event-stream")
        .send();

    assert_eq!((status, &once["state"]), (200, &json!("pending")));
    assert_eq!(unknown.await.unwrap().status().as_u16(), 404);
}
