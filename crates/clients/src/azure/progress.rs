//! How far something is that goes on after the answer.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::Azure;
use crate::{
    answer::Raw,
    error::{Error, Kind},
};

/// How far it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Progress {
    /// It is done.
    Done,
    /// It goes on.
    Running {
        /// Where to ask how far it is.
        poll: Poll,
        /// When to ask.
        retry_after: Option<Duration>,
    },
}

/// Where to ask how far something is. Can be stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Poll {
    path: String,
    /// Whether a thing that is not there is what was wanted.
    deleting: bool,
}

#[derive(Deserialize)]
struct Operation {
    status: Option<String>,
    error: Option<Problem>,
    properties: Option<Properties>,
}

#[derive(Deserialize)]
struct Properties {
    #[serde(rename = "provisioningState")]
    state: Option<String>,
}

#[derive(Deserialize)]
struct Problem {
    #[serde(default)]
    code: String,
    #[serde(default)]
    message: String,
}

impl Azure {
    /// Asks how far something is.
    pub async fn progress(&self, poll: &Poll) -> Result<Progress, Error> {
        let doing = "asking how far it is";
        match self.call("poll", doing, self.http.get(&poll.path)).await {
            Err(error) if poll.deleting && error.kind == Kind::NotFound => Ok(Progress::Done),
            answer => self.judged(doing, &answer?, &poll.path, poll.deleting),
        }
    }

    /// What an answer says about what it began. `path` is asked again if it names no other place.
    pub(super) fn judged(
        &self,
        doing: &str,
        raw: &Raw,
        path: &str,
        deleting: bool,
    ) -> Result<Progress, Error> {
        let state = if raw.body.is_empty() { None } else { self.state(doing, raw, deleting)? };
        match state.as_deref() {
            Some("succeeded") => return Ok(Progress::Done),
            None if raw.status.as_u16() != 202 => return Ok(Progress::Done),
            _ => {}
        }
        let link = ["azure-asyncoperation", "location"]
            .iter()
            .find_map(|name| raw.headers.get(*name)?.to_str().ok());
        let path = match link {
            Some(link) => self.below(doing, link)?,
            None => path.to_owned(),
        };
        Ok(Progress::Running { poll: Poll { path, deleting }, retry_after: raw.retry_after })
    }

    /// The state in a body, in small letters; a failure if it says that it failed.
    fn state(&self, doing: &str, raw: &Raw, deleting: bool) -> Result<Option<String>, Error> {
        let operation: Operation = self.read(raw, doing)?;
        let of_thing = operation.properties.and_then(|it| it.state);
        // A thing that is to be deleted and still shows how well it is has not been deleted.
        let of_thing = of_thing.map(|state| if deleting { "deleting".into() } else { state });
        let state = operation.status.or(of_thing);
        let state = state.map(|state| state.to_ascii_lowercase());
        if !matches!(state.as_deref(), Some("failed" | "canceled")) {
            return Ok(state);
        }
        let failed = Error::new(self.http.component(), Kind::Conflict, doing);
        Err(match operation.error {
            Some(problem) => failed.saying(raw.cleaned(&problem.message)).because(problem.code),
            None => failed.saying("it failed on the way"),
        })
    }
}
