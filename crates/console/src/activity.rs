//! Suspending and resuming a runtime: its cluster is removed for a while, and made again. Each needs the name and a reason.
//!
//! What a reader would get wrong: the broker answers both without an operation, because platforms wait for none. The one that is
//! shown then is the newest of the instance.

use axum::{
    extract::State,
    response::{IntoResponse, Response},
};
use broker::{
    instances::{AcceptedUpdate, Effect, Update},
    operations::view::PageRequest,
    runtimes::Runtime,
};
use maud::{Markup, html};
use serde_json::json;

use crate::{
    Console,
    access::{BROKER_WRITE, OPERATIONS_READ, Person},
    audited::{Request, audited},
    error::{PageError, see},
    forms::{self, Fields},
    layout::{self, Frame, Live, Section},
    marks::{Tone, message},
    names,
    path::Path,
    unstuck::{reason_field, reason_of},
};

/// A change of whether a runtime has its cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Activity {
    Suspend,
    Resume,
}

impl Activity {
    /// Those that a person may ask for, of a runtime in its state. What is suspended can be resumed, whatever the settings are by now.
    pub(crate) async fn possible(
        console: &Console,
        person: &Person,
        runtime: &Runtime,
    ) -> Vec<Self> {
        if runtime.status.expired_at.is_some() || !person.may(BROKER_WRITE) {
            return vec![];
        }
        // The state does not tell what has failed: an order and a removal are not repeated this way, a suspension and a return are.
        if runtime.status.state == "failed" {
            let mut possible = Vec::new();
            for change in [Self::Resume, Self::Suspend] {
                if change.is_possible(console, person, runtime).await {
                    possible.push(change);
                }
            }
            return possible;
        }
        let plans = &console.parts().broker.parts().settings.suspension.suspended;
        let allowed = |it: &Self| *it == Self::Resume || plans.contains(&runtime.service_plan_name);
        Self::in_state(runtime.status.state).filter(allowed).into_iter().collect()
    }

    /// Whether the broker would do it now.
    async fn is_possible(self, console: &Console, person: &Person, runtime: &Runtime) -> bool {
        let update = self.update(runtime);
        let caller = person.caller();
        let effect = Box::pin(console.parts().broker.check_change(&caller, &update)).await;
        matches!(effect, Ok(Effect::Activity))
    }

    fn in_state(state: &str) -> Option<Self> {
        match state {
            "suspended" => Some(Self::Resume),
            "succeeded" | "updating" | "upgrading" | "error" => Some(Self::Suspend),
            _ => None,
        }
    }

    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Suspend => "suspend",
            Self::Resume => "resume",
        }
    }

    pub(crate) const fn title(self) -> &'static str {
        match self {
            Self::Suspend => "Suspend",
            Self::Resume => "Resume",
        }
    }

    pub(crate) fn address(self, instance: &str) -> String {
        format!("/console/runtimes/{instance}/{}", self.word())
    }

    const fn meaning(self) -> &'static str {
        match self {
            Self::Suspend => {
                "The cluster and everything in it are removed until the runtime is resumed. Its name, its domain and its account are kept; what is in the cluster is not."
            }
            Self::Resume => {
                "A new cluster is made for the runtime, with the name and the domain that it had. What was in the cluster before is not brought back."
            }
        }
    }

    /// The change in the words of the broker.
    fn update(self, runtime: &Runtime) -> Update {
        Update {
            instance_id: runtime.instance_id.clone(),
            service_id: runtime.service_class_id.clone(),
            context: Some(json!({"active": self == Self::Resume})),
            accepts_incomplete: true,
            ..Update::default()
        }
    }
}

pub(crate) async fn suspend_page(
    console: State<Console>,
    person: Person,
    instance: Path<String>,
) -> Result<Markup, PageError> {
    page(console, person, instance, Activity::Suspend).await
}

pub(crate) async fn resume_page(
    console: State<Console>,
    person: Person,
    instance: Path<String>,
) -> Result<Markup, PageError> {
    page(console, person, instance, Activity::Resume).await
}

pub(crate) async fn suspended(
    console: State<Console>,
    person: Person,
    instance: Path<String>,
    fields: Fields,
) -> Result<Response, PageError> {
    confirmed(console, person, instance, fields, Activity::Suspend).await
}

pub(crate) async fn resumed(
    console: State<Console>,
    person: Person,
    instance: Path<String>,
    fields: Fields,
) -> Result<Response, PageError> {
    confirmed(console, person, instance, fields, Activity::Resume).await
}

