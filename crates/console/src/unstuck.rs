//! What an operator does about an operation that does not go on: cancel, retry, skip a step of a removal, abandon. Each is asked once more and
//! needs a reason; all but a cancel also ask for the name of the runtime.

use axum::{
    extract::State,
    response::{IntoResponse, Response},
};
use broker::operations::view::{Shape, Snapshot, State as OperationState};
use maud::{Markup, html};
use serde_json::json;

use crate::{
    Console,
    access::{OPERATIONS_READ, OPERATIONS_WRITE, Person},
    audited::{Request, audited},
    error::{PageError, see},
    forms::{self, Fields},
    layout::{self, Frame, Live, Section},
    marks::{Tone, message},
    operation::{name, read, shape},
    path::Path,
    words::kind,
};

/// The longest reason, in characters: as long as in the API.
const LONGEST_REASON: usize = 500;

/// An action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    Cancel,
    Retry,
    Skip,
    Abandon,
}

impl Action {
    const ALL: [Self; 4] = [Self::Cancel, Self::Retry, Self::Skip, Self::Abandon];

    fn read(word: &str) -> Result<Self, PageError> {
        let known = Self::ALL.into_iter().find(|action| action.word() == word);
        known.ok_or_else(|| PageError::Missing(format!("page {word} of an operation")))
    }

    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Cancel => "cancel",
            Self::Retry => "retry",
            Self::Skip => "skip",
            Self::Abandon => "abandon",
        }
    }

    pub(crate) const fn title(self) -> &'static str {
        match self {
            Self::Cancel => "Cancel",
            Self::Retry => "Retry",
            Self::Skip => "Skip a step",
            Self::Abandon => "Abandon",
        }
    }

    const fn button(self) -> &'static str {
        match self {
            Self::Cancel => "Cancel the operation",
            Self::Retry => "Retry it",
            Self::Skip => "Skip the step",
            Self::Abandon => "Abandon it",
        }
    }

    const fn meaning(self) -> &'static str {
        match self {
            Self::Cancel => {
                "It ends at its next step boundary, as canceled. What its steps have made so far stays: delete the runtime to remove it."
            }
            Self::Retry => {
                "A new operation continues this one: finished stages stay finished, and what was made before is found again. Do it once the cause is gone."
            }
            Self::Skip => {
                "The removal goes on without the step. What the step would have removed is left over, and is listed with the runtime. Do it when the other system does not come back."
            }
            Self::Abandon => {
                "The operation ends as failed now, whatever its step does, and the next one of the runtime begins. A call that is on its way is not taken back. Prefer to cancel it; abandon what does not follow."
            }
        }
    }
}

/// The possible actions on an operation in its state, besides the cancel of one that has not ended.
pub(crate) fn possible(shape: Option<&Shape>, operation: &Snapshot) -> Vec<Action> {
    let mut actions = Vec::new();
    if matches!(operation.state, OperationState::Failed | OperationState::Canceled) {
        actions.push(Action::Retry);
    }
    if !operation.state.is_final() {
        if !skippable(shape, operation).is_empty() {
            actions.push(Action::Skip);
        }
        actions.push(Action::Abandon);
    }
    actions
}

/// The steps of the open stage that a removal can go on without, with what is left then.
fn skippable<'a>(shape: Option<&'a Shape>, operation: &Snapshot) -> Vec<(&'a str, &'a str)> {
    let open = |stage: &&broker::operations::view::StageShape| {
        operation.stage.as_deref() == Some(stage.name.as_str())
    };
    let stage = shape.and_then(|shape| shape.stages.iter().find(open));
    let steps = stage.map(|stage| stage.steps.as_slice()).unwrap_or_default();
    steps.iter().filter_map(|step| Some((step.name.as_str(), step.leaves?))).collect()
}

pub(crate) async fn page(
    State(console): State<Console>,
    person: Person,
    Path((id, action)): Path<(String, String)>,
) -> Result<Markup, PageError> {
    person.must_operate(OPERATIONS_WRITE)?;
    person.must_operate(OPERATIONS_READ)?;
    let action = Action::read(&action)?;
    let operation = console.parts().operations.find(read(&id)?).await?;
    let name = name(&console, &person, &operation).await;
    Ok(question(&console, &person, &Question { operation, name, action }, &Fields::default(), None))
}

pub(crate) async fn confirmed(
    State(console): State<Console>,
    person: Person,
    Path((id, action)): Path<(String, String)>,
    fields: Fields,
) -> Result<Response, PageError> {
    person.must_operate(OPERATIONS_WRITE)?;
    let action = Action::read(&action)?;
    let operation = console.parts().operations.find(read(&id)?).await?;
    let name = name(&console, &person, &operation).await;
    let asked = Question { operation, name, action };
    let again = |problem: &str| {
        Ok(question(&console, &person, &asked, &fields, Some(problem)).into_response())
    };
    if let Err(problem) = check(&asked, &fields) {
        return again(&problem);
    }
    match perform(&console, &person, &asked, &fields).await? {
        Ok(id) => Ok(see(&format!("/console/operations/{id}"))),
        Err(PageError::Bad(problem)) => again(&problem),
        Err(other) => Err(other),
    }
}

/// The request, and its operation.
struct Question {
    operation: Snapshot,
    name: String,
    action: Action,
}

fn check(asked: &Question, fields: &Fields) -> Result<(), String> {
    if asked.action != Action::Cancel && fields.get("name") != asked.name {
        return Err("That is not its name. Nothing was done.".into());
    }
    reason_of(fields).map(drop)
}

