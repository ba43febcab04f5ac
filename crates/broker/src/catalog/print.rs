//! The catalog as a page for people; `docs/plans.md` is this, and a test keeps it so.

use std::fmt::{self, Write as _};

use domain::plan::Provider;
use serde_saphyr::Spanned;

use super::{Catalog, Plan, data::ClusterData};

impl Catalog {
    /// The page.
    pub fn printed(&self) -> String {
        let mut page = String::new();
        // Writing to a text cannot fail.
        let _ = self.print(&mut page);
        page
    }

    fn print(&self, page: &mut String) -> fmt::Result {
        page.push_str(
            "# Plans\n\nPrinted from `config/catalog`; do not edit. Which plans are offered is a setting.\n\n\
             | Plan | Id | Shown as | Kind | Accounts | Profile | Licence | Limits |\n\
             |---|---|---|---|---|---|---|---|\n",
        );
        for plan in &self.plans {
            writeln!(
                page,
                "| `{}` | `{}` | {} | {} | {} | {} | {} | {} |",
                plan.name(),
                plan.id(),
                plan.display_name(),
                plan.kind(),
                plan.accounts(),
                plan.profile(),
                plan.licence_type().unwrap_or("–"),
                limits(plan),
            )?;
        }
        self.print_clusters(page)?;
        self.print_choices(page)?;
        self.print_regions(page)
    }

    fn print_clusters(&self, page: &mut String) -> fmt::Result {
        page.push_str(
            "\n## What a cluster looks like unless the order says otherwise\n\n\
             | Plan | Provider | Region | Machine type | Disk | Nodes | Zones | Nodes' network | Network | NAT | Purpose |\n\
             |---|---|---|---|---|---|---|---|---|---|---|\n",
        );
        for (plan, provider, cluster) in self.clusters() {
            let zones = cluster.zones.value;
            writeln!(
                page,
                "| `{}` | {provider} | {} | {} | {} | {}–{} | {}{} | {} | {} | {} | {} |",
                plan.name(),
                cluster.region.value,
                cluster.machine_type.value,
                disk(cluster),
                cluster.nodes.value.min,
                cluster.nodes.value.max,
                zones.count,
                zones.multi.map_or(String::new(), |multi| format!(" ({multi})")),
                cluster.worker_cidr.value,
                cluster.network_cidr.as_ref().map_or("–", |cidr| &cidr.value),
                cluster.nat_gateway.map_or("–", |on| if on { "yes" } else { "no" }),
                cluster.purpose.as_deref().unwrap_or(&self.defaults.purpose),
            )?;
        }
        page.push_str("\nZones in parentheses: when clusters are to span several.\n");
        Ok(())
    }

    fn print_choices(&self, page: &mut String) -> fmt::Result {
        page.push_str("\n## What an order may choose\n");
        for (plan, provider, cluster) in self.clusters() {
            let mut choices: Vec<(&str, String)> = vec![];
            if let Some(regions) = &cluster.regions {
                choices.push(("Regions", words(&regions.regular)));
                if let Some(regions) = &regions.eu_access {
                    choices.push(("Regions with EU access", words(regions)));
                }
            }
            if let Some(machines) = &cluster.machine_types {
                choices.push(("Machine types", words(&machines.create)));
                if !machines.update_too.is_empty() {
                    choices.push(("Further ones for a change", words(&machines.update_too)));
                }
            }
            if let Some(nodes) = plan.nodes() {
                let (min, max) = (&nodes.min, &nodes.max);
                let text = format!(
                    "fewest from {}, shown as {}; most {}–{}, shown as {}",
                    min.minimum, min.default.value, max.minimum, max.maximum, max.default.value
                );
                choices.push(("Nodes", text));
            }
            if choices.is_empty() {
                continue;
            }
            writeln!(page, "\n### `{}` on {provider}\n\n| | |\n|---|---|", plan.name())?;
            for (name, text) in choices {
                writeln!(page, "| {name} | {text} |")?;
            }
        }
        Ok(())
    }

    fn print_regions(&self, page: &mut String) -> fmt::Result {
        let trial = &self.regions.trial;
        page.push_str(
            "\n## Trial regions\n\n| Area | Platform regions | Regions |\n|---|---|---|\n",
        );
        for (area, regions) in &trial.areas {
            let platforms: Vec<&str> = trial
                .platform_regions
                .iter()
                .filter(|(_, of)| of.value == *area)
                .map(|(platform, _)| platform.as_str())
                .collect();
            let regions: Vec<String> = regions
                .iter()
                .map(|(provider, region)| format!("{provider}: {}", region.value))
                .collect();
            writeln!(page, "| {area} | {} | {} |", platforms.join(", "), regions.join(", "))?;
        }
        let eu = &self.eu_access;
        let regions: Vec<String> = eu
            .cluster_regions
            .iter()
            .map(|(provider, region)| format!("{} on {provider}", region.value))
            .collect();
        writeln!(
            page,
            "\n## EU access\n\nOrders from {} are accepted for invited global accounts only. Clusters go to {}.",
            eu.regions.join(" and "),
            regions.join(", ")
        )?;
        page.push_str(
            "\nforced: whatever the order says; unless_chosen: when it names none; free: as for any other order.\n",
        );
        writeln!(page, "\n| Plan | Provider | Region of such orders |\n|---|---|---|")?;
        for (plan, provider, cluster) in self.clusters() {
            writeln!(page, "| `{}` | {provider} | {} |", plan.name(), cluster.eu_access)?;
        }
        Ok(())
    }

    fn clusters(&self) -> impl Iterator<Item = (&Plan, Provider, &ClusterData)> {
        self.plans.iter().flat_map(|plan| {
            plan.data().clusters.iter().map(move |(provider, cluster)| (plan, *provider, cluster))
        })
    }
}

fn words(words: &[Spanned<String>]) -> String {
    words.iter().map(|word| word.value.as_str()).collect::<Vec<_>>().join(", ")
}

fn disk(cluster: &ClusterData) -> String {
    match (&cluster.disk_type, cluster.volume_size_gb) {
        (Some(disk), Some(size)) => format!("{disk}, {size} GB"),
        _ => "–".to_owned(),
    }
}

fn limits(plan: &Plan) -> String {
    let limits = plan.limits();
    let mut texts = vec![];
    if let Some(most) = limits.per_global_account {
        texts.push(format!("{most} per global account, counting {}", limits.counts));
    }
    if let Some(most) = limits.per_subaccount {
        texts.push(format!("{most} per subaccount, counting {}", limits.counts));
    }
    if let Some(days) = limits.lifetime_days {
        texts.push(format!("{days} days"));
    }
    if texts.is_empty() { "–".to_owned() } else { texts.join("; ") }
}
