//! `GET /runtimes/export`: all runtimes that are asked for, as one stream of lines.

use axum::{
    extract::{FromRequestParts, Query, State},
    http::{header, request::Parts},
    response::{IntoResponse, Response},
};
use broker::{
    instances::{Broker, Error},
    runtimes::{Runtime, RuntimesQuery, csv_head, csv_rows},
};

use super::{extract, failed};
use crate::{
    error::ErrorText,
    osb::Authenticated,
    streaming::{self, Writer},
};

/// How the runtimes are written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Format {
    /// One JSON object on each line.
    #[default]
    Ndjson,
    /// One row for each, below a header.
    Csv,
}

/// The query of an export.
pub(super) struct ExportQuery {
    ask: RuntimesQuery,
    format: Format,
}

impl<S: Send + Sync> FromRequestParts<S> for ExportQuery {
    type Rejection = ErrorText;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ErrorText> {
        let Query(fields) = Query::<Vec<(String, String)>>::from_request_parts(parts, state)
            .await
            .map_err(|_| ErrorText::query("the query cannot be read"))?;
        let mut format = Format::default();
        let mut chosen = Vec::new();
        for (name, value) in fields {
            match name.as_str() {
                "format" => format = format_of(&value).map_err(ErrorText::query)?,
                "page" | "page_size" => {
                    let problem = format!("{name} is not for exports: they have no pages");
                    return Err(ErrorText::query(problem));
                }
                _ => chosen.push((name, value)),
            }
        }
        Ok(Self { ask: extract::ask(chosen).map_err(ErrorText::query)?, format })
    }
}

fn format_of(value: &str) -> Result<Format, String> {
    match value {
        "ndjson" => Ok(Format::Ndjson),
        "csv" => Ok(Format::Csv),
        other => Err(format!("format \"{other}\" is neither ndjson nor csv")),
    }
}

pub(super) async fn export(
    State(broker): State<Broker>,
    Authenticated(caller): Authenticated,
    ExportQuery { ask, format }: ExportQuery,
) -> Result<Response, ErrorText> {
    let export = broker.export(&caller, ask).map_err(failed)?;
    let (kind, disposition, body) = match format {
        Format::Ndjson => (
            "application/x-ndjson",
            "attachment; filename=\"runtimes.ndjson\"",
            streaming::body(export, Lines).await.map_err(failed)?,
        ),
        Format::Csv => (
            "text/csv; charset=utf-8",
            "attachment; filename=\"runtimes.csv\"",
            streaming::body(export, Table).await.map_err(failed)?,
        ),
    };
    let headers = [(header::CONTENT_TYPE, kind), (header::CONTENT_DISPOSITION, disposition)];
    Ok((headers, body).into_response())
}

/// One JSON object on each line.
struct Lines;

impl Writer for Lines {
    fn page(&mut self, runtimes: Vec<Runtime>, out: &mut Vec<u8>) -> Result<(), Error> {
        for runtime in runtimes {
            serde_json::to_writer(&mut *out, &runtime)?;
            out.push(b'\n');
        }
        Ok(())
    }
}

/// One row for each, below a header.
struct Table;

impl Writer for Table {
    fn head(&self) -> Vec<u8> {
        csv_head().into_bytes()
    }

    fn page(&mut self, runtimes: Vec<Runtime>, out: &mut Vec<u8>) -> Result<(), Error> {
        out.extend_from_slice(csv_rows(&runtimes).as_bytes());
        Ok(())
    }
}
