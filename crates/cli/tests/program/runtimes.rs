//! `kcp runtimes` against a broker that says what the test wants: flags become parameters, pages become one table.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::fake::Broker;

fn runtime(n: usize, state: &str) -> Value {
    json!({
        "instanceID": format!("i-{n}"), "runtimeID": "r", "globalAccountID": "ga-1",
        "subscriptionGlobalAccountID": "payer", "subAccountID": "sa-1", "region": "eu-central-1",
        "subAccountRegion": "cf-eu11", "shootName": format!("c-{n}"), "servicePlanName": "aws",
        "kymaVersion": "2.12.0", "parameters": {"name": "dev"},
        "status": {
            "createdAt": "2026-01-02T03:04:05.678Z", "state": state,
            "provisioning": {"createdAt": "2026-01-02T03:04:05Z"},
            "update": {"data": [{"createdAt": "2026-01-03T03:04:05Z"}], "count": 1, "totalCount": 1},
        },
    })
}

fn page(runtimes: &[Value], total: usize) -> (u16, Value) {
    (200, json!({"data": runtimes, "count": runtimes.len(), "totalCount": total}))
}

#[test]
fn a_table_has_the_columns_that_operators_know() {
    let two = page(&[runtime(1, "succeeded"), runtime(22, "error")], 2);
    let broker = Broker::answering(vec![two.clone(), two]);

    let usual = broker.prints(&["runtimes", "-o", "known"]);
    let more = broker.prints(&["rt", "-o", "wide", "--ops", "--subscription-global-account-id"]);

    assert_eq!(
        usual,
        "\
GLOBALACCOUNT ID   SUBACCOUNT ID   SHOOT    REGION         PLAN     CREATED AT            STATE            EU ACCESS
ga-1               sa-1            c-1      eu-central-1   aws      2026/01/02 03:04:05   succeeded        Yes
ga-1               sa-1            c-22     eu-central-1   aws      2026/01/02 03:04:05   error (update)   Yes
"
    );
    let head = more.lines().next().unwrap();
    let words = head.split("  ").map(str::trim).filter(|word| !word.is_empty());
    assert_eq!(
        words.collect::<Vec<_>>(),
        [
            "NAME",
            "STATE",
            "PLAN",
            "REGION",
            "SHOOT",
            "AGE",
            "KYMA VERSION",
            "INSTANCE ID",
            "GLOBALACCOUNT ID",
            "SUBACCOUNT ID",
            "SUBSCRIPTION GLOBALACCOUNT ID",
            "CREATED AT",
            "EU ACCESS"
        ]
    );
    assert_eq!(
        broker.asked(),
        [
            "/runtimes?op_detail=last&page=1&page_size=100",
            "/runtimes?op_detail=all&page=1&page_size=100"
        ]
    );
}

#[test]
fn flags_become_parameters_and_lists_take_commas() {
    let broker = Broker::answering(vec![page(&[], 0), page(&[], 0)]);

    let nothing = broker.prints(&[
        "runtimes",
        "-c",
        "c-1,c-2",
        "-g",
        "ga",
        "-s",
        "sa",
        "-i",
        "11111111-0000-4000-8000-000000000001",
        "-i",
        "11111111-0000-4000-8000-000000000002",
        "-R",
        "eu",
        "-p",
        "aws",
        "-S",
        "FAILED,error",
        "--expired",
        "--kyma-config",
        "--cluster-config",
        "--gardener-config",
    ]);

    assert_eq!(nothing.lines().count(), 1, "{nothing}");
    // They may be ids of runtimes.
    assert_eq!(
        broker.asked()[0],
        "/runtimes?state=all&op_detail=last&runtime_id=11111111-0000-4000-8000-000000000001\
         &runtime_id=11111111-0000-4000-8000-000000000002&page=1&page_size=100"
    );
    assert_eq!(
        broker.asked()[1..],
        ["/runtimes?shoot=c-1&shoot=c-2&account=ga&subaccount=sa\
          &instance_id=11111111-0000-4000-8000-000000000001\
          &instance_id=11111111-0000-4000-8000-000000000002&region=eu&plan=aws&state=failed&state=error&op_detail=last&kyma_config=true&cluster_config=true&gardener_config=true&expired=true\
          &page=1&page_size=100"]
    );
}