/// The reason in a form, or what is wrong with it.
pub(crate) fn reason_of(fields: &Fields) -> Result<&str, String> {
    let reason = fields.get("reason");
    if reason.is_empty() {
        return Err("Say why: the reason is kept in the audit.".into());
    }
    if reason.chars().count() > LONGEST_REASON || reason.chars().any(char::is_control) {
        return Err(format!("The reason must be one line of at most {LONGEST_REASON} characters."));
    }
    Ok(reason)
}

/// The field for the reason.
pub(crate) fn reason_field(fields: &Fields) -> Markup {
    html! {
        div.field {
            label for="reason" { "Reason" }
            input #reason type="text" name="reason" maxlength=(LONGEST_REASON) value=(fields.get("reason")) required autocomplete="off";
            small { "Kept in the audit." }
        }
    }
}

/// Does it, with an entry in the audit; tells the operation to go on with.
async fn perform(
    console: &Console,
    person: &Person,
    asked: &Question,
    fields: &Fields,
) -> Result<Result<uuid::Uuid, PageError>, PageError> {
    let id = asked.operation.id;
    let (reason, step) = (fields.get("reason"), fields.get("step"));
    let reason_text = |what: &str| format!("{what} by {}: {reason}", person.name);
    let view = &console.parts().operations;
    let work = async {
        match asked.action {
            Action::Cancel => view.cancel(id, reason_text("called off")).await,
            Action::Retry => view.retry(id).await,
            Action::Skip => view.skip(id, step, reason_text("asked for")).await,
            Action::Abandon => view.abandon(id, reason_text("abandoned")).await,
        }
    };
    let mut details = json!({"reason": reason});
    if asked.action == Action::Skip {
        details["step"] = step.into();
    }
    let action = asked.action.word();
    let entry = Request { action, operation: Some(id), details, ..Request::default() };
    let done = audited(console, person, entry, work, |it: &Snapshot| Some(it.id)).await?;
    Ok(done.map(|operation| operation.id).map_err(PageError::from))
}

fn question(
    console: &Console,
    person: &Person,
    asked: &Question,
    fields: &Fields,
    problem: Option<&str>,
) -> Markup {
    let Question { operation, name, action } = asked;
    let back = format!("/console/operations/{}", operation.id);
    let what = format!("{} {name}", kind(&operation.kind));
    let steps = skippable(shape(console, &operation.kind), operation);
    let body = html! {
        (layout::path(&[("/console/operations", "Operations"), (&back, &what)], action.title()))
        div.title { h1 { (action.title()) ": " (what) "?" } }
        p.sub { span { "operation " code { (operation.id) } } }
        @if let Some(problem) = problem { (message(Tone::Bad, problem)) }
        section.card { div.body {
            form.field-list method="post" action={ (back) "/" (action.word()) } {
                (forms::word(person))
                p { (action.meaning()) }
                @if *action == Action::Skip { (step_field(&steps, operation, fields)) }
                (reason_field(fields))
                @if *action != Action::Cancel {
                    div.field {
                        label for="name" { "Type " strong { (name) } " to confirm" }
                        input #name type="text" name="name" required autocomplete="off" spellcheck="false";
                    }
                }
                div.acts {
                    button.button.first.danger[*action != Action::Retry] type="submit" { (action.button()) }
                    a.button href=(back) { @if *action == Action::Cancel { "Let it go on" } @else { "Leave it as it is" } }
                }
            }
        } }
    };
    let frame = Frame { title: action.title(), section: Section::Operations, live: Live::No };
    layout::page(console, person, &frame, &body)
}

fn step_field(steps: &[(&str, &str)], operation: &Snapshot, fields: &Fields) -> Markup {
    let chosen = match fields.get("step") {
        "" => operation.step.as_deref().unwrap_or_default(),
        given => given,
    };
    html! {
        @if steps.is_empty() {
            (message(Tone::Slow, "The open stage has no step that its plan can go on without."))
        } @else {
            div.field {
                label for="step" { "Step" }
                select #step name="step" {
                    @for (step, leaves) in steps { option value=(step) selected[*step == chosen] { (step) ": leaves " (leaves) } }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::operation;

    fn checked(action: Action, name: &str, reason: &str) -> Result<(), String> {
        let asked = Question { operation: operation("Wait"), name: "dev".into(), action };
        let fields = [("name", name), ("reason", reason)];
        let fields = fields.map(|(name, value)| (name.to_owned(), value.to_owned()));
        check(&asked, &Fields::from(fields.to_vec()))
    }

    #[test]
    fn every_action_needs_a_reason_of_one_line() {
        for action in Action::ALL {
            assert_eq!(checked(action, "dev", "it hangs"), Ok(()), "{action:?}");
            for empty in ["", "  "] {
                let refused = checked(action, "dev", empty).unwrap_err();
                assert!(refused.starts_with("Say why"), "{action:?}: {refused}");
            }
            for wrong in [&*"x".repeat(501), "two\nlines"] {
                let refused = checked(action, "dev", wrong).unwrap_err();
                assert!(refused.contains("at most 500 characters"), "{action:?}: {refused}");
            }
        }
    }

    #[test]
    fn every_action_but_a_cancel_needs_the_name_of_the_runtime() {
        for action in Action::ALL {
            let refused = checked(action, "another", "it hangs").is_err();
            assert_eq!(refused, action != Action::Cancel, "{action:?}");
        }
    }
}
