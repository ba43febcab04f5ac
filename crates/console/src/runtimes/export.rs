//! All runtimes that the filters choose, as CSV: the table of `GET /runtimes/export`, streamed page by page.
//!
//! What a reader would get wrong: the status says nothing about the end. When a page cannot be read, the connection is closed before
//! the last chunk, so that a browser shows a failed download and keeps no short file.

use axum::{
    body::{Body, Bytes},
    extract::State,
    http::header::{CONTENT_DISPOSITION, CONTENT_TYPE},
    response::{IntoResponse, Response},
};
use base::failure::chain;
use broker::{
    instances::Error,
    runtimes::{Detail, Export, RuntimesQuery, csv_head, csv_rows},
};
use futures::stream;

use super::{RuntimesPageQuery, states};
use crate::{
    Console,
    access::{Person, RUNTIMES_READ},
    error::PageError,
    operations::with_query,
    query::Query,
};

/// Where the export of what is shown is.
pub(super) fn address(wanted: &RuntimesPageQuery) -> String {
    let fields = [("state", wanted.state.as_str()), ("plan", &wanted.plan)];
    with_query("/console/runtimes/export", &fields)
}

pub(crate) async fn export(
    State(console): State<Console>,
    person: Person,
    Query(wanted): Query<RuntimesPageQuery>,
) -> Result<Response, PageError> {
    person.must(RUNTIMES_READ)?;
    if !wanted.q.is_empty() {
        return Err(PageError::Bad(
            "q: a search cannot be exported, only states and plans.".into(),
        ));
    }
    let ask = RuntimesQuery {
        states: states(&wanted)?,
        plans: Some(wanted.plan).filter(|plan| !plan.is_empty()).into_iter().collect(),
        detail: Detail::Last,
        ..RuntimesQuery::default()
    };
    let mut pages = console.parts().broker.export(&person.caller(), ask)?;
    // What fails with the first page has a status of its own.
    let first = pages.next().await?.unwrap_or_default();
    let first = format!("{}{}", csv_head(), csv_rows(&first));
    let body = stream::try_unfold((Some(first), pages), next);
    let headers = [
        (CONTENT_TYPE, "text/csv; charset=utf-8"),
        (CONTENT_DISPOSITION, "attachment; filename=\"runtimes.csv\""),
    ];
    Ok((headers, Body::from_stream(body)).into_response())
}

type ExportCursor = (Option<String>, Export);

async fn next((first, mut pages): ExportCursor) -> Result<Option<(Bytes, ExportCursor)>, Error> {
    if let Some(first) = first {
        return Ok(Some((first.into(), (None, pages))));
    }
    let page = pages.next().await.inspect_err(|error| {
        tracing::error!(error = chain(error), "runtimes cannot be read, breaking off an export");
    })?;
    Ok(page.map(|page| (csv_rows(&page).into(), (None, pages))))
}
