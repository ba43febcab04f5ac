//! The page to try the API with.

use axum::{
    body::Body,
    http::{Request, StatusCode},
};

use crate::service::{Reply, Service};

async fn get(service: &Service, path: &str) -> Reply {
    service.send(Request::get(path).body(Body::empty()).unwrap()).await
}

#[tokio::test]
async fn the_page_and_all_it_refers_to_are_served_without_a_token() {
    let service = Service::start().await;

    let page = get(&service, "/").await;
    let parts: Vec<&str> = ["href=\"", "src=\""]
        .into_iter()
        .flat_map(|attribute| page.text.split(attribute).skip(1))
        .map(|rest| rest.split('"').next().unwrap())
        .collect();

    assert_eq!(page.status, StatusCode::OK);
    assert_eq!(page.headers["content-type"], "text/html; charset=utf-8");
    assert_eq!(parts, ["explorer.css", "explorer.js"]);
    for part in parts {
        let reply = get(&service, &format!("/{part}")).await;
        assert_eq!(reply.status, StatusCode::OK, "{part}");
        assert_eq!(reply.headers["x-content-type-options"], "nosniff");
    }
}

#[tokio::test]
async fn the_page_works_offline_and_runs_no_code_from_elsewhere() {
    let service = Service::start().await;

    for path in ["/", "/explorer.js", "/explorer.css"] {
        let reply = get(&service, path).await;
        let policy = reply.headers["content-security-policy"].to_str().unwrap();

        assert!(!reply.text.contains("://"), "{path} refers to another server");
        assert!(!reply.text.contains("innerHTML"), "{path} turns text into markup");
        assert!(policy.starts_with("default-src 'none'"), "{policy}");
        assert!(!policy.contains("unsafe"), "{policy}");
    }
}

#[tokio::test]
async fn the_pages_own_query_for_the_schema_is_answered() {
    let service = Service::start().await;
    let script = get(&service, "/explorer.js").await.text;
    let query = script.split("const SCHEMA = `").nth(1).unwrap().split('`').next().unwrap();

    let answer = service.run(query).await.data();

    assert!(answer["__schema"]["types"].as_array().unwrap().len() > 40);
}
