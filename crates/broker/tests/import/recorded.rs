//! Rows that an original broker really wrote. They are not in this repository: `KCP_GOLDEN` names the folder that has
//! `keb-database.jsonl`, with one row in each line: `{"table": …, "row": …}`. Without it nothing is tested.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
};

use engine::Storage;
use serde_json::Value;
use store::{
    import::{Mode, Report},
    testing::originals::OriginalDatabase,
};

use crate::{
    listing::{check_fields, check_operations},
    world::{World, open},
};

/// The key that the rows were encrypted with.
const RECORDED_KEY: &str = "################################";
/// The table that is not imported; the stand-in does not have it.
const EVENTS: &str = "
    CREATE TABLE events (id text PRIMARY KEY, level text, instance_id text, operation_id text, message text,
        created_at timestamptz)";

type Tables = BTreeMap<String, Vec<Value>>;

/// The recorded rows by their tables; operations are the oldest first.
fn recorded() -> Option<Tables> {
    let Some(folder) = std::env::var_os("KCP_GOLDEN") else {
        eprintln!("not tested: KCP_GOLDEN does not name a folder with recorded rows");
        return None;
    };
    let text = std::fs::read_to_string(PathBuf::from(folder).join("keb-database.jsonl")).unwrap();
    let mut tables = Tables::new();
    for line in text.lines() {
        let mut line: Value = serde_json::from_str(line).unwrap();
        let table = line["table"].as_str().unwrap().to_owned();
        tables.entry(table).or_default().push(line["row"].take());
    }
    let operations = tables.get_mut("operations").unwrap();
    let order = |row: &Value| (text_of(row, "created_at"), text_of(row, "id"));
    operations.sort_by_key(order);
    Some(tables)
}

fn text_of(row: &Value, column: &str) -> String {
    row[column].as_str().unwrap().to_owned()
}

fn of<'a>(tables: &'a Tables, table: &str) -> &'a [Value] {
    tables.get(table).map_or(&[][..], Vec::as_slice)
}

/// The operations of an instance, the oldest first.
fn operations_of(tables: &Tables, instance: &str) -> Vec<Value> {
    let all = of(tables, "operations").iter();
    all.filter(|row| row["instance_id"] == instance).cloned().collect()
}

/// Whether a finding names it.
fn is_found(report: &Report, subject: &str) -> bool {
    report.findings.iter().any(|finding| finding.subject == subject)
}

async fn import(world: &World, from: &OriginalDatabase, mode: Mode) -> Report {
    world.import_from(&mut open(from, RECORDED_KEY).await.unwrap(), mode, false).await.unwrap()
}

/// What was found was taken, was here already, or was left out; of a table, exactly so many were found.
fn adds_up(report: &Report, sort: &str, rows: usize) {
    let count = report.counts.get(sort).copied().unwrap_or_default();
    assert_eq!(count.found, rows as u64, "{sort}: {report:#?}");
    assert_eq!(count.found, count.taken + count.present + count.left_out, "{sort}: {report:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn recorded_rows_of_an_original_broker_are_taken_over_or_listed() {
    let Some(tables) = recorded() else { return };
    let from = OriginalDatabase::keb().await;
    from.run(EVENTS).await;
    for (table, rows) in &tables {
        from.insert(table, rows).await;
    }
    let rows: BTreeMap<String, &Value> =
        of(&tables, "instances").iter().map(|row| (text_of(row, "instance_id"), row)).collect();
    let all_operations = of(&tables, "operations");
    let known: BTreeSet<String> =
        all_operations.iter().map(|row| text_of(row, "instance_id")).collect();
    let removed = known.iter().filter(|id| !rows.contains_key(*id)).count();
    for world in World::both().await {
        let dry = import(&world, &from, Mode::DryRun).await;
        let report = import(&world, &from, Mode::Apply).await;
        let again = import(&world, &from, Mode::Apply).await;

        assert_eq!(dry, report);
        adds_up(&report, "instances", rows.len());
        adds_up(&report, "removed instances", removed);
        adds_up(&report, "orchestrations", of(&tables, "orchestrations").len());
        assert!(is_found(&report, "table events"), "{:#?}", report.findings);
        let runtimes = world.runtimes("all").await.into_iter();
        let runtimes: BTreeMap<_, _> = runtimes.map(|it| (it.instance_id.clone(), it)).collect();
        for (id, row) in &rows {
            let Some(runtime) = runtimes.get(id) else {
                assert!(is_found(&report, &format!("instance {id}")), "{id}: {report:#?}");
                continue;
            };
            let operations = operations_of(&tables, id);
            check_fields(row, &operations, runtime);
            assert!(check_operations(&operations, runtime) > 0, "{id}");
        }
        assert_eq!(report.counts["instances"].taken, runtimes.len() as u64);
        assert!(!runtimes.is_empty(), "{report:#?}");
        for row in all_operations {
            let (id, instance) = (text_of(row, "id"), text_of(row, "instance_id"));
            let kept = world.store.engine().read(id.parse().unwrap()).await.unwrap();
            let whole = format!("instance {instance}");
            let subject = format!("operation {id} of {whole}");
            let is_listed = is_found(&report, &subject)
                || (!runtimes.contains_key(&instance) && is_found(&report, &whole));
            assert!(kept.is_some() || is_listed, "{subject}");
        }
        for row in of(&tables, "orchestrations") {
            let id = text_of(row, "orchestration_id");
            let has_ended = ["succeeded", "failed", "canceled"].contains(&&*text_of(row, "state"));
            assert_ne!(has_ended, is_found(&report, &format!("orchestration {id}")), "{id}");
        }
        for (sort, count) in again.counts {
            assert_eq!(count.taken, 0, "{sort} is taken over again");
        }
    }
}