#[test]
fn pages_are_put_together_and_an_early_end_is_an_end() {
    let full: Vec<Value> = (0..100).map(|n| runtime(n, "succeeded")).collect();
    let broker = Broker::answering(vec![page(&full, 250), page(&full, 250), page(&full[..7], 250)]);

    let all: Value = serde_json::from_str(&broker.prints(&["runtimes", "-o", "json"])).unwrap();

    assert_eq!((&all["count"], &all["totalCount"]), (&json!(207), &json!(207)));
    assert_eq!(all["data"].as_array().unwrap().len(), 207);
    assert_eq!(broker.asked().len(), 3);
}

/// An answer of lines that come in pieces; whole, or broken off before the last one.
fn lines(whole: bool) -> String {
    let mut pieces = String::new();
    for piece in ["{\"n\":1}\n{\"n\"", ":2}\n"] {
        let _ = write!(pieces, "{:x}\r\n{piece}\r\n", piece.len());
    }
    let end = if whole { "0\r\n\r\n" } else { "" };
    format!(
        "HTTP/1.1 200 X\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n{pieces}{end}"
    )
}

#[test]
fn an_export_is_written_as_it_comes() {
    let broker = Broker::sending(vec![lines(true), lines(true), lines(true)]);
    let file = broker.folder.path().join("all.csv");
    let path = file.to_str().unwrap();

    let printed = broker.prints(&["runtimes", "--export", "-", "-p", "aws"]);
    let nothing = broker.prints(&["runtimes", "--export", path, "--ops"]);
    let also = broker.prints(&["runtimes", "--export", "-", "--export-format", "csv"]);

    assert_eq!(printed, "{\"n\":1}\n{\"n\":2}\n");
    assert_eq!((nothing.as_str(), also), ("", printed.clone()));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), printed);
    assert_eq!(
        broker.asked(),
        [
            "/runtimes/export?plan=aws&op_detail=last&format=ndjson",
            "/runtimes/export?op_detail=all&format=csv",
            "/runtimes/export?op_detail=last&format=csv",
        ]
    );
}

#[test]
fn an_export_that_is_broken_off_fails_and_leaves_no_file() {
    let refusal = json!({"error": "while getting query parameters: shoot is wrong"});
    let body = refusal.to_string();
    let refused = format!(
        "HTTP/1.1 400 X\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\
         Connection: close\r\n\r\n{body}",
        body.len()
    );
    let broker = Broker::sending(vec![lines(false), lines(false), refused]);
    let file = broker.folder.path().join("all.ndjson");
    std::fs::write(&file, "yesterday").unwrap();
    let path = file.to_str().unwrap();

    for (words, expected) in [
        (["runtimes", "--export", path], "the answer was broken off and is incomplete"),
        (["runtimes", "--export", "-"], "the answer was broken off and is incomplete"),
        (["runtimes", "--export", path], "shoot is wrong"),
    ] {
        let failed = broker.kcp(&words);
        let error = String::from_utf8(failed.stderr).unwrap();
        assert!(!failed.status.success() && error.contains(expected), "{words:?}: {error}");
    }
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "yesterday");
    assert_eq!(std::fs::read_dir(broker.folder.path()).unwrap().count(), 2);
}

#[test]
fn columns_can_be_chosen() {
    let broker = Broker::answering(vec![page(&[runtime(1, "failed")], 1)]);

    let text = broker.prints(&["rt", "-o", "custom=ID:instanceID,STATE:{.status.state},NONE:x.y"]);

    assert_eq!(text, "ID       STATE    NONE\ni-1      failed\n");
}

#[test]
fn what_cannot_be_asked_for_is_refused_before_anything_is_sent() {
    let broker = Broker::answering(vec![]);

    for (words, expected) in [
        (&["rt", "-S", "odd"][..], "invalid value for state: odd"),
        (&["rt", "-S", "deprovisioned"], "must provide some Instance IDs"),
        (&["rt", "-o", "xml"], "invalid value for output: xml; one of table, "),
        (&["rt", "-o", "custom=A:{range .x}"], "is not supported"),
        (&["rt", "-o", "custom=x"], "unexpected custom spec: x"),
        (&["rt", "--export", "-", "-o", "wide"], "cannot be used with"),
        (&["deprovision"], "required"),
        (&["deprovision", "i-1", "--name", "dev"], "cannot be used with"),
        (&["deprovision", "dev", "-g", "CA0002", "--yes"], "cannot be used with"),
        (&["provision", "--yes", "--plan", "aws", "--name", "dev", "--param", "x"], "KEY=VALUE"),
    ] {
        let output = broker.kcp(words);
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && error.contains(expected), "{words:?}: {error}");
    }
    assert!(broker.asked().is_empty());
}

