//! Access to the API, and tenants.

use axum::{
    body::Body,
    http::{Request, StatusCode, header},
};
use engine::State;

use crate::{
    real::{Real, order},
    service::{ANY, PLATFORM, Reply, Service, WAITING, WRITE, basic},
};

const TOKEN_PATH: &str = "/oauth/v2/service_instances/i-1";
const PASSWORD_PATH: &str = "/v2/service_instances/i-1";

async fn ask(service: &Service, path: &str, authorization: Option<&str>) -> Reply {
    let mut request = Request::get(path).header("x-broker-api-version", "2.17");
    if let Some(authorization) = authorization {
        request = request.header(header::AUTHORIZATION, authorization);
    }
    service.send(request.body(Body::empty()).unwrap()).await
}

#[tokio::test]
async fn every_door_opens_with_its_own_key_only() {
    let real = Real::start().await;
    real.make("i-1").await;
    let service = &real.service;
    let good_token = format!("Bearer {}", service.token(&[WRITE, ANY], None));
    let wrong_scope = format!("Bearer {}", service.token(&["cld:read", ANY], None));
    let no_tenant = format!("Bearer {}", service.token(&[WRITE], None));
    let good_password = basic(PLATFORM.0, PLATFORM.1);
    let table = [
        (TOKEN_PATH, None, 401),
        (TOKEN_PATH, Some("Bearer nonsense"), 401),
        (TOKEN_PATH, Some(good_password.as_str()), 401),
        (TOKEN_PATH, Some(wrong_scope.as_str()), 403),
        (TOKEN_PATH, Some(no_tenant.as_str()), 403),
        (TOKEN_PATH, Some(good_token.as_str()), 200),
        (PASSWORD_PATH, None, 401),
        (PASSWORD_PATH, Some(good_token.as_str()), 401),
        (PASSWORD_PATH, Some(&basic(PLATFORM.0, "wrong")), 401),
        (PASSWORD_PATH, Some(&basic("nobody", PLATFORM.1)), 401),
        (PASSWORD_PATH, Some(&basic(PLATFORM.0, "")), 401),
        (PASSWORD_PATH, Some("Basic ???"), 401),
        (PASSWORD_PATH, Some(good_password.as_str()), 200),
    ];

    for (path, authorization, expected) in table {
        let reply = ask(service, path, authorization).await;
        assert_eq!(reply.status.as_u16(), expected, "{path} {authorization:?}");
        if expected != 200 {
            assert!(!reply.description().is_empty());
            assert_eq!(reply.json().get("error"), None);
        }
    }
}

#[tokio::test]
async fn doubled_slashes_of_a_base_address_lead_to_the_clean_path_and_open_nothing() {
    let real = Real::start().await;
    real.make("i-1").await;
    let service = &real.service;
    let token = format!("Bearer {}", service.token(&[WRITE, ANY], None));
    let table = [
        ("//oauth/v2/service_instances/i-1?a=b%2F", "/oauth/v2/service_instances/i-1?a=b%2F"),
        ("/oauth/cf-eu10//v2/catalog", "/oauth/cf-eu10/v2/catalog"),
        ("//v2/catalog", "/v2/catalog"),
        ("//runtimes?page=1&page_size=100", "/runtimes?page=1&page_size=100"),
    ];

    for (path, clean) in table {
        for authorization in [None, Some("Bearer x"), Some(token.as_str())] {
            let reply = ask(service, path, authorization).await;
            assert_eq!(reply.status, StatusCode::MOVED_PERMANENTLY, "{path}");
            assert_eq!(reply.headers["location"], clean, "{path}");
        }
    }
    // Another status would make clients repeat it as GET.
    let removal = service.call("DELETE", "//oauth/v2/service_instances/i-1").await;
    assert_eq!(removal.status, StatusCode::PERMANENT_REDIRECT);
    assert_eq!(real.operations().await, 1);
    assert_eq!(ask(service, TOKEN_PATH, None).await.status, StatusCode::UNAUTHORIZED);
    // A region that is empty is none, behind the same door.
    let path = "/oauth//v2/service_instances/i-1";
    assert_eq!(ask(service, path, None).await.status, StatusCode::UNAUTHORIZED);
    assert_eq!(ask(service, path, Some(&token)).await.status, StatusCode::OK);
}

#[tokio::test]
async fn who_is_not_let_in_is_told_how_to_ask() {
    let real = Real::start().await;
    real.make("i-1").await;
    let service = &real.service;

    let token = ask(service, TOKEN_PATH, None).await;
    let password = ask(service, PASSWORD_PATH, None).await;

    assert_eq!(token.headers[header::WWW_AUTHENTICATE], "Bearer");
    let scheme = password.headers[header::WWW_AUTHENTICATE].to_str().unwrap();
    assert!(scheme.starts_with("Basic realm="), "{scheme}");
    insta::assert_snapshot!("no_token", token.shown());
    insta::assert_snapshot!("no_password", password.shown());
}

