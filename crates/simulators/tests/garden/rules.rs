//! What each version of Gardener refuses: one thing of a good Shoot is changed, and status and field of the answer are
//! those of the real API server of that version.

mod bare;
mod kept;
mod providers;
mod states;
mod table;
mod updates;

use serde_json::Value;
use simulators::{garden::Version, pace::Speed};

use self::table::{JSON, SHOOTS, ask, base, changed, rows};
use crate::support::Garden;

/// The requests: the changes of a Shoot that is made with them, behind the query if there is one.
const CREATIONS: [&str; 2] =
    [include_str!("rules/creations.txt"), include_str!("rules/components.txt")];

/// Asks for a Shoot that is made of the base, without storing it.
async fn create(garden: &Garden, request: &str) -> (u16, Value) {
    let (query, changes) = match request.strip_prefix('?').and_then(|rest| rest.split_once(' ')) {
        Some((query, changes)) => (query, changes),
        None => ("", request),
    };
    let path = format!("{SHOOTS}?dryRun=All&{query}");
    ask(garden, "POST", &path, JSON, changed(&base("odd"), changes).to_string()).await
}

#[tokio::test(flavor = "multi_thread")]
async fn new_shoots_get_the_answer_of_the_version() {
    for version in [Version::V1_65, Version::V1_117] {
        let Some(garden) = Garden::of_version(version, Speed::MAX).await else { return };
        let mut wrong = Vec::new();
        for row in CREATIONS.into_iter().flat_map(rows) {
            let (code, said) = create(&garden, row.request).await;
            wrong.extend(row.judge(version, code, &said));
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refusal_by_admission_has_no_causes_and_one_by_a_static_rule_has() {
    let Some(garden) = Garden::ours(Speed::MAX).await else { return };

    let (_, admission) = create(&garden, r#"spec/region="nope""#).await;
    let (_, by_rule) = create(&garden, r#"spec/purpose="nope""#).await;

    let (admission, by_rule) = (&admission["details"], &by_rule["details"]);
    assert_eq!((&admission["kind"], admission.get("causes")), (&Value::from("shoots"), None));
    assert_eq!(by_rule["kind"], "Shoot");
    assert_eq!(by_rule["causes"].as_array().map(Vec::len), Some(1));
}
