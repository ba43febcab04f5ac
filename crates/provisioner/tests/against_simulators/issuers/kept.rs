//! Issuers and claims in the `ConfigMap` that a change has to leave alone.

use provisioner::requests::UpgradeShoot;
use serde_json::{Value, json};

use super::{another_client, entries};
use crate::{
    gardens::{config_map, log_in_with, with_issuer},
    world::{World, caller},
};

#[tokio::test(flavor = "multi_thread")]
async fn issuers_that_others_added_stay_when_the_runtimes_own_is_changed() {
    let world = World::playing("1.117").await;
    let made = world.provisioned(with_issuer(&world, "shared", "1.32.4")).await;
    let (provisioner, id) = (&world.provisioner, &made.runtime_id);
    let other = json!({
        "issuer": {"url": "https://other.example.org", "audiences": ["theirs"]},
        "claimMappings": {"username": {"claim": "sub", "prefix": "other:"}},
    });
    let mut map = config_map(&world, id).unwrap();
    let own = entries(&world, id);
    let both = json!({"kind": "AuthenticationConfiguration", "jwt": [other, own[0]]});
    map["data"]["config.yaml"] = both.to_string().into();
    map["metadata"].as_object_mut().unwrap().remove("managedFields");
    world.landscape.running.clusters().server().apply("garden", "somebody", &map).unwrap();

    let change = another_client(&world);
    let begun = provisioner.upgrade_shoot(&caller(), id, change).await.unwrap();
    world.success_of(&begun.id).await;

    let now = entries(&world, id);
    assert_eq!((now.len(), &now[0]), (2, &other));
    assert_eq!(now[1]["issuer"]["audiences"], json!(["another"]));
}

#[tokio::test(flavor = "multi_thread")]
async fn claims_that_the_shoot_requires_are_required_after_the_upgrade_to_1_32_too() {
    let world = World::playing("1.117").await;
    let made = world.provisioned(with_issuer(&world, "claims", "1.31.4")).await;
    let more = json!({"requiredClaims": {"team": "blue"}, "groupsPrefix": "sap:"});
    let patch = json!({"spec": {"kubernetes": {"kubeAPIServer": {"oidcConfig": more}}}});
    world.env().gardener.merge("claims", &patch).await.unwrap();
    let id = &made.runtime_id;
    only_the_blue_team_gets_in(&world, "kcp").await;

    let newer =
        UpgradeShoot { kubernetes_version: Some("1.32.4".into()), ..UpgradeShoot::default() };
    let begun = world.provisioner.upgrade_shoot(&caller(), id, newer).await.unwrap();
    world.success_of(&begun.id).await;

    let rules = json!([{"claim": "team", "requiredValue": "blue"}]);
    let carried = |entry: &Value| {
        assert_eq!(entry["claimValidationRules"], rules);
        assert_eq!(entry["claimMappings"]["groups"]["prefix"], "sap:");
    };
    carried(&entries(&world, id)[0]);
    only_the_blue_team_gets_in(&world, "kcp").await;
    let begun = world.provisioner.upgrade_shoot(&caller(), id, another_client(&world)).await;
    world.success_of(&begun.unwrap().id).await;
    let now = entries(&world, id);
    carried(&now[0]);
    assert_eq!(now[0]["issuer"]["audiences"], json!(["another"]));
    only_the_blue_team_gets_in(&world, "another").await;
}

/// Of the users of the runtime `claims`, with tokens for this audience.
async fn only_the_blue_team_gets_in(world: &World, audience: &str) {
    let none: &[(&str, &str)] = &[];
    for other in [none, &[("team", "red")]] {
        let refused = log_in_with(world, "claims", audience, other).await.unwrap_err();
        assert_eq!(refused.kind, clients::Kind::Unauthorized, "{other:?}");
    }
    log_in_with(world, "claims", audience, &[("team", "blue")]).await.unwrap();
}
