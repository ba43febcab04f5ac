//! The frame around every page.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::{
    Console,
    access::{OPERATIONS_READ, ORCHESTRATIONS_READ, Person, RUNTIMES_READ},
    assets::{ICON, SCRIPT, STYLE},
};

/// The parts of the console, as the navigation has them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Section {
    Overview,
    Runtimes,
    Operations,
    Orchestrations,
    Jobs,
    Pool,
    Audit,
    Landscape,
}

/// The content of a page, and the events that reload it.
pub(crate) struct Frame<'a> {
    pub(crate) title: &'a str,
    pub(crate) section: Section,
    pub(crate) live: Live<'a>,
}

/// When an open page loads itself again.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Live<'a> {
    /// Never: it is a form.
    No,
    /// When anything happens to any operation.
    All,
    /// When something happens to one of these operations or instances; spaces are between them.
    Of(&'a str),
    /// Every so many milliseconds.
    Every(u32),
}

impl Live<'_> {
    fn word(self) -> Option<String> {
        match self {
            Self::No => None,
            Self::All => Some("all".into()),
            Self::Of(id) => Some(id.to_owned()),
            Self::Every(millis) => Some(format!("every:{millis}")),
        }
    }
}

/// A whole page.
pub(crate) fn page(console: &Console, person: &Person, frame: &Frame<'_>, body: &Markup) -> Markup {
    // Others hear of nothing.
    let hears = person.operates(OPERATIONS_READ) || matches!(frame.live, Live::Every(_));
    let live = frame.live.word().filter(|_| hears);
    let simulated = console.parts().landscape.is_some();
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (frame.title) " · kcp" }
                link rel="icon" href=(ICON.address());
                link rel="stylesheet" href=(STYLE.address());
                script src=(SCRIPT.address()) defer {}
            }
            body {
                a.skip href="#content" { "Skip to the content" }
                header.top { div {
                    a.brand href="/" aria-label="kcp, overview" { (LOGO) "kcp" }
                    (navigation(person, frame.section, simulated))
                    div.who {
                        span.line role="status" hidden[live.is_none()] { "connecting" }
                        @if simulated { span.world title="All outside systems are simulated on this machine" { "simulated world" } }
                        @if person.is_developer() { span.name { (person.name) } } @else { (signed_in(person)) }
                    }
                } }
                main #content tabindex="-1" data-live=[live] data-now=(console.now().as_millisecond()) { (body) }
                footer {
                    @for service in &console.parts().services {
                        span { (service.name) " " code { (service.address) } }
                    }
                    span { "kcp " (env!("CARGO_PKG_VERSION")) }
                }
            }
        }
    }
}

fn navigation(person: &Person, current: Section, simulated: bool) -> Markup {
    let links = [
        (Section::Overview, "/", "Overview", true),
        (Section::Runtimes, "/console/runtimes", "Runtimes", person.may(RUNTIMES_READ)),
        (
            Section::Operations,
            "/console/operations",
            "Operations",
            person.operates(OPERATIONS_READ),
        ),
        (
            Section::Orchestrations,
            "/console/orchestrations",
            "Orchestrations",
            person.operates(ORCHESTRATIONS_READ),
        ),
        (Section::Jobs, "/console/jobs", "Jobs", person.operates(OPERATIONS_READ)),
        (Section::Pool, "/console/pool", "Pool", person.operates(OPERATIONS_READ)),
        (Section::Audit, "/console/audit", "Audit", person.operates(OPERATIONS_READ)),
        (Section::Landscape, "/console/landscape", "Landscape", simulated),
    ];
    html! {
        nav aria-label="Main" {
            @for (section, address, name, shown) in links {
                @if shown {
                    a href=(address) aria-current=[(section == current).then_some("page")] { (name) }
                }
            }
        }
    }
}

fn signed_in(person: &Person) -> Markup {
    html! {
        span.name { (person.name) }
        form method="post" action="/console/sign-out" {
            (crate::forms::word(person))
            button.button.tiny type="submit" { "Sign out" }
        }
    }
}

/// Where a page is, from the top.
pub(crate) fn path(above: &[(&str, &str)], here: &str) -> Markup {
    html! {
        nav aria-label="Where this is" { ol.path {
            @for (address, name) in above { li { a href=(address) { (name) } } }
            li aria-current="page" { (here) }
        } }
    }
}

pub(crate) const LOGO: PreEscaped<&str> = PreEscaped(
    r##"<svg width="22" height="22" viewBox="0 0 24 24" aria-hidden="true"><rect width="24" height="24" rx="6" fill="#2b54cf"/><path d="M7 5.5v13M7 12.5l7.5-7M10 10l7 8.5" fill="none" stroke="#fff" stroke-width="2.4" stroke-linecap="round" stroke-linejoin="round"/></svg>"##,
);
