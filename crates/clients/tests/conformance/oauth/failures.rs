//! Requests for a token that fail: classified without a secret, and not repeated by everyone who waited.

use axum::{http::StatusCode, response::IntoResponse};
use clients::{Kind, TokenSource};

use super::{fetched, grant, password, refusal};
use crate::support::{answering, noon};

#[tokio::test]
async fn refusals_are_classified_and_tell_no_secret() {
    let table = [
        (401, "invalid_client", Kind::Unauthorized, 2),
        (400, "invalid_grant", Kind::Unauthorized, 1),
        (200, "invalid_client", Kind::Unauthorized, 1),
        (404, "", Kind::NotFound, 2),
        (429, "", Kind::Throttled { retry_after: None }, 1),
        (500, "", Kind::Unavailable, 1),
    ];

    for (status, code, kind, calls) in table {
        for grant in [grant(), password()] {
            let (url, heard) = answering(move |_, _| refusal(status, code)).await;

            let error = fetched(url, grant).await.unwrap_err();

            assert_eq!((error.kind, heard.len()), (kind, calls), "{status} {code}");
        }
        let (url, _) = answering(move |_, _| refusal(status, code)).await;
        let text = base::failure::chain(&fetched(url, grant()).await.unwrap_err());
        assert!(!text.contains("p&ss"), "{text}");
    }
}

#[tokio::test]
async fn a_crowd_that_waited_for_a_failure_does_not_knock_one_by_one() {
    let (url, heard) = answering(|_, _| StatusCode::INTERNAL_SERVER_ERROR.into_response()).await;
    let source = TokenSource::new(url, grant(), noon()).unwrap();

    let answers = futures::future::join_all((0..50).map(|_| source.token())).await;

    assert!(answers.iter().all(|answer| answer.as_ref().unwrap_err().kind == Kind::Unavailable));
    assert_eq!(heard.len(), 1);
}
