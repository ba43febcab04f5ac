//! Rows that cannot be imported are reported, and nothing of them is written.

use serde_json::json;
use store::{
    import::{KebSource, Mode},
    testing::{TestDatabase, originals::OriginalDatabase},
};

use crate::{
    original::{KEY, PLANS, database},
    world::{World, open},
};

async fn refusal(url: &str, key: Option<&str>) -> String {
    let key = key.map(|key| store::import::SourceKey::new(key.to_owned().into()).unwrap());
    let refused = KebSource::open(&url.to_owned().into(), key).await.unwrap_err();
    base::failure::chain(&refused)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_key_and_a_missing_one_are_told_before_anything_is_read() {
    let (from, _) = database(1).await;

    let wrong = refusal(from.url(), Some("another key of the right length!")).await;
    let missing = refusal(from.url(), None).await;

    assert!(wrong.contains("it opens none of the source's encrypted values"), "{wrong}");
    assert!(missing.contains("--key-file") && missing.contains("KCP_IMPORT_KEY"), "{missing}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_of_something_else_and_one_that_does_not_answer_are_told() {
    let empty = TestDatabase::postgres().await;
    let provisioner = OriginalDatabase::provisioner().await;
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();

    let of_else = refusal(empty.url(), None).await;
    let of_provisioner = refusal(provisioner.url(), None).await;
    let closed = refusal(&format!("postgres://kcp:hush@{free}/keb"), None).await;
    let file = refusal("sqlite://keb.db", None).await;

    assert!(of_else.contains("table instances, table operations is missing"), "{of_else}");
    assert!(of_provisioner.contains("table instances"), "{of_provisioner}");
    assert!(closed.contains(&free.to_string()) && closed.contains("refused"), "{closed}");
    assert!(!closed.contains("hush"), "{closed}");
    assert!(file.contains("must begin with postgres://"), "{file}");
}

#[tokio::test(flavor = "multi_thread")]
async fn columns_that_are_missing_are_named_and_those_that_are_new_do_no_harm() {
    let (from, _) = database(PLANS.len()).await;
    from.run("ALTER TABLE instances ADD COLUMN empty_updates integer DEFAULT 0").await;
    from.run("ALTER TABLE operations ADD COLUMN of_tomorrow text DEFAULT 'x'").await;
    from.run("ALTER TABLE runtime_states DROP COLUMN kyma_version").await;
    from.run("ALTER TABLE instances DROP COLUMN subscription_global_account_id").await;
    let world = World::both().await.remove(0);
    let report = world.import(&from, Mode::Apply).await;
    assert_eq!(report.counts["instances"].taken, PLANS.len() as u64);

    from.run("ALTER TABLE operations DROP COLUMN state").await;

    let refused = open(&from, KEY).await.unwrap_err().to_string();
    assert!(refused.contains("column operations.state is missing"), "{refused}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_original_without_states_and_bindings_is_imported_by_the_catalog() {
    let (from, _) = database(PLANS.len()).await;
    for table in ["runtime_states", "bindings", "orchestrations"] {
        from.run(&format!("DROP TABLE {table}")).await;
    }
    for world in World::both().await {
        let report = world.import(&from, Mode::Apply).await;

        assert_eq!(report.counts["instances"].taken, PLANS.len() as u64);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_instance_that_cannot_be_understood_is_left_out_with_the_reason_and_the_others_are_not()
{
    let (from, all) = database(5).await;
    let set = |at: usize, column: &str, value: &str| {
        format!("UPDATE instances SET {column} = '{value}' WHERE instance_id = '{}'", all[at].id())
    };
    from.run(&set(0, "service_plan_id", "no-such-plan")).await;
    from.run(&set(1, "runtime_id", "no uuid")).await;
    from.run(&set(2, "provisioning_parameters", "no JSON, hush-hush")).await;
    let mut broken = serde_json::from_str::<serde_json::Value>(
        all[3].instance["provisioning_parameters"].as_str().unwrap(),
    )
    .unwrap();
    broken["ers_context"]["sm_operator_credentials"]["clientsecret"] = json!("bm90IHNlYWxlZA==");
    from.run(&set(3, "provisioning_parameters", &broken.to_string())).await;
    for world in World::both().await {
        let report = world.import(&from, Mode::Apply).await;

        let problem = |at: usize| {
            let found = report.findings.iter().find(|it| it.subject.contains(all[at].id()));
            found.unwrap_or_else(|| panic!("{:#?}", report.findings)).problem.clone()
        };
        assert!(problem(0).contains("no-such-plan"), "{}", problem(0));
        assert!(problem(1).contains("not a UUID"), "{}", problem(1));
        assert!(problem(2).contains("cannot be read"), "{}", problem(2));
        assert!(problem(3).contains("cannot be decrypted"), "{}", problem(3));
        assert!(!format!("{report:?}").contains("hush-hush"));
        assert_eq!((report.counts["instances"].taken, report.counts["instances"].left_out), (1, 4));
        assert_eq!(world.runtimes("all").await.len(), 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_row_of_an_instance_that_is_left_out_is_counted_and_named_with_the_reason() {
    let (from, all) = database(2).await;
    let operation = |id: &str, kind: &str| {
        let mut row = all[0].operations[0].clone();
        row["id"] = json!(id);
        row["type"] = json!(kind);
        row["created_at"] = json!("2026-03-01T00:00:00Z");
        row
    };
    let mut upgrade = operation("22222222-0000-4000-8000-000000000001", "upgradeCluster");
    upgrade["orchestration_id"] = json!("no orchestration");
    upgrade["data"]["runtime_operation"] = json!({"runtimeId": all[0].instance["runtime_id"]});
    let rows = [operation("no operation", "update"), operation(UNKNOWN, "bless"), upgrade];
    from.insert("operations", &rows).await;
    let binding = |id: &str, instance: usize, expires: &str, kubeconfig: &str| {
        json!({
            "id": id, "instance_id": all[instance].id(), "created_at": "2026-01-01T00:00:00Z",
            "kubeconfig": kubeconfig, "expiration_seconds": 600, "expires_at": expires, "created_by": "jo",
        })
    };
    let later = "2099-01-01T00:00:00Z";
    let rows = [
        binding("expired", 0, "2020-01-01T00:00:00Z", ""),
        binding("half", 0, later, ""),
        binding("runtimeless", 1, later, ""),
    ];
    from.insert("bindings", &rows).await;
    let none =
        format!("UPDATE instances SET runtime_id = '' WHERE instance_id = '{}'", all[1].id());
    from.run(&none).await;
    for world in World::both().await {
        let dry = world.import(&from, Mode::DryRun).await;
        let report = world.import(&from, Mode::Apply).await;

        assert_eq!(dry, report);
        let left_out = |sort: &str| {
            let count = report.counts[sort];
            assert_eq!(count.found, count.taken + count.left_out, "{sort}");
            count.left_out
        };
        let sorts = ["operations", "bindings", "expired bindings", "upgrades of orchestrations"];
        assert_eq!(sorts.map(left_out), [2, 2, 1, 1], "{report:#?}");
        assert_eq!(report.counts["instances"].taken, 2);
        for (subject, problem) in [
            ("operation no operation", "not a UUID"),
            (UNKNOWN, "type \"bless\" is not known"),
            ("binding half", "not complete"),
            ("binding runtimeless", "has no runtime"),
            ("upgrade 22222222", "the id of its orchestration is not a UUID"),
        ] {
            let mut found = report.findings.iter().filter(|it| it.subject.contains(subject));
            assert!(found.any(|it| it.problem.contains(problem)), "{subject}: {report:#?}");
        }
    }
}

/// An operation of a type that is not known here.
const UNKNOWN: &str = "22222222-0000-4000-8000-000000000002";
