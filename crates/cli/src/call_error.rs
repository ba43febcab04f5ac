//! Failed calls as the command line shows them: the cause first, then where and what was tried, then the next command to type.

use std::{error::Error, fmt};

use base::failure::chain;
use clients::Kind;

use crate::hint;

/// A failed call of a control plane.
#[derive(Debug)]
pub(crate) struct CallError {
    pub(crate) error: clients::Error,
    /// The address that was called; none for the issuer, which is called along the way.
    pub(crate) address: Option<String>,
    /// The command to log in there; none for the control plane of this machine.
    pub(crate) login: Option<String>,
    /// What is known about this failure beyond its kind.
    pub(crate) advice: Option<Advice>,
}

/// Something that was named and is not there, as the client itself has found.
#[derive(Debug)]
pub(crate) struct NotFound {
    text: String,
    /// The words that list what there is; by default those of the command.
    list: Option<String>,
}

impl NotFound {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), list: None }
    }

    /// With the words that list what there is.
    pub(crate) fn listed_by(self, list: impl Into<String>) -> Self {
        Self { list: Some(list.into()), ..self }
    }
}

impl fmt::Display for NotFound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Error for NotFound {}

/// A line that explains a failure, and the command that helps if there is one.
#[derive(Debug)]
pub(crate) struct Advice {
    pub(crate) line: String,
    pub(crate) next: Option<String>,
}

impl CallError {
    /// Why there was no connection, or no answer; none when there was one.
    fn unreachable(&self) -> Option<String> {
        let cause = self.error.source.as_ref().filter(|_| self.error.kind == Kind::Unavailable)?;
        let component = || format!("the {}", self.error.component);
        let address = self.address.clone().unwrap_or_else(component);
        Some(match self.login {
            Some(_) => format!("{address} cannot be reached: {}", innermost(cause.as_ref())),
            None => format!(
                "no control plane found: nothing answers at {address}, start one with `kcp up`"
            ),
        })
    }

    /// The command that may help. `list` lists what the command was about.
    fn next(&self, list: &str) -> Option<String> {
        if let Some(advice) = &self.advice {
            return advice.next.clone();
        }
        let words = match self.error.kind {
            Kind::Unauthorized => match &self.login {
                Some(login) => return Some(login.clone()),
                None => "token",
            },
            Kind::Unavailable if self.unreachable().is_some() => {
                self.login.as_ref().map(|_| "context")?
            }
            Kind::Unavailable | Kind::Throttled { .. } | Kind::Paused { .. } => "status",
            Kind::NotFound => list,
            Kind::AlreadyExists
            | Kind::AnswerLost
            | Kind::Busy
            | Kind::Changed
            | Kind::Conflict => "operations",
            // The request itself, or the program at the other end, is to be changed.
            Kind::Dropped | Kind::Malformed | Kind::NotHeld | Kind::Refused { .. } => return None,
        };
        Some(format!("{} {words}", hint::kcp()))
    }
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.unreachable() {
            Some(text) => f.write_str(&text),
            None => self.error.fmt(f),
        }
    }
}

impl Error for CallError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        if self.unreachable().is_some() { None } else { self.error.source() }
    }
}

/// An error as it is printed. `list` is the command that lists what was asked for: "runtimes -S all".
pub(crate) fn text(error: &anyhow::Error, list: &str) -> String {
    let mut contexts = Vec::new();
    for cause in error.chain() {
        if let Some(call) = cause.downcast_ref::<CallError>() {
            let mut text = call.unreachable().unwrap_or_else(|| {
                let address = call.address.as_deref();
                format!("{}{}", reason(&call.error), attempt(&call.error, address))
            });
            if let Some(advice) = &call.advice {
                text.push('\n');
                text.push_str(&advice.line);
            }
            add(&mut text, &contexts);
            if let Some(next) = call.next(list) {
                text.push_str("\nNext: ");
                text.push_str(&next);
            }
            return text;
        }
        if let Some(missing) = cause.downcast_ref::<NotFound>() {
            let mut text = missing.text.clone();
            add(&mut text, &contexts);
            let list = missing.list.as_deref().unwrap_or(list);
            text = format!("{text}\nNext: {} {list}", hint::kcp());
            return text;
        }
        if let Some(error) = cause.downcast_ref::<clients::Error>() {
            let mut text = format!("{}{}", reason(error), attempt(error, None));
            add(&mut text, &contexts);
            return text;
        }
        contexts.push(cause.to_string());
    }
    chain(error.as_ref())
}

/// What the other side said, or what kind of failure it is.
fn reason(error: &clients::Error) -> String {
    let (kind, said) = (error.kind, error.said.as_deref());
    let mut text = match said {
        // This is what was found wrong with an answer: nobody said it.
        Some(said) if matches!(kind, Kind::Malformed | Kind::Dropped) => format!("{kind}: {said}"),
        Some(said) => said.to_owned(),
        None => kind.to_string(),
    };
    if let Some(source) = &error.source {
        text.push_str(": ");
        text.push_str(&chain(source.as_ref()));
    }
    text
}

/// Where it was, and what was tried.
fn attempt(error: &clients::Error, address: Option<&str>) -> String {
    let at = address.map(|address| format!(" at {}", address.trim_end_matches('/')));
    format!(" ({}{}: {})", error.component, at.unwrap_or_default(), error.doing)
}

/// What is known about the failed call, in lines below it, the nearest first.
fn add(text: &mut String, contexts: &[String]) {
    for context in contexts.iter().rev() {
        text.push('\n');
        text.push_str(context);
    }
}