#[tokio::test]
async fn the_key_decides_for_which_tenant_and_the_headers_tell_on_whose_behalf() {
    let real = Real::start().await;
    real.make("i-1").await;
    let service = &real.service;
    let any = format!("Bearer {}", service.token(&[WRITE, ANY], None));
    let own = format!("Bearer {}", service.token(&[WRITE, ANY], Some("ga-1")));
    let foreign = format!("Bearer {}", service.token(&[WRITE, ANY], Some("ga-7")));
    let (platform, tenant) = (basic(PLATFORM.0, PLATFORM.1), basic("tenant", PLATFORM.1));

    for (path, authorization, status) in [
        (TOKEN_PATH, &any, 200),
        (TOKEN_PATH, &own, 200),
        (TOKEN_PATH, &foreign, 404),
        (PASSWORD_PATH, &platform, 200),
        (PASSWORD_PATH, &tenant, 200),
    ] {
        assert_eq!(ask(service, path, Some(authorization)).await.status, status, "{authorization}");
    }
    let mut order_of_another = order();
    order_of_another["context"]["globalaccount_id"] = "ga-2".into();
    service.put(&format!("/oauth/v2/service_instances/i-9?{WAITING}"), &order_of_another).await;
    real.end(State::Succeeded, vec![]).await;
    for (authorization, status) in [(&platform, 200), (&tenant, 404)] {
        let reply = ask(service, "/v2/service_instances/i-9", Some(authorization)).await;
        assert_eq!(reply.status, status, "{authorization}");
    }
    let escaped = ask(service, "/oauth/v2/service_instances/a%20b%2Fc", Some(&any)).await;
    assert!(escaped.description().contains("a b/c"), "{}", escaped.description());
    let request = service
        .request("PUT", "/oauth/cf-eu10/v2/service_instances/i-2?accepts_incomplete=true")
        .header("x-broker-api-originating-identity", "cloudfoundry e30=")
        .header(header::USER_AGENT, "cf/8");
    service.send(request.body(Body::from(order().to_string())).unwrap()).await;
    let input = real.stored_input().await;
    assert_eq!(input["originating_identity"], "cloudfoundry e30=");
    assert_eq!(input["user_agent"], "cf/8");
}

#[tokio::test]
async fn the_path_names_the_region() {
    let real = Real::start().await;
    let service = &real.service;
    let put = async |path: &str| service.put(&format!("{path}?{WAITING}"), &order()).await;

    put("/oauth/v2/service_instances/a").await;
    let none = real.stored_input().await;
    real.end(State::Succeeded, vec![]).await;
    put("/oauth/cf-us10/v2/service_instances/b").await;
    let named = real.stored_input().await;
    let odd = put("/oauth/cf%00eu/v2/service_instances/c").await;

    // The default region of the catalog.
    assert_eq!(none["order"]["platform_region"], "cf-eu10", "{none}");
    assert_eq!(named["order"]["platform_region"], "cf-us10", "{named}");
    assert_eq!((odd.status, real.operations().await), (StatusCode::BAD_REQUEST, 2));
    assert!(odd.description().starts_with("region "));
}

#[tokio::test]
async fn guessing_passwords_gets_slow_for_those_who_guess_and_for_nobody_else() {
    let real = Real::start().await;
    real.make("i-1").await;
    let service = &real.service;
    let from = |last: u8, password: &str| {
        let mut request = Request::get(PASSWORD_PATH)
            .header("x-broker-api-version", "2.17")
            .header(header::AUTHORIZATION, basic(PLATFORM.0, password))
            .body(Body::empty())
            .unwrap();
        request.extensions_mut().insert(api::PeerAddress([10, 0, 0, last].into()));
        service.send(request)
    };
    for _ in 0..10 {
        assert_eq!(from(1, "wrong").await.status, StatusCode::UNAUTHORIZED);
    }

    let slow: Vec<_> = (0..4).map(|_| Box::pin(from(1, "wrong"))).collect();
    let mut slow = futures::future::join_all(slow);
    assert!(futures::poll!(&mut slow).is_pending(), "the next answers have to wait");
    let refused = from(1, PLATFORM.1).await;
    assert_eq!(refused.status, StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(refused.headers[header::RETRY_AFTER], "5");
    assert_eq!(from(2, PLATFORM.1).await.status, StatusCode::OK);

    service.keys.clock.advance(std::time::Duration::from_secs(1));
    assert!(slow.await.iter().all(|reply| reply.status == StatusCode::UNAUTHORIZED));
    assert_eq!(from(1, PLATFORM.1).await.status, StatusCode::OK);
    service.keys.clock.advance(std::time::Duration::from_mins(1));
    assert_eq!(from(1, "wrong").await.status, StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn two_authorization_headers_open_no_door() {
    let real = Real::start().await;
    real.make("i-1").await;
    let service = &real.service;
    let token = format!("Bearer {}", service.token(&[WRITE, ANY], None));
    let password = basic(PLATFORM.0, PLATFORM.1);

    for (path, value) in [(TOKEN_PATH, &token), (PASSWORD_PATH, &password)] {
        let request = Request::get(path)
            .header("x-broker-api-version", "2.17")
            .header(header::AUTHORIZATION, value)
            .header(header::AUTHORIZATION, value);
        let reply = service.send(request.body(Body::empty()).unwrap()).await;
        assert_eq!(reply.status, StatusCode::UNAUTHORIZED, "{path}");
    }
}
