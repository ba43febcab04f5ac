//! How each issuer is trusted: audiences, tenants, groups, and what is logged about a wrong spelling.

use std::collections::BTreeSet;

use api::{Principal, TrustedIssuer, auth::TokenRejection, scope::ANY_TENANT};
use jsonwebtoken::Algorithm;
use serde_json::{Value, json};

use crate::{
    Draft,
    support::tokens::{AUDIENCE, KeyServer},
};

/// The principal of a token of an issuer that is trusted in this way.
async fn verified(
    server: &KeyServer,
    trust: impl FnOnce(&mut TrustedIssuer),
    token: Draft,
) -> Result<Principal, TokenRejection> {
    let token = token.signed(Algorithm::RS256, &server.rsa.private);
    server.verifier_with(trust).verify(&token).await
}

fn set(words: &[&str]) -> BTreeSet<String> {
    words.iter().map(ToString::to_string).collect()
}

/// `readers` read the runtimes of all accounts, `clerks` those of their own.
fn with_groups(trusted: &mut TrustedIssuer) {
    trusted.groups = [
        ("readers".to_owned(), set(&["runtimes:read", ANY_TENANT])),
        ("clerks".to_owned(), set(&["runtimes:read"])),
    ]
    .into();
}

#[tokio::test]
async fn an_issuer_has_one_audience_or_several_or_none_that_is_checked() {
    let server = KeyServer::start().await;
    let several = |trusted: &mut TrustedIssuer| {
        trusted.audiences = Some(vec!["people".into(), "machines".into()]);
    };
    let unchecked = |trusted: &mut TrustedIssuer| trusted.audiences = None;
    let audience = |audience: Value| Draft::good(&server).claim("aud", audience);

    for good in [json!("people"), json!(["machines"]), json!(["other", "people"])] {
        assert!(verified(&server, several, audience(good.clone())).await.is_ok(), "{good}");
    }
    for bad in [json!(AUDIENCE), json!([]), json!(["people machines"])] {
        assert!(verified(&server, several, audience(bad.clone())).await.is_err(), "{bad}");
    }
    for any in [json!("anything"), json!([])] {
        assert!(verified(&server, unchecked, audience(any.clone())).await.is_ok(), "{any}");
    }
    assert!(verified(&server, unchecked, Draft::good(&server).without("aud")).await.is_ok());
}

#[tokio::test]
async fn the_tenant_comes_from_the_claim_that_the_issuer_has_it_in() {
    let server = KeyServer::start().await;
    let zone = |trusted: &mut TrustedIssuer| trusted.tenant_claim = "zid".into();
    let good = || Draft::good(&server);

    let named = verified(&server, zone, good().claim("zid", "ga-1")).await.unwrap();
    let other = verified(&server, zone, good().claim("tenant", "ga-1")).await.unwrap();

    assert_eq!(named.tenant.as_deref(), Some("ga-1"));
    assert_eq!(other.tenant, None);
    for bad in [json!(""), json!(" "), json!(7), json!(["ga-1"])] {
        let denied = verified(&server, zone, good().claim("zid", bad.clone())).await;
        assert!(denied.is_err(), "{bad}");
    }
}

#[tokio::test]
async fn a_platforms_issuer_speaks_for_all_tenants_and_its_token_with_a_tenant_for_that_one() {
    let server = KeyServer::start().await;
    let platform = |trusted: &mut TrustedIssuer| trusted.any_tenant = true;
    let token = || Draft::good(&server).claim("scp", json!(["broker:write"]));

    let of_platform = verified(&server, platform, token()).await.unwrap();
    let of_tenant = verified(&server, platform, token().claim("tenant", "ga-1")).await.unwrap();
    let of_other = verified(&server, |_| (), token()).await.unwrap();

    assert_eq!(of_platform.scopes, set(&["broker:write", ANY_TENANT]));
    assert_eq!(of_tenant.scopes, set(&["broker:write"]));
    assert_eq!(of_tenant.tenant.as_deref(), Some("ga-1"));
    assert_eq!(of_other.scopes, set(&["broker:write"]));
}

#[tokio::test]
async fn groups_give_their_scopes_and_tenants_any_of_a_group_is_for_its_own_scopes() {
    let server = KeyServer::start().await;
    let token =
        |groups: &[&str]| Draft::good(&server).without("scp").claim("groups", json!(groups));
    let scopes = async |token: Draft| verified(&server, with_groups, token).await.unwrap().scopes;

    assert_eq!(scopes(token(&["readers"])).await, set(&["runtimes:read", ANY_TENANT]));
    assert_eq!(scopes(token(&["clerks"])).await, set(&["runtimes:read"]));
    assert_eq!(scopes(token(&["Readers", "others", ""])).await, set(&[]));
    assert_eq!(scopes(token(&[])).await, set(&[]));
    // What the token has for no tenant does not become a right over all of them.
    let mixed = token(&["readers"]).claim("scp", json!(["broker:write"]));
    assert_eq!(scopes(mixed).await, set(&["runtimes:read", ANY_TENANT]));
    let both = token(&["readers"]).claim("scp", json!(["broker:write", ANY_TENANT]));
    assert_eq!(scopes(both).await, set(&["broker:write", "runtimes:read", ANY_TENANT]));
    let of_tenant = token(&["readers"]).claim("scp", json!(["broker:write"])).claim("tenant", "a");
    let of_tenant = verified(&server, with_groups, of_tenant).await.unwrap();
    assert_eq!(of_tenant.tenant.as_deref(), Some("a"));
    assert!(of_tenant.scopes.contains("broker:write"));
    // Without a table of groups they mean nothing.
    let plain = verified(&server, |_| (), token(&["readers"])).await.unwrap();
    assert_eq!(plain.scopes, set(&[]));
}

#[tokio::test]
async fn an_issuer_that_is_spelled_another_way_is_named_with_the_configured_one() {
    let server = KeyServer::start().await;
    let localhost = server.url.replace("127.0.0.1", "localhost");
    let why = async |issuer: &str| {
        let token = Draft::good(&server).claim("iss", issuer);
        verified(&server, |_| (), token).await.unwrap_err().to_string()
    };

    for issuer in [localhost.as_str(), &format!("{}/", server.url)] {
        let said = why(issuer).await;
        let both =
            said.contains(&format!("{issuer:?}")) && said.contains(&format!("{:?}", server.url));
        assert!(both && said.contains("spelled alike"), "{said}");
    }
    let said = why("https://issuer.example.test").await;
    assert!(said.contains("not in access.issuers") && !said.contains(&server.url), "{said}");
    let said = why(&format!("https://a\n{}", "x".repeat(2_000))).await;
    assert!(said.len() < 400 && !said.contains('\n'), "{said}");
}
