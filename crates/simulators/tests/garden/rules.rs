//! What each version of Gardener answers: one thing of a good Shoot is changed, and status and field of the answer are
//! those of the real API server of that version.

mod changed;
mod gardens;
mod kept;
mod providers;
mod states;
mod table;

use serde_json::Value;
use simulators::{garden::Version, pace::Speed};

use self::{
    gardens::Gardens,
    table::{create, rows},
};
use crate::support::Garden;

#[tokio::test(flavor = "multi_thread")]
async fn every_request_gets_the_status_and_the_field_of_the_real_server_of_the_version() {
    for version in [Version::V1_65, Version::V1_117] {
        let Some(gardens) = Gardens::of_version(version).await else { return };
        let mut wrong = Vec::new();
        for row in rows() {
            let (code, said) = gardens.send(row.request).await;
            wrong.extend(row.judge(version, code, &said));
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refusal_by_admission_has_no_causes_and_one_by_a_static_rule_has() {
    let Some(garden) = Garden::ours(Speed::MAX).await else { return };

    let (_, admission) = create(&garden, "", r#"spec/region="nope""#).await;
    let (_, by_rule) = create(&garden, "", r#"spec/purpose="nope""#).await;

    let (admission, by_rule) = (&admission["details"], &by_rule["details"]);
    assert_eq!((&admission["kind"], admission.get("causes")), (&Value::from("shoots"), None));
    assert_eq!(by_rule["kind"], "Shoot");
    assert_eq!(by_rule["causes"].as_array().map(Vec::len), Some(1));
}
