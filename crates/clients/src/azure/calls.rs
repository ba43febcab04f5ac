//! One call, its refusal in Azure's words, and pages that name the next one.

use std::collections::HashSet;

use reqwest::RequestBuilder;
use serde::{Deserialize, de::DeserializeOwned};

use super::Azure;
use crate::{
    answer::{self, Raw},
    error::{Error, Kind},
    http::segment,
};

/// Codes that say: not now.
const PASSING: [&str; 4] = [
    "ResourceGroupBeingDeleted",
    "AnotherOperationInProgress",
    "OperationNotAllowedWhileInProgress",
    "Conflict",
];

#[derive(Deserialize)]
struct Page<T> {
    /// Never left out: a body without it must not look like an empty list.
    value: Vec<T>,
    #[serde(rename = "nextLink")]
    next: Option<String>,
}

impl Azure {
    /// Makes one call and classifies its failure by status and code.
    pub(super) async fn call(
        &self,
        route: &str,
        doing: &str,
        request: RequestBuilder,
    ) -> Result<Raw, Error> {
        let raw = self.http.raw(route, doing, request).await?;
        let Some(kind) = raw.kind() else { return Ok(raw) };
        let (code, retry_after) = (raw.code(), raw.retry_after);
        let passing = code.as_deref().is_some_and(|code| PASSING.contains(&code));
        let kind = match kind {
            Kind::Conflict if passing => Kind::Throttled { retry_after },
            kind => kind,
        };
        let Err(mut error) = raw.accepted(self.http.component(), doing) else {
            return Err(Error::new(self.http.component(), kind, doing));
        };
        error.kind = kind;
        Err(match code {
            Some(code) => error.because(code),
            None => error,
        })
    }

    /// Reads all pages of a list.
    pub(super) async fn list<T: DeserializeOwned>(
        &self,
        route: &str,
        doing: &str,
        first: RequestBuilder,
    ) -> Result<Vec<T>, Error> {
        let mut all = Vec::new();
        let mut seen = HashSet::new();
        let mut request = first;
        loop {
            let raw = self.call(route, doing, request).await?;
            let page: Page<T> = self.read(&raw, doing)?;
            all.extend(page.value);
            let Some(link) = page.next.filter(|link| !link.is_empty()) else { return Ok(all) };
            if !seen.insert(link.clone()) {
                return Err(self.odd(doing, "its pages go round in a circle"));
            }
            request = self.http.get(&self.below(doing, &link)?);
        }
    }

    pub(super) fn read<T: DeserializeOwned>(&self, raw: &Raw, doing: &str) -> Result<T, Error> {
        answer::parsed(&raw.body, self.http.component(), doing)
    }

    /// A link as a path below the resource manager. Our token goes nowhere else.
    pub(super) fn below(&self, doing: &str, link: &str) -> Result<String, Error> {
        let elsewhere = || self.odd(doing, "a link leads elsewhere");
        let link = self.management.join(link).map_err(|_| elsewhere())?;
        if link.origin() != self.management.origin() {
            return Err(elsewhere());
        }
        let base = self.management.path().trim_end_matches('/');
        let path = link.path().strip_prefix(base).ok_or_else(elsewhere)?;
        Ok(link.query().map_or_else(|| path.to_owned(), |query| format!("{path}?{query}")))
    }

    /// The path of a group and of what is below it.
    pub(super) fn group_path(&self, doing: &str, group: &str, rest: &str) -> Result<String, Error> {
        let name = self.named(doing, group, 1..=90)?;
        // The two spellings are Azure's own: groups themselves are written in small letters.
        let groups = if rest.is_empty() { "resourcegroups" } else { "resourceGroups" };
        Ok(format!("/subscriptions/{}/{groups}/{name}{rest}", self.subscription))
    }

    /// A name that fits, as one segment of a path.
    pub(super) fn named(
        &self,
        doing: &str,
        name: &str,
        length: std::ops::RangeInclusive<usize>,
    ) -> Result<String, Error> {
        let fits = length.contains(&name.chars().count());
        segment(name).filter(|_| fits).ok_or_else(|| {
            let refused = Error::new(self.http.component(), Kind::Refused { status: 400 }, doing);
            let (least, most) = (length.start(), length.end());
            refused.saying(format!("its name has {least} to {most} characters"))
        })
    }

    pub(super) fn odd(&self, doing: &str, said: &str) -> Error {
        Error::new(self.http.component(), Kind::Malformed, doing).saying(said)
    }
}