/// What is at the bottom of an error.
fn innermost<'a>(error: &'a (dyn Error + 'static)) -> &'a (dyn Error + 'static) {
    let mut error = error;
    while let Some(source) = error.source() {
        error = source;
    }
    error
}

#[cfg(test)]
mod tests {
    use std::{io, sync::Arc, time::Duration};

    use anyhow::Context as _;
    use clients::Component;

    use super::*;

    const ADDRESS: &str = "http://127.0.0.1:8080/";

    fn call(kind: Kind, login: Option<&str>) -> CallError {
        let error = clients::Error::new(Component::BROKER, kind, "looking at a");
        let (address, login) = (Some(ADDRESS.into()), login.map(str::to_owned));
        CallError { error, address, login, advice: None }
    }

    fn refused() -> Arc<dyn Error + Send + Sync> {
        #[derive(Debug)]
        struct Sending(io::Error);
        impl fmt::Display for Sending {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("error sending request")
            }
        }
        impl Error for Sending {
            fn source(&self) -> Option<&(dyn Error + 'static)> {
                Some(&self.0)
            }
        }
        Arc::new(Sending(io::Error::other("Connection refused (os error 111)")))
    }

    #[test]
    fn what_is_not_found_ends_with_the_command_that_lists_what_there_is() {
        let missing = || NotFound::new("there is no job \"x\"");

        assert_eq!(
            text(&missing().into(), "job"),
            format!("there is no job \"x\"\nNext: {} job", hint::kcp())
        );
        let listed = missing().listed_by("operations");
        assert!(text(&listed.into(), "job").ends_with(" operations"));
    }

    #[test]
    fn the_cause_stands_first_then_the_address_then_the_next_command() {
        let wait = Duration::from_secs(7);
        let table = [
            (Kind::Unavailable, "unavailable", "status"),
            (Kind::Throttled { retry_after: Some(wait) }, "throttled, retry after 7 s", "status"),
            (Kind::Paused { retry_after: wait }, "not called, its last calls failed", "status"),
            (Kind::AnswerLost, "response lost", "operations"),
            (Kind::NotHeld, "not called, another replica owns the operation", ""),
            (Kind::Unauthorized, "credentials not accepted", "token"),
            (Kind::NotFound, "not found", "runtimes -S all"),
            (Kind::AlreadyExists, "already exists", "operations"),
            (Kind::Changed, "conflict, modified concurrently", "operations"),
            (Kind::Conflict, "conflict", "operations"),
            (Kind::Busy, "busy with another operation", "operations"),
            (Kind::Refused { status: 422 }, "refused with status 422", ""),
            (Kind::Malformed, "invalid response", ""),
            (Kind::Dropped, "fields not stored", ""),
        ];

        for (kind, reason, next) in table {
            let next = if next.is_empty() { String::new() } else { format!("\nNext: kcp {next}") };
            let expected =
                format!("{reason} (broker at http://127.0.0.1:8080: looking at a){next}");
            let error = anyhow::Error::new(call(kind, None));
            assert_eq!(text(&error, "runtimes -S all"), expected, "{kind:?}");
        }
        let elsewhere = call(Kind::Unauthorized, Some("kcp login --context dev")).into();
        assert!(text(&elsewhere, "").ends_with("\nNext: kcp login --context dev"));
    }

    #[test]
    fn what_the_other_side_said_stands_for_the_kind_but_not_what_was_found_wrong_with_its_answer() {
        let say = |kind, said: &str| {
            let CallError { error, .. } = call(kind, None);
            let error = CallError { error: error.saying(said), ..call(kind, None) };
            text(&error.into(), "").lines().next().unwrap().to_owned()
        };

        assert!(
            say(Kind::Refused { status: 400 }, "plan \"x\" is none")
                .starts_with("plan \"x\" is none (broker")
        );
        assert!(
            say(Kind::Malformed, "field data.id")
                .starts_with("invalid response: field data.id (broker")
        );
    }

    #[test]
    fn a_component_that_cannot_be_reached_is_looked_for_where_it_is() {
        let at = |login| {
            let failed = call(Kind::Unavailable, login);
            let error = clients::Error { source: Some(refused()), ..failed.error };
            text(&CallError { error, ..failed }.into(), "")
        };

        assert_eq!(
            at(Some("kcp login")),
            "http://127.0.0.1:8080/ cannot be reached: Connection refused (os error 111)\nNext: kcp context"
        );
        assert_eq!(
            at(None),
            "no control plane found: nothing answers at http://127.0.0.1:8080/, start one with `kcp up`"
        );
    }

    #[test]
    fn hints_about_a_call_stand_below_it_and_other_errors_are_told_as_they_are() {
        let lost: anyhow::Result<()> = Err(call(Kind::AnswerLost, None).into());
        let lost = lost.context("it may be accepted").unwrap_err();
        let issuer = clients::Error::new(Component::ISSUER, Kind::Unavailable, "fetching a token");
        let other = anyhow::anyhow!("the disk is full").context("the file cannot be written");

        assert_eq!(
            text(&lost, ""),
            "response lost (broker at http://127.0.0.1:8080: looking at a)\nit may be accepted\nNext: kcp operations"
        );
        assert_eq!(
            text(&anyhow::Error::new(issuer).context("no token"), ""),
            "unavailable (issuer: fetching a token)\nno token"
        );
        assert_eq!(text(&other, ""), "the file cannot be written: the disk is full");
    }
}
