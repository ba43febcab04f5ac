//! Hostile values arrive as they are, or are refused; none of them means anything on its way.

use clients::{Kind, provisioner::Tenant};
use serde_json::json;

use super::{
    call::{Call, KEY, Subject, TENANT, order},
    side::{PATIENT, Side},
};

#[tokio::test(flavor = "multi_thread")]
async fn hostile_values_reach_the_director_as_they_are() {
    let side = Side::start().await;
    let hostile = format!("\"\\\n}}){{ $id ü \u{1f980} {}", "x".repeat(1_900));
    let label = json!({"a": [hostile, null], "long": "y".repeat(10_000)});
    let mut wanted = order("c-1");
    wanted.runtime_input.description = Some(hostile.clone());
    wanted.runtime_input.labels.insert("hostile".into(), label.clone());

    let begun = side.client(PATIENT).provision(TENANT, KEY, &wanted).await.unwrap();
    let runtime = side.done(&begun.id.unwrap()).await;

    let all = side.outside.objects("director");
    let found = all.into_iter().find(|object| object.id == runtime).unwrap().value;
    assert_eq!(found["description"], hostile);
    assert_eq!(found["labels"]["hostile"], label);
}

#[tokio::test(flavor = "multi_thread")]
async fn ids_that_cannot_be_ids_are_refused_in_words_and_name_nothing_else() {
    let side = Side::start().await;
    let made = side.made("c-1").await;
    let client = side.client(PATIENT);

    for id in [
        "",
        "..",
        "\" }) { id } } #",
        "a\nb\\",
        "ü\u{0}",
        &format!("{}\") {{ id }}", made.runtime),
        &"x".repeat(10_000),
    ] {
        let subject =
            Subject { name: "c-2".into(), runtime: id.to_owned(), operation: id.to_owned() };
        for call in [Call::RuntimeStatus, Call::OperationStatus, Call::Deprovision, Call::Hibernate]
        {
            let refused = call.make(&client, &subject).await.unwrap_err();
            // As the reference: its database is asked for something that is none of its ids.
            assert_eq!(refused.kind, Kind::Unavailable, "{call:?} {id:?}: {refused:?}");
            let said = refused.said.unwrap();
            assert!(said.contains("is not a UUID") || id.len() > 1_000, "{call:?} {id:?}: {said}");
        }
        client.check().await.unwrap();
    }
    let header = client.operation_status(Tenant::new("ga-1\r\nx: y"), &made.operation).await;
    assert_eq!(header.unwrap_err().kind, Kind::Refused { status: 400 });
    let untouched = Call::RuntimeStatus.make(&client, &made).await.unwrap();
    assert_eq!(untouched, Some(made.operation));
}