async fn page(
    State(console): State<Console>,
    person: Person,
    Path(instance): Path<String>,
    change: Activity,
) -> Result<Markup, PageError> {
    person.must(BROKER_WRITE)?;
    let runtime = find(&console, &person, &instance).await?;
    Ok(question(&console, &person, &runtime, change, &Fields::default(), None))
}

async fn confirmed(
    State(console): State<Console>,
    person: Person,
    Path(instance): Path<String>,
    fields: Fields,
    change: Activity,
) -> Result<Response, PageError> {
    person.must(BROKER_WRITE)?;
    let runtime = find(&console, &person, &instance).await?;
    let again = |problem: &str| {
        Ok(question(&console, &person, &runtime, change, &fields, Some(problem)).into_response())
    };
    if fields.get("name") != names::of(&runtime) {
        return again("That is not its name. Nothing was done.");
    }
    let reason = match reason_of(&fields) {
        Ok(reason) => reason,
        Err(problem) => return again(&problem),
    };
    let caller = person.caller();
    let broker = &console.parts().broker;
    let update = change.update(&runtime);
    let effect = Box::pin(broker.check_change(&caller, &update)).await;
    match effect.map_err(PageError::from) {
        Ok(Effect::Activity) => {}
        Ok(Effect::Runtime | Effect::Stored) => {
            let state = if change == Activity::Resume { "active" } else { "suspended" };
            return again(&format!(
                "Nothing was done: it is {state} already, or its plan is never suspended."
            ));
        }
        Err(PageError::Bad(problem)) => return again(&problem),
        Err(refused) => return Err(refused),
    }
    let details = json!({"active": change == Activity::Resume, "reason": reason});
    let entry =
        Request { action: "update", instance: Some(&instance), details, ..Request::default() };
    let changing = Box::pin(broker.update(&caller, update));
    let done = audited(&console, &person, entry, changing, |_: &AcceptedUpdate| None).await?;
    match done.map_err(PageError::from) {
        Ok(_) => Ok(see(&carried_out(&console, &person, &instance).await?)),
        Err(PageError::Bad(problem)) => again(&problem),
        Err(refused) => Err(refused),
    }
}

/// The page on which the change is watched.
async fn carried_out(
    console: &Console,
    person: &Person,
    instance: &str,
) -> Result<String, PageError> {
    let newest =
        PageRequest { limit: 1, instance: Some(instance.to_owned()), ..PageRequest::default() };
    let newest = if person.operates(OPERATIONS_READ) {
        console.parts().operations.list(newest).await?.operations.pop()
    } else {
        None
    };
    Ok(match newest {
        Some(operation) => format!("/console/operations/{}", operation.id),
        None => format!("/console/runtimes/{instance}"),
    })
}

async fn find(console: &Console, person: &Person, instance: &str) -> Result<Runtime, PageError> {
    let found = names::find(console, person, instance).await?;
    found.ok_or_else(|| PageError::Missing(format!("runtime {instance}")))
}

fn question(
    console: &Console,
    person: &Person,
    runtime: &Runtime,
    change: Activity,
    fields: &Fields,
    problem: Option<&str>,
) -> Markup {
    let name = names::of(runtime);
    let back = format!("/console/runtimes/{}", runtime.instance_id);
    let body = html! {
        (layout::path(&[("/console/runtimes", "Runtimes"), (&back, &name)], change.title()))
        div.title { h1 { (change.title()) " " (name) "?" } }
        p.sub { span { (runtime.service_plan_name) } span { (runtime.region) } span { "account " (runtime.global_account_id) } }
        @if let Some(problem) = problem { (message(Tone::Bad, problem)) }
        section.card { div.body {
            form.field-list method="post" action=(change.address(&runtime.instance_id)) {
                (forms::word(person))
                p { (change.meaning()) }
                (reason_field(fields))
                div.field {
                    label for="name" { "Type " strong { (name) } " to confirm" }
                    input #name type="text" name="name" required autocomplete="off" spellcheck="false";
                }
                div.acts {
                    button.button.first.danger[change == Activity::Suspend] type="submit" { (change.title()) " " (name) }
                    a.button href=(back) { "Leave it as it is" }
                }
            }
        } }
    };
    let title = format!("{} {name}", change.title());
    let frame = Frame { title: &title, section: Section::Runtimes, live: Live::No };
    layout::page(console, person, &frame, &body)
}
