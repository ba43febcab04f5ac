//! Rows that an original provisioner really wrote. They are not in this repository: `KCP_GOLDEN` names the folder that has
//! `provisioner-database.jsonl`, with one row in each line: `{"table": …, "row": …}`. Without it nothing is tested.

use std::{collections::BTreeMap, path::PathBuf};

use engine::{State, Storage};
use provisioner::document::Document;
use serde_json::{Value, json};
use store::{
    import::{Mode, Report},
    testing::originals::OriginalDatabase,
};
use uuid::Uuid;

use crate::World;

/// The key that the rows were encrypted with.
const RECORDED_KEY: &str = "0123456789abcdef0123456789abcdef";

/// The recorded rows by their tables.
fn recorded() -> Option<BTreeMap<String, Vec<Value>>> {
    let Some(folder) = std::env::var_os("KCP_GOLDEN") else {
        eprintln!("not tested: KCP_GOLDEN does not name a folder with recorded rows");
        return None;
    };
    let file = PathBuf::from(folder).join("provisioner-database.jsonl");
    let text = std::fs::read_to_string(file).unwrap();
    let mut tables = BTreeMap::<String, Vec<Value>>::new();
    for line in text.lines() {
        let mut line: Value = serde_json::from_str(line).unwrap();
        let table = line["table"].as_str().unwrap().to_owned();
        tables.entry(table).or_default().push(line["row"].take());
    }
    Some(tables)
}

fn id_of(row: &Value) -> Uuid {
    row["id"].as_str().unwrap().parse().unwrap()
}

/// Whether a finding names the runtime.
fn is_found(report: &Report, runtime: Uuid) -> bool {
    report.findings.iter().any(|finding| finding.subject == format!("runtime {runtime}"))
}

/// What is stored of a runtime is what its rows say.
fn check(row: &Value, gardener: &Value, stored: &store::provisioner::Runtime) {
    assert_eq!(stored.tenant, row["tenant"].as_str().unwrap());
    assert_eq!(stored.subaccount, row["sub_account_id"].as_str().unwrap_or_default());
    assert_eq!(stored.deleted_at.is_some(), row["deleted"].as_bool().unwrap(), "{row:#}");
    assert_eq!(stored.shoot, gardener["name"].as_str().unwrap());
    let cluster = Document::read(&stored.document).unwrap().configuration.cluster;
    let found = json!({
        "name": cluster.name, "kubernetes_version": cluster.kubernetes_version, "region": cluster.region,
        "machine_type": cluster.machine_type, "machine_image": cluster.machine_image,
        "target_secret": cluster.target_secret, "worker_cidr": cluster.worker_cidr,
        "auto_scaler_min": cluster.auto_scaler_min, "auto_scaler_max": cluster.auto_scaler_max,
        "max_surge": cluster.max_surge, "max_unavailable": cluster.max_unavailable,
    });
    for (column, value) in found.as_object().unwrap() {
        let theirs = &gardener[column];
        let nothing = theirs.is_null() || *theirs == "";
        assert!(theirs == value || (nothing && value.is_null()), "{column}: {value} {gardener:#}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn recorded_rows_of_an_original_provisioner_are_taken_over_or_listed() {
    let Some(tables) = recorded() else { return };
    let from = OriginalDatabase::provisioner().await;
    for (table, rows) in &tables {
        from.insert(table, rows).await;
    }
    for world in World::both().await {
        let import = async |mode: Mode| world.import_with(RECORDED_KEY, &from, mode, false).await;
        let dry = import(Mode::DryRun).await.unwrap();
        let report = import(Mode::Apply).await.unwrap();
        let again = import(Mode::Apply).await.unwrap();

        assert_eq!(dry, report);
        let count = report.counts["runtimes"];
        assert_eq!(count.found, tables["cluster"].len() as u64);
        assert_eq!(count.found, count.taken + count.left_out, "{report:#?}");
        let mut taken = 0;
        for row in &tables["cluster"] {
            let id = id_of(row);
            let Some(stored) = world.store.find(id).await.unwrap() else {
                assert!(is_found(&report, id), "{id}: {report:#?}");
                continue;
            };
            taken += 1;
            let mut gardener = tables["gardener_config"].iter();
            let gardener = gardener.find(|it| it["cluster_id"] == row["id"]).unwrap();
            check(row, gardener, &stored);
        }
        assert_eq!(count.taken, taken);
        for row in &tables["operation"] {
            let runtime: Uuid = row["cluster_id"].as_str().unwrap().parse().unwrap();
            let Some(kept) = world.store.engine().read(id_of(row)).await.unwrap() else {
                assert!(is_found(&report, runtime), "{row:#}");
                continue;
            };
            let expected =
                if row["state"] == "SUCCEEDED" { State::Succeeded } else { State::Failed };
            assert_eq!((kept.state, kept.instance), (expected, runtime.to_string()), "{row:#}");
        }
        for (sort, count) in again.counts {
            assert_eq!(count.taken, 0, "{sort} is taken over again");
        }
    }
}