#[test]
fn whole_ids_and_shoots_are_asked_for_and_not_looked_for_among_all_runtimes() {
    let id = "5b954fa8-fc34-4164-96e9-49e3b6741278";
    let mut one = runtime(1, "succeeded");
    (one["runtimeID"], one["shootName"]) = (json!(id), json!("c-308c6c3"));
    let (nothing, found) = (page(&[], 0), page(&[one], 1));
    let bindings = (200, json!({"bindings": []}));

    for (word, field) in [(id, "runtime_id"), ("c-308c6c3", "shoot")] {
        let answers = vec![nothing.clone(), found.clone(), bindings.clone()];
        let broker = Broker::answering(answers);
        broker.prints(&["bindings", word, "-o", "name"]);
        let by = |field| {
            format!("/runtimes?state=all&op_detail=last&{field}={word}&page=1&page_size=100")
        };
        assert_eq!(broker.asked(), [by("instance_id"), by(field), "/bindings/i-1".to_owned()]);
    }
    let broker = Broker::answering(vec![nothing.clone(), nothing.clone()]);
    let absent = String::from_utf8(broker.kcp(&["bindings", id]).stderr).unwrap();
    assert!(absent.contains("no instance or runtime"), "{absent}");

    // A broker that does not know the filter gives others as well.
    let all = page(&[runtime(2, "succeeded"), runtime(3, "succeeded")], 2);
    let exported = (200, runtime(2, "succeeded"));
    let broker = Broker::answering(vec![all.clone(), all, exported]);
    let absent = String::from_utf8(broker.kcp(&["bindings", "c-308c6c3"]).stderr).unwrap();
    assert!(absent.contains("no instance or runtime"), "{absent}");
}

#[test]
fn a_name_that_several_runtimes_have_removes_none() {
    let two = [runtime(1, "succeeded"), runtime(2, "failed")];
    let broker = Broker::answering(vec![page(&two, 2), page(&two, 2)]);

    let several = broker.kcp(&["deprovision", "--name", "dev"]);
    let none = broker.kcp(&["deprovision", "--name", "other"]);

    let error = String::from_utf8(several.stderr).unwrap();
    assert!(error.contains("i-1, i-2") && !several.status.success(), "{error}");
    let error = String::from_utf8(none.stderr).unwrap();
    assert!(error.contains("no runtime with the name \"other\""), "{error}");
    assert!(broker.asked().iter().all(|asked| asked.starts_with("/runtimes?state=all")));
}

#[test]
fn what_may_exist_is_settled_by_a_part_of_its_id_and_asked_about_with_its_name() {
    let id = "5b954fa8-fc34-4164-96e9-49e3b6741278";
    let thing = json!({"id": id, "system": "avs", "name": "evaluation of c-1", "instance": "i-1"});
    let listed = || (200, json!({"may_exist": [thing.clone()], "next": null}));
    let settle = |words: &[&str], answers| {
        let broker = Broker::answering(answers);
        let settled = broker.kcp(&[&["leftovers", "settle"], words].concat());
        let error = String::from_utf8(settled.stderr).unwrap();
        (settled.status.code(), error, broker.asked())
    };

    let (code, error, asked) = settle(&["5b954fa8"], vec![listed()]);
    assert_eq!((code, asked.len()), (Some(1), 1), "{error}");
    assert!(error.contains(&format!("{id} (evaluation of c-1 in avs)")), "{error}");
    let (code, error, asked) = settle(&["5b954fa8", "--yes"], vec![listed()]);
    assert!(code == Some(1) && error.contains("give the whole id"), "{error}");
    assert_eq!(asked.len(), 1);
    let (code, error, asked) = settle(&[id, "--yes"], vec![listed(), (200, json!({}))]);
    assert_eq!(
        (code, asked[1].as_str()),
        (Some(0), format!("/may-exist/{id}").as_str()),
        "{error}"
    );
}

