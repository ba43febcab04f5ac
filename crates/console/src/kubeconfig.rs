//! The kubeconfig of a runtime, as a file to save.

use axum::{
    extract::{Path, State},
    http::{HeaderValue, header},
    response::{IntoResponse, Response},
};
use base::failure::chain;
use broker::instances::Error;

use crate::{
    Console,
    access::{KUBECONFIG_READ, Person},
    audited::{Request, audited},
    error::{Refused, see},
    operations::with_query,
};

pub(crate) async fn download(
    State(console): State<Console>,
    person: Person,
    Path(instance): Path<String>,
) -> Result<Response, Refused> {
    person.must(KUBECONFIG_READ)?;
    let caller = person.caller();
    let fetching = Box::pin(console.parts().bindings.kubeconfig(&caller, &instance));
    let entry = Request { action: "kubeconfig", instance: Some(&instance), ..Request::default() };
    match audited(&console, &person, entry, fetching, |_| None).await? {
        Ok(kubeconfig) => {
            let headers = [
                (header::CONTENT_TYPE, HeaderValue::from_static("application/x-yaml")),
                (
                    header::CONTENT_DISPOSITION,
                    HeaderValue::from_static("attachment; filename=kubeconfig.yaml"),
                ),
            ];
            Ok((headers, kubeconfig).into_response())
        }
        Err(error @ (Error::Runtime { .. } | Error::Unavailable(_) | Error::NotFound(_))) => {
            tracing::warn!(error = chain(&error), "cannot fetch kubeconfig");
            let path = format!("/console/runtimes/{instance}");
            Ok(see(&with_query(&path, &[("problem", "kubeconfig")])))
        }
        Err(error) => Err(error.into()),
    }
}
