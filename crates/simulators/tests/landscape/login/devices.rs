//! The issuer's flow for devices.

use std::time::Duration;

use crate::world::{World, json, status};

#[tokio::test]
async fn a_device_waits_slows_down_and_gets_its_token() {
    let world = World::new().await;
    let started = world.post("/oauth2/device_authorization").form(&[("client_id", "kcp")]);
    let started = json(started).await;
    let poll = || {
        json(world.post("/oauth2/token").form(&[
            ("grant_type", "urn:ietf:params:oauth:grant-type:device_code"),
            ("client_id", "kcp"),
            ("device_code", started["device_code"].as_str().unwrap()),
        ]))
    };
    assert_eq!(started["interval"], 5);

    assert_eq!(poll().await["error"], "authorization_pending");
    assert_eq!(poll().await["error"], "slow_down");
    world.clock.advance(Duration::from_secs(5));
    assert_eq!(poll().await["error"], "slow_down");
    world.clock.advance(Duration::from_secs(15));
    assert_eq!(poll().await["error"], "authorization_pending");

    let page = world.http.get(started["verification_uri_complete"].as_str().unwrap());
    assert_eq!(status(page).await, 200);
    let user_code = started["user_code"].as_str().unwrap().to_lowercase();
    let decide = |password| {
        let typed = [("user_code", &*user_code), ("username", "admin"), ("password", password)];
        world.post("/device").form(&typed)
    };
    assert_eq!(status(decide("wrong")).await, 401);
    assert_eq!(status(decide("pass word")).await, 200);
    assert!(poll().await["access_token"].is_string());
    assert_eq!(poll().await["error"], "invalid_grant");
}

#[tokio::test]
async fn a_device_that_is_denied_or_too_late_gets_none() {
    let world = World::new().await;
    for late in [false, true] {
        let started = world.post("/oauth2/device_authorization").form(&[("client_id", "kcp")]);
        let started = json(started).await;
        if late {
            world.clock.advance(Duration::from_mins(10));
        } else {
            let denied = world.post("/device").form(&[
                ("user_code", started["user_code"].as_str().unwrap()),
                ("username", "admin"),
                ("password", "pass word"),
                ("decision", "deny"),
            ]);
            assert_eq!(status(denied).await, 200);
        }
        let polled = json(world.post("/oauth2/token").form(&[
            ("grant_type", "urn:ietf:params:oauth:grant-type:device_code"),
            ("client_id", "kcp"),
            ("device_code", started["device_code"].as_str().unwrap()),
        ]))
        .await;

        assert_eq!(polled["error"], if late { "expired_token" } else { "access_denied" });
    }
}
