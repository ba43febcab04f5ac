//! Who enters a broker over a socket, and who enters the runtimes that it made.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use reqwest::Method;
use secrecy::ExposeSecret;
use serde_json::json;
use server::settings;

use super::{instance, start};
use crate::platform::Platform;

#[tokio::test(flavor = "multi_thread")]
async fn platforms_enter_with_a_password_and_nobody_without() {
    let data = tempfile::tempdir().unwrap();
    let up = start(data.path(), settings::load(None).unwrap()).await;
    let http = reqwest::Client::new();
    let connection = &up.connection;
    let asked = |path: &str| {
        http.get(format!("{}{path}", connection.broker)).header("x-broker-api-version", "2.16")
    };

    let password = Some(connection.password.expose_secret());
    let welcome = asked("/v2/catalog").basic_auth(&connection.user, password).send().await;
    let wrong = asked("/v2/catalog").basic_auth(&connection.user, Some("wrong")).send().await;
    let nobody = asked("/v2/catalog").send().await;
    let no_token = asked("/oauth/v2/catalog").send().await;

    assert_eq!(welcome.unwrap().status(), 200);
    for refused in [wrong, nobody, no_token] {
        assert_eq!(refused.unwrap().status(), 401);
    }
    up.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn people_of_the_landscape_enter_a_runtime_that_was_ordered_without_an_issuer() {
    let data = tempfile::tempdir().unwrap();
    let up = start(data.path(), settings::load(None).unwrap()).await;
    let platform = Platform::of(&up).await;
    let path = instance("aws", None);
    let order = platform.order("aws", &json!({}));
    let asked = format!("{path}?accepts_incomplete=true");
    assert_eq!(platform.ask(Method::PUT, &asked, Some(&order)).await.0, 202);
    platform.succeeded(&path).await;

    let kubeconfig = format!("{}/kubeconfig/instance-of-aws", up.connection.broker);
    let token = up.connection.token.expose_secret();
    let kubeconfig = platform.http.get(kubeconfig).bearer_auth(token).send().await.unwrap();
    let kubeconfig = kubeconfig.error_for_status().unwrap().text().await.unwrap();
    let of = |name: &str| {
        let line = kubeconfig.lines().find_map(|line| line.trim().strip_prefix(name));
        line.unwrap_or_else(|| panic!("{name} is not in {kubeconfig}")).trim().to_owned()
    };
    let issuer = up.connection.landscape.replace("http://", "https://");
    assert!(kubeconfig.contains(&format!("--oidc-issuer-url={issuer}\"")), "{kubeconfig}");
    let pem = BASE64_STANDARD.decode(of("certificate-authority-data:")).unwrap();
    let trusted = reqwest::Certificate::from_pem(&pem).unwrap();
    let runtime = reqwest::Client::builder().add_root_certificate(trusted).build().unwrap();
    let enter = async |token: &str| {
        let namespaces = format!("{}/api/v1/namespaces", of("server:"));
        runtime.get(namespaces).bearer_auth(token).send().await.unwrap().status().as_u16()
    };
    let (user, password) = (&up.connection.user, up.connection.password.expose_secret());
    let login = [
        ("grant_type", "password"),
        ("client_id", "kcp"),
        ("scope", "openid"),
        ("username", user),
        ("password", password),
    ];
    let tokens = platform.http.post(format!("{}/oauth2/token", up.connection.landscape));
    let tokens: serde_json::Value = tokens.form(&login).send().await.unwrap().json().await.unwrap();
    let person = tokens["id_token"].as_str().unwrap();

    assert_eq!(enter(person).await, 200);
    assert_eq!(enter(&format!("{person}x")).await, 401);
    up.stop().await;
}
