//! One runtime: what was ordered, what happened to it, bindings, leftovers, and what can be done.

use axum::extract::State;
use broker::{
    bindings::BindingSummary,
    chores::leftovers::Leftover,
    operations::view::{PageRequest, Snapshot},
    runtimes::Runtime,
};
use domain::plan::Kind;
use jiff::SignedDuration;
use maud::{Markup, html};
use serde::Deserialize;

use crate::{
    Console,
    access::{
        BROKER_WRITE, KUBECONFIG_READ, OPERATIONS_READ, ORCHESTRATIONS_WRITE, Person, RUNTIMES_READ,
    },
    activity::Activity,
    audit,
    error::PageError,
    forms,
    kubeconfig::{Way, file_name},
    layout::{self, Frame, Live, Section},
    marks::{self, Tone, message, pill, standing},
    names,
    operations::{reason_row, why},
    path::Path,
    query::Query,
    runtimes::or_dash,
    unbind,
    words::{ago, exact, id, kind, span, until},
};

/// How many operations are listed.
const HISTORY: u32 = 25;

#[derive(Deserialize, Default)]
pub(crate) struct RuntimeQuery {
    /// The missing object that was requested: `kubeconfig`.
    #[serde(default)]
    problem: String,
}

pub(crate) async fn page(
    State(console): State<Console>,
    person: Person,
    Path(instance): Path<String>,
    Query(shown): Query<RuntimeQuery>,
) -> Result<Markup, PageError> {
    person.must(RUNTIMES_READ)?;
    let runtime = names::find(&console, &person, &instance).await?;
    let runtime = runtime.ok_or_else(|| PageError::Missing(format!("runtime {instance}")))?;
    let operations = history(&console, &person, &instance).await?;
    let bindings =
        console.parts().bindings.list(&person.caller(), &instance).await.unwrap_or_default();
    let leftover = if person.operates(OPERATIONS_READ) {
        console.parts().broker.leftovers_of(&instance).await?
    } else {
        None
    };
    let audit = if person.operates(OPERATIONS_READ) {
        audit::card(&console, &instance).await?
    } else {
        html! {}
    };
    let changes = Activity::possible(&console, &person, &runtime).await;
    let name = names::of(&runtime);
    let body = html! {
        (layout::path(&[("/console/runtimes", "Runtimes")], &name))
        (heading(&person, &runtime, &name, &changes))
        @if shown.problem == "kubeconfig" { (message(Tone::Bad, "There is no kubeconfig right now. Try again in a moment; the log says why.")) }
        @if let Some(leftover) = &leftover { (leftovers(leftover)) }
        div.two {
            div.stack {
                (history_card(&console, &operations))
                (bindings_card(&console, &person, &instance, &bindings))
                (audit)
            }
            div.stack {
                (access_card(&console, &person, &runtime, &name))
                (facts_card(&runtime))
                (parameters_card(&runtime))
            }
        }
    };
    let frame = Frame { title: &name, section: Section::Runtimes, live: Live::Of(&instance) };
    Ok(layout::page(&console, &person, &frame, &body))
}

async fn history(
    console: &Console,
    person: &Person,
    instance: &str,
) -> Result<Vec<Snapshot>, PageError> {
    if !person.operates(OPERATIONS_READ) {
        return Ok(vec![]);
    }
    let instance = Some(instance.to_owned());
    let request = PageRequest { limit: HISTORY, instance, ..PageRequest::default() };
    Ok(console.parts().operations.list(request).await?.operations)
}

fn heading(person: &Person, runtime: &Runtime, name: &str, changes: &[Activity]) -> Markup {
    let (tone, word) = marks::runtime(runtime.status.state);
    let there = !["deprovisioning", "deprovisioned"].contains(&runtime.status.state);
    let upgradable = is_ready(runtime) && person.operates(ORCHESTRATIONS_WRITE);
    html! {
        div.title {
            h1 { (name) }
            (pill(tone, word))
            span.push {}
            div.acts {
                @if upgradable {
                    a.button href={ "/console/orchestrations/new?include-0-instanceID=" (runtime.instance_id) } { "Upgrade" }
                }
                @if is_ready(runtime) && person.may(BROKER_WRITE) {
                    a.button #change href={ "/console/runtimes/" (runtime.instance_id) "/change" } { "Change" }
                }
                @for change in changes {
                    a.button id=(change.word()) href=(change.address(&runtime.instance_id)) { (change.title()) }
                }
                @if there && person.may(BROKER_WRITE) {
                    a.button.danger href={ "/console/runtimes/" (runtime.instance_id) "/delete" } { "Delete" }
                }
            }
        }
        p.sub {
            span { (or_dash(&runtime.service_plan_name)) }
            span { (or_dash(&runtime.region)) }
            span { "account " (or_dash(&runtime.global_account_id)) }
            span { "instance " (id(&runtime.instance_id)) }
        }
    }
}

fn leftovers(leftover: &Leftover) -> Markup {
    html! {
        div.said.slow role="status" {
            (Tone::Slow.shape())
            div {
                p { strong { "Removed, and something is left" } " since " (exact(leftover.since)) "; deleting it again tries what is left." }
                ul { @for left in &leftover.left { li { (left.what) " (" code { (left.step) } ")" } } }
            }
        }
    }
}

