//! Page after page to the exact end, or to a failure; no page is skipped and none is read for ever.

use std::collections::HashSet;

use serde::{Deserialize, de::DeserializeOwned};

use super::{Edition, Events, Patience, null_is_none, patience::RemainingPatience};
use crate::error::{Error, Kind};

/// Where the next page is.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Next {
    First,
    Number(u64),
    Cursor(String),
    End,
}

/// One page as both ways of counting answer it.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Page<T> {
    #[serde(bound(deserialize = "T: Deserialize<'de>"), deserialize_with = "null_is_none")]
    events: Vec<T>,
    total_pages: Option<u64>,
    #[serde(rename = "pageNum")]
    number: Option<u64>,
    next_cursor: Option<String>,
}

/// The events that were read, and the failure that ended the reading early.
#[derive(Debug)]
pub(super) struct EventsRead<T> {
    pub(super) events: Vec<T>,
    pub(super) stopped: Option<Error>,
}

impl<T> EventsRead<T> {
    /// Everything, or the failure that ended it early.
    pub(super) fn all(self) -> Result<Vec<T>, Error> {
        self.stopped.map_or(Ok(self.events), Err)
    }
}

/// The request.
pub(super) struct Question<'a> {
    pub(super) edition: Edition,
    pub(super) doing: &'a str,
    /// The query of the first page; later ones only differ in where they are.
    pub(super) filter: Vec<(&'static str, String)>,
}

impl Events {
    /// Reads all pages.
    pub(super) async fn pages<T: DeserializeOwned>(
        &self,
        question: &Question<'_>,
        patience: Patience,
    ) -> EventsRead<T> {
        let mut left = RemainingPatience::of(patience, &self.clock);
        let mut events = Vec::new();
        let mut seen = HashSet::new();
        let mut next = Next::First;
        let stopped = loop {
            let page = match self.page::<T>(question, &next).await {
                Ok(page) => page,
                Err(error) => match left.spend(error).await {
                    Ok(()) => continue,
                    Err(error) => break Some(error),
                },
            };
            next = match self.after(question, &next, &page) {
                Ok(next) => next,
                Err(error) => break Some(error),
            };
            events.extend(page.events);
            match &next {
                Next::End => break None,
                Next::Cursor(cursor) if !seen.insert(cursor.clone()) => {
                    break Some(self.odd(question.doing, "its pages go round in a circle"));
                }
                _ => {}
            }
            if !left.between().await {
                let late = Error::new(self.http.component(), Kind::Unavailable, question.doing);
                break Some(late.saying("out of time"));
            }
        };
        EventsRead { events, stopped }
    }

    /// The page behind `after`, and where the next one begins. Nothing is read again: the caller does, and remembers.
    pub(super) async fn page_behind<T: DeserializeOwned>(
        &self,
        question: &Question<'_>,
        after: Option<&str>,
    ) -> Result<(Vec<T>, Option<String>), Error> {
        let at = match (after, question.edition.first()) {
            (None, _) => Next::First,
            (Some(cursor), None) => Next::Cursor(cursor.to_owned()),
            (Some(number), Some(_)) => {
                let odd = |_| self.odd(question.doing, "the stored page is no number");
                Next::Number(number.parse().map_err(odd)?)
            }
        };
        let page = self.page::<T>(question, &at).await?;
        let next = match self.after(question, &at, &page)? {
            next if next == at => {
                return Err(self.odd(question.doing, "its pages go round in a circle"));
            }
            Next::First | Next::End => None,
            Next::Number(number) => Some(number.to_string()),
            Next::Cursor(cursor) => Some(cursor),
        };
        Ok((page.events, next))
    }

    async fn page<T: DeserializeOwned>(
        &self,
        question: &Question<'_>,
        at: &Next,
    ) -> Result<Page<T>, Error> {
        let (path, name) = question.edition.path();
        let mut query = question.filter.clone();
        match at {
            // The cursor stands for the whole question.
            Next::Cursor(cursor) => query = vec![("cursor", cursor.clone())],
            Next::Number(number) => query.push((name, number.to_string())),
            Next::First => query.extend(question.edition.first().map(|it| (name, it.to_string()))),
            Next::End => {}
        }
        let request = self.http.get(path).query(&query);
        self.http.send_to("events", question.doing, request).await?.json()
    }

    /// Where the page after `page` is. The number of pages may change while they are read.
    fn after<T>(&self, question: &Question<'_>, at: &Next, page: &Page<T>) -> Result<Next, Error> {
        let Some(first) = question.edition.first() else {
            let cursor = page.next_cursor.clone().filter(|cursor| !cursor.is_empty());
            return Ok(cursor.map_or(Next::End, Next::Cursor));
        };
        let number = if let Next::Number(number) = at { *number } else { first };
        if page.number.is_some_and(|answered| answered != number) {
            return Err(self.odd(question.doing, "it answered another page"));
        }
        let total = page.total_pages.ok_or_else(|| self.odd(question.doing, "field totalPages"))?;
        let last_exclusive = total.saturating_add(first);
        Ok(if number + 1 < last_exclusive { Next::Number(number + 1) } else { Next::End })
    }

    fn odd(&self, doing: &str, said: &str) -> Error {
        Error::new(self.http.component(), Kind::Malformed, doing).saying(said)
    }
}
