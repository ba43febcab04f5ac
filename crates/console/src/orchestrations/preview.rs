//! The runtimes that an orchestration would upgrade.

use std::collections::HashMap;

use broker::orchestrations::{Preview, PreviewItem};
use maud::{Markup, html};

use crate::{
    marks::{Tone, flag, message},
    words::{count, exact},
};

/// How many are listed.
pub(super) const SHOWN: usize = 100;

pub(super) fn card(preview: &Preview, names: &HashMap<String, String>) -> Markup {
    let canaries = preview.runtimes.iter().filter(|it| it.canary).count();
    html! {
        section.card aria-labelledby="previewed" {
            header {
                h2 #previewed { "Preview: " (count(preview.count, "runtime")) }
                span { (canaries) " first, as canaries · " (preview.skipped.len()) " left out · nothing was created" }
            }
            @if preview.runtimes.is_empty() {
                p.hint { "No runtime fits these targets. A pattern is a regular expression: " code { "^eu-" } " fits every region that begins so." }
            } @else {
                table {
                    thead { tr { th { "Runtime" } th { "Plan" } th.wide { "Region" } th.wide { "Account" } th.wide { "Not before" } th { "Order" } } }
                    tbody { @for item in preview.runtimes.iter().take(SHOWN) { (row(item, names)) } }
                }
                @if preview.count > SHOWN { p.hint { "and " (preview.count - SHOWN) " more" } }
            }
        }
        @if !preview.skipped.is_empty() {
            section.card aria-labelledby="skipped" {
                header { h2 #skipped { "Left out" } span { "they fit, and cannot be upgraded now" } }
                table {
                    thead { tr { th { "Shoot" } th { "Why" } } }
                    tbody { @for item in preview.skipped.iter().take(SHOWN) {
                        tr {
                            td { a href={ "/console/runtimes/" (item.instance_id) } { (item.shoot_name) } }
                            td { div.why { (item.reason) } }
                        }
                    } }
                }
            }
        }
        @if preview.parameters.dry_run { (message(Tone::Slow, "This is a dry run: its operations change nothing.")) }
    }
}

fn row(item: &PreviewItem, names: &HashMap<String, String>) -> Markup {
    let name = names.get(&item.instance_id).unwrap_or(&item.shoot_name);
    html! {
        tr {
            td { b { a href={ "/console/runtimes/" (item.instance_id) } { (name) } } div.small.faint { (item.shoot_name) } }
            td { (item.service_plan_name) }
            td.wide.tight { (item.region) }
            td.wide { span.why { (item.global_account_id) } }
            td.wide.tight.small { (item.maintenance_window_begin.map_or_else(|| "–".to_owned(), exact)) }
            td { @if item.canary { (flag("canary")) } @else { span.faint { "then" } } }
        }
    }
}