fn history_card(console: &Console, operations: &[Snapshot]) -> Markup {
    let now = console.now();
    html! {
        section.card aria-labelledby="history" {
            header { h2 #history { "What happened to it" } span { "newest first" } }
            @if operations.is_empty() {
                p.hint { "Its operations are shown to operators with the scope operations:read." }
            } @else {
                table {
                    thead { tr { th { "Operation" } th { "State" } th.wide { "Why" } th.right { "Took" } } }
                    tbody {
                        @for operation in operations {
                            @let (tone, word) = standing(operation);
                            tr id={ "op-" (operation.id) } {
                                td {
                                    b { a href={ "/console/operations/" (operation.id) } { (kind(&operation.kind)) } }
                                    div.small.faint { (ago(operation.created_at, now)) }
                                }
                                td { (pill(tone, word)) }
                                td.wide { div.why { (why(operation)) } }
                                td.right.tight { (span(operation.ended_at.unwrap_or(now).duration_since(operation.created_at))) }
                            }
                            (reason_row("op", operation, 3))
                        }
                    }
                }
            }
        }
    }
}

fn bindings_card(
    console: &Console,
    person: &Person,
    instance: &str,
    bindings: &[BindingSummary],
) -> Markup {
    let may_end = person.may(BROKER_WRITE);
    html! {
        section.card aria-labelledby="bindings" {
            header { h2 #bindings { "Bindings" } span { "credentials for a while" } }
            @if bindings.is_empty() {
                p.hint { "None. A platform binds with " code { "PUT …/service_bindings/{id}" } ", an operator with " code { "kcp bind" } "." }
            } @else {
                table {
                    thead { tr { th { "Binding" } th { "State" } th.right { "Ends" } @if may_end { th.right { span.unseen { "Action" } } } } }
                    tbody { @for binding in bindings {
                        tr id={ "binding-" (binding.id) } {
                            td { (id(&binding.id)) }
                            td { (pill(if binding.state == "active" { Tone::Good } else { Tone::Calm }, binding.state)) }
                            td.right { (until(binding.expires_at, console.now())) }
                            @if may_end {
                                td.right { a.button.tiny href=(unbind::address(instance, &binding.id)) aria-label={ "End binding " (binding.id) } { "End" } }
                            }
                        }
                    } }
                }
            }
        }
    }
}

/// Whether there is a cluster that works.
fn is_ready(runtime: &Runtime) -> bool {
    ["succeeded", "updating", "upgrading", "error"].contains(&runtime.status.state)
}

fn access_card(console: &Console, person: &Person, runtime: &Runtime, name: &str) -> Markup {
    let gone = runtime.status.state.starts_with("deprovision");
    let way = Way::of(console, person, runtime);
    let address = format!("/console/runtimes/{}/kubeconfig", runtime.instance_id);
    html! {
        section.card aria-labelledby="access" {
            header { h2 #access { "Get in" } }
            div.body.stack {
                @if gone {
                    p.soft { "The runtime is removed, and its kubeconfig with it." }
                } @else if is_own(console, runtime) {
                    p.soft { "Its cluster was brought along with the order: its owner has the kubeconfig." }
                } @else if !is_ready(runtime) {
                    p.soft { "Its kubeconfig is here as soon as the runtime is ready." }
                } @else if way.is_some() || person.may(KUBECONFIG_READ) {
                    @if let Some(way) = way { (token_form(person, &address, way)) }
                    pre { "kubectl --kubeconfig " (file_name(name)) " get namespaces" }
                    @if person.may(KUBECONFIG_READ) {
                        p.small.soft {
                            a #kubeconfig href=(address) download { "The kubeconfig for signing in" }
                            " holds no credentials: kubectl asks its owner to sign in, with the plugin oidc-login."
                        }
                    }
                } @else {
                    p.soft { "Kubeconfigs need the scope kubeconfig:read." }
                }
            }
        }
    }
}

/// Whether the order brought the cluster along.
fn is_own(console: &Console, runtime: &Runtime) -> bool {
    let plan = console.parts().broker.parts().catalog.plan(&runtime.service_plan_id);
    plan.is_some_and(|plan| plan.kind() == Kind::OwnCluster)
}

/// Asks for a kubeconfig that works as it is. Making one changes something, so that a link is not enough.
fn token_form(person: &Person, address: &str, way: Way) -> Markup {
    let lifetime = SignedDuration::try_from(way.lifetime()).unwrap_or(SignedDuration::MAX);
    html! {
        form method="post" action=(address) data-download {
            (forms::word(person))
            div.acts { button.button.first #token type="submit" { "Download a kubeconfig" } }
        }
        p.small.soft { "With a token that has all rights in this runtime and ends after " (span(lifetime)) ". Keep it to yourself; the download is in the audit." }
    }
}

fn facts_card(runtime: &Runtime) -> Markup {
    let facts = [
        ("Shoot", runtime.shoot_name.as_str()),
        ("Runtime", &runtime.runtime_id),
        ("Provider", &runtime.provider),
        ("Subaccount", &runtime.sub_account_id),
        ("Platform region", &runtime.sub_account_region),
        ("Ordered by", &runtime.user_id),
        ("Kyma", runtime.kyma_version.as_deref().unwrap_or_default()),
    ];
    let times = [
        ("Ordered", Some(runtime.status.created_at)),
        ("Changed", Some(runtime.status.modified_at)),
        ("Expired", runtime.status.expired_at),
        ("Removed", runtime.status.deleted_at),
    ];
    html! {
        section.card aria-labelledby="facts" {
            header { h2 #facts { "About it" } }
            dl.body.facts {
                @for (name, value) in facts { @if !value.is_empty() { dt { (name) } dd { (value) } } }
                @for (name, time) in times { @if let Some(at) = time { dt { (name) } dd { (exact(at)) } } }
            }
        }
    }
}

fn parameters_card(runtime: &Runtime) -> Markup {
    let parameters =
        runtime.parameters.as_ref().and_then(|it| serde_json::to_string_pretty(it).ok());
    html! {
        @if let Some(parameters) = parameters {
            section.card aria-labelledby="parameters" {
                header { h2 #parameters { "Parameters" } span { "without credentials" } }
                div.body { pre { (parameters) } }
            }
        }
    }
}
