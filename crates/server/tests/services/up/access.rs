//! Who may do what with `kcp up`: people, and brokers without a token.

use serde_json::Value;
use server::up::Up;

use super::{client::Client, options};
use crate::support::free_ports;

#[tokio::test(flavor = "multi_thread")]
async fn the_id_token_of_a_person_opens_runtimes_and_broker_write_alone_removes() {
    let data = tempfile::tempdir().unwrap();
    let up = Up::start(options(free_ports(), data.path(), "max")).await.unwrap();
    let client = Client::found_in(data.path());
    let credentials = std::fs::read(data.path().join("credentials.json")).unwrap();
    let credentials: Value = serde_json::from_slice(&credentials).unwrap();
    let secret = credentials["client_secret"].as_str().unwrap();
    let token = async |form: &[(&str, &str)], which: &str| {
        let asked = client.http.post(format!("{}/oauth2/token", client.field("landscape")));
        let answer: Value = asked.form(form).send().await.unwrap().json().await.unwrap();
        answer[which].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
    };

    // What the operators' client does: a login with the scopes "email openid", then the ID token everywhere.
    let login = [
        ("grant_type", "password"),
        ("client_id", "kcp"),
        ("username", client.field("user")),
        ("password", client.field("password")),
        ("scope", "email openid"),
    ];
    let person = token(&login, "id_token").await;
    let list = "/runtimes?op_detail=last&page=1&page_size=100";
    let (status, page) = client.get("broker", list, Some(&person)).await;
    assert_eq!((status, &page["totalCount"]), (200, &0.into()), "{page}");
    assert_eq!(client.get("broker", "/operations", Some(&person)).await.0, 403);

    // And for removals: client credentials with broker:write and nothing else.
    let machine = [
        ("grant_type", "client_credentials"),
        ("client_id", "kcp-broker"),
        ("client_secret", secret),
        ("scope", "broker:write"),
    ];
    let machine = token(&machine, "access_token").await;
    let removed = async |token: &str| {
        let path = "/oauth/v2/service_instances/i-1?accepts_incomplete=true&service_id=s&plan_id=p";
        let asked = client.http.delete(format!("{}{path}", client.field("broker")));
        let asked = asked.bearer_auth(token).header("x-broker-api-version", "2.14");
        asked.send().await.unwrap().status().as_u16()
    };
    assert_eq!(removed(&machine).await, 410);
    assert_eq!(removed(&person).await, 403);
    assert_eq!(client.get("broker", list, Some(&machine)).await.0, 403);
    up.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broker_that_sends_no_token_is_served_by_the_provisioner_when_the_settings_name_it() {
    let peer =
        "keb@127.0.0.0/8=provisioner:read,provisioner:write,provisioner:kubeconfig,tenants:any";
    for (peers, wanted) in [(vec![], 401), (vec![peer.parse().unwrap()], 200)] {
        let data = tempfile::tempdir().unwrap();
        let mut options = options(free_ports(), data.path(), "max");
        options.provisioner.access.peers = peers;
        let up = Up::start(options).await.unwrap();
        let client = Client::found_in(data.path());
        let ask = async |token: Option<&str>| {
            let query = r#"{"query": "{ runtimeStatus(id: \"x\") { runtimeConfiguration { kubeconfig } } }"}"#;
            let asked = client.http.post(format!("{}/graphql", client.field("provisioner")));
            let asked = asked.header("content-type", "application/json").header("tenant", "ga-1");
            let asked =
                token.into_iter().fold(asked.body(query), reqwest::RequestBuilder::bearer_auth);
            asked.send().await.unwrap().status().as_u16()
        };

        assert_eq!(ask(None).await, wanted);
        assert_eq!(ask(Some("bad")).await, 401);
        assert_eq!(ask(Some(client.field("token"))).await, 200);
        // It is the provisioner's setting: the broker's doors stay closed.
        assert_eq!(client.get("broker", "/runtimes", None).await.0, 401);
        up.stop().await;
    }
}
