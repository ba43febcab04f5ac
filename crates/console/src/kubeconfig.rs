//! The kubeconfig of a runtime, as a file to save: one with a token that ends, which kubectl takes as it is, or one with which people
//! sign in.
//!
//! What a reader would get wrong: a file with a token is a binding that is made for it, so that it is asked for by a form; the file for
//! signing in holds no credentials and is read by a link.

use std::time::Duration;

use axum::{
    extract::State,
    http::{HeaderValue, header},
    response::{IntoResponse, Response},
};
use base::failure::chain;
use broker::{
    bindings::{Bind, BindingCredentials, OperatorAccess},
    instances::Error,
    runtimes::Runtime,
};
use secrecy::ExposeSecret as _;
use serde_json::json;
use uuid::Uuid;

use crate::{
    Console,
    access::{BROKER_WRITE, KUBECONFIG_READ, Person},
    audited::{Request, audited},
    error::{PageError, see},
    forms::Fields,
    names,
    operations::with_query,
    path::Path,
};

/// How someone gets a kubeconfig with a token, and how long the token lasts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// As an operator: all rights in every runtime.
    Operator(Duration),
    /// By a binding, as a platform does.
    Binding(Duration),
}

impl Way {
    /// How this person gets one of this runtime, if at all: by the scopes that the API asks for, where the settings allow it.
    pub(crate) fn of(console: &Console, person: &Person, runtime: &Runtime) -> Option<Self> {
        let offer = &console.parts().broker.parts().offer;
        if let Some(lifetime) = offer.operator_access.filter(|_| person.operates(KUBECONFIG_READ)) {
            return Some(Self::Operator(lifetime));
        }
        let bindings = offer.bindings.as_ref().filter(|_| person.may(BROKER_WRITE))?;
        let bindable = bindings.plans.contains(&runtime.service_plan_name);
        bindable.then_some(Self::Binding(bindings.usual))
    }

    /// How long the token lasts.
    pub(crate) const fn lifetime(self) -> Duration {
        match self {
            Self::Operator(lifetime) | Self::Binding(lifetime) => lifetime,
        }
    }
}

/// What the file of a runtime is called: its name, with nothing in it that a shell or a header takes amiss.
pub(crate) fn file_name(name: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
    let name: String = name.chars().map(|it| if plain(it) { it } else { '-' }).collect();
    match name.trim_start_matches(['-', '.']) {
        "" => "kubeconfig.yaml".to_owned(),
        name => format!("{name}.yaml"),
    }
}

/// The file with which people sign in.
pub(crate) async fn download(
    State(console): State<Console>,
    person: Person,
    Path(instance): Path<String>,
) -> Result<Response, PageError> {
    person.must(KUBECONFIG_READ)?;
    let runtime = find(&console, &person, &instance).await?;
    let caller = person.caller();
    let fetching = Box::pin(console.parts().bindings.kubeconfig(&caller, &instance));
    let entry = Request { action: "kubeconfig", instance: Some(&instance), ..Request::default() };
    let fetched = audited(&console, &person, entry, fetching, |_| None).await?;
    answer(&runtime, fetched)
}

/// The file with a token that ends.
pub(crate) async fn with_token(
    State(console): State<Console>,
    person: Person,
    Path(instance): Path<String>,
    _: Fields,
) -> Result<Response, PageError> {
    if !person.may(BROKER_WRITE) {
        person.must(KUBECONFIG_READ)?;
    }
    let runtime = find(&console, &person, &instance).await?;
    // With one of the scopes they may have such files of other runtimes.
    let Some(way) = Way::of(&console, &person, &runtime) else {
        let text = "Kubeconfigs with a token are not offered for this runtime.";
        return Err(PageError::Bad(text.into()));
    };
    let (account, id) = (&runtime.global_account_id, &runtime.runtime_id);
    let (caller, bindings) = (person.caller(), &console.parts().bindings);
    let made: Result<BindingCredentials, Error> = match way {
        Way::Operator(_) => {
            let details = json!({"account": account, "runtime": id});
            let entry = Request {
                action: "kubeconfig",
                instance: Some(&instance),
                details,
                ..Request::default()
            };
            // As in the API: the same person gets the same credentials by both.
            let name = format!("{} {}", person.issuer, person.name);
            let access = OperatorAccess { account, runtime: id, person: &name, run: None };
            let making = Box::pin(bindings.operator_kubeconfig(&access));
            audited(&console, &person, entry, making, |_| None).await?
        }
        Way::Binding(_) => {
            let bind = Bind {
                instance_id: instance.clone(),
                binding_id: Uuid::new_v4().to_string(),
                service_id: runtime.service_class_id.clone(),
                plan_id: runtime.service_plan_id.clone(),
                ..Bind::default()
            };
            let details = json!({"binding": bind.binding_id});
            let entry = Request {
                action: "bind",
                instance: Some(&instance),
                details,
                ..Request::default()
            };
            let making = Box::pin(bindings.bind(&caller, bind));
            audited(&console, &person, entry, making, |_| None).await?
        }
    };
    answer(&runtime, made.map(|bound| bound.kubeconfig.expose_secret().to_owned()))
}

async fn find(console: &Console, person: &Person, instance: &str) -> Result<Runtime, PageError> {
    let found = names::find(console, person, instance).await?;
    found.ok_or_else(|| PageError::Missing(format!("runtime {instance}")))
}

/// The file, or the runtime's page with a sentence.
fn answer(runtime: &Runtime, kubeconfig: Result<String, Error>) -> Result<Response, PageError> {
    match kubeconfig {
        Ok(kubeconfig) => {
            let name = file_name(&names::of(runtime));
            let disposition = HeaderValue::from_str(&format!("attachment; filename=\"{name}\""));
            let headers = [
                (header::CONTENT_TYPE, HeaderValue::from_static("application/x-yaml")),
                (
                    header::CONTENT_DISPOSITION,
                    disposition.unwrap_or(HeaderValue::from_static("attachment")),
                ),
            ];
            Ok((headers, kubeconfig).into_response())
        }
        Err(
            error @ (Error::Runtime { .. }
            | Error::Unavailable(_)
            | Error::NotFound(_)
            | Error::Busy),
        ) => {
            tracing::warn!(error = chain(&error), "cannot fetch kubeconfig");
            let path = format!("/console/runtimes/{}", runtime.instance_id);
            Ok(see(&with_query(&path, &[("problem", "kubeconfig")])))
        }
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_called_like_its_runtime_in_letters_that_every_shell_takes() {
        assert_eq!(file_name("demo"), "demo.yaml");
        assert_eq!(file_name("team blue/prod \"1\""), "team-blue-prod--1-.yaml");
        assert_eq!(file_name("../étage"), "tage.yaml");
        assert_eq!(file_name("--"), "kubeconfig.yaml");
    }
}