#[test]
fn who_may_remove_need_not_be_allowed_to_list() {
    let refused =
        (403, json!({"error": "forbidden", "description": "the token does not allow this"}));
    let catalog = json!({"services": [{"id": "s", "plans": [{"id": "p", "name": "aws"}]}]});
    let operation = json!({"operation": "01a1e15b-0000-7000-8000-000000000001"});
    let broker = Broker::answering(vec![refused, (200, catalog), (202, operation)]);

    let removed = broker.prints(&["deprovision", "i-1", "--yes"]);

    assert!(removed.starts_with("Instance   i-1\n"), "{removed}");
}

#[test]
fn a_binding_is_ended_by_its_whole_id_where_none_are_listed() {
    let catalog = json!({"services": [{"id": "s", "plans": [{"id": "p", "name": "aws"}]}]});
    let refused =
        |status| (status, json!({"error": "no", "description": "bindings are not listed"}));
    let end = |status, words: &[&str]| {
        let one = page(&[runtime(1, "succeeded")], 1);
        let answers = vec![one, refused(status), (200, catalog.clone()), (200, json!({}))];
        let broker = Broker::answering(answers);
        let ended = broker.kcp(&[&["unbind", "i-1"], words].concat());
        (ended.status.code(), String::from_utf8(ended.stdout).unwrap(), broker.asked())
    };

    for status in [403, 404, 405] {
        let (code, told, asked) = end(status, &["ci", "--yes"]);
        assert_eq!((code, told.as_str()), (Some(0), "Binding ci is removed\n"), "{status}");
        let path = "/oauth/v2/service_instances/i-1/service_bindings/ci?service_id=s&plan_id=p";
        assert_eq!(asked.last().unwrap(), path, "{status}");
    }
    // What fails is not taken for a list that is not there; without --yes, and in a dry run, `ci` may be a part of an id.
    for (status, words) in
        [(500, &["ci", "--yes"][..]), (404, &["ci"]), (404, &["ci", "--yes", "--dry-run"])]
    {
        let (code, _, asked) = end(status, words);
        assert_eq!((code, asked.len()), (Some(1), 2), "{status} {words:?}");
    }
}

#[test]
fn a_refusal_is_told_in_the_brokers_words() {
    let body = json!({"error": "while getting query parameters: shoot \"?\" is not a name"});
    let broker = Broker::answering(vec![(400, body)]);

    let refused = broker.kcp(&["runtimes", "-c", "?"]);

    let error = String::from_utf8(refused.stderr).unwrap();
    let said = "Error: while getting query parameters: shoot \"?\" is not a name \
                (broker at http://127.0.0.1:";
    assert!(!refused.status.success() && error.starts_with(said), "{error}");
    assert!(error.ends_with(": listing runtimes)\n"), "{error}");
}

#[test]
fn a_failed_call_ends_with_the_command_that_lists_what_was_asked_for() {
    let id = "01a1e15b-0000-7000-8000-000000000001";
    let absent = (404, json!({"error": "NotFound", "description": "there is no such thing"}));
    let cancel = ["operations", "cancel", id, "--reason", "gone", "--yes"];

    for (words, answer, cause, next) in [
        (&cancel[..], absent.clone(), "there is no such thing", "operations"),
        (&["orchestrations", id], absent, "there is no such thing", "orchestrations"),
        (&["catalog"], (403, json!({})), "credentials not accepted", "token"),
    ] {
        let none = json!({"data": [], "count": 0, "totalCount": 0});
        let broker = Broker::like(move |request| {
            let is_runtimes = request.starts_with("GET /runtimes");
            if is_runtimes { (200, none.clone()) } else { answer.clone() }
        });
        let error = String::from_utf8(broker.kcp(words).stderr).unwrap();
        let [first, last] = error.lines().collect::<Vec<_>>()[..] else { panic!("{error}") };
        assert!(first.starts_with(&format!("Error: {cause} (broker at http://")), "{error}");
        let kcp = format!("kcp --data {}", broker.folder.path().display());
        assert_eq!(last, format!("Next: {kcp} {next}"));
    }
}
