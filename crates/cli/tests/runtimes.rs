//! `kcp runtimes` against a broker that says what the test wants: flags become parameters, pages become one table.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[path = "support/fake.rs"]
mod fake;

use std::fmt::Write as _;

use serde_json::{Value, json};

use fake::Broker;

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
    let broker = Broker::answering(vec![page(&[], 0)]);

    let nothing = broker.prints(&[
        "runtimes",
        "-c",
        "c-1,c-2",
        "-g",
        "ga",
        "-s",
        "sa",
        "-i",
        "i-1",
        "-i",
        "i-2",
        "-R",
        "eu",
        "-p",
        "aws",
        "-S",
        "FAILED,error",
        "--expired",
        "--kyma-config",
        "--cluster-config",
    ]);

    assert_eq!(nothing.lines().count(), 1, "{nothing}");
    assert_eq!(
        broker.asked(),
        [
            "/runtimes?shoot=c-1&shoot=c-2&account=ga&subaccount=sa&instance_id=i-1&instance_id=i-2&region=eu\
          &plan=aws&state=failed&state=error&op_detail=last&kyma_config=true&cluster_config=true&expired=true\
          &page=1&page_size=100"
        ]
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
        (&["provision", "--plan", "aws", "--name", "dev", "--param", "x"], "KEY=VALUE"),
    ] {
        let output = broker.kcp(words);
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && error.contains(expected), "{words:?}: {error}");
    }
    assert!(broker.asked().is_empty());
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
    assert!(error.contains("there is no runtime of the name \"other\""), "{error}");
    assert!(broker.asked().iter().all(|asked| asked.starts_with("/runtimes?state=all")));
}

const ID: &str = "5b954fa8-fc34-4164-96e9-49e3b6741278";

#[test]
fn whatever_destroys_needs_an_answer_or_yes_and_no_terminal_is_no_answer() {
    let destroying: [&[&str]; 11] = [
        &["deprovision", "i-1"],
        &["operations", "cancel", ID],
        &["operations", "retry", ID, "--reason", "it is back"],
        &["operations", "skip", ID, "--step", "Step"],
        &["operations", "abandon", ID],
        &["leftovers", "settle", ID],
        &["reconciliations", "purge", "-r", ID],
        &["reconciliations", "operation", "stop", "-s", "s-1", "-c", "c-1"],
        &["landscape", "reset"],
        &["landscape", "reset", "director"],
        &["landscape", "objects", "director", "runtime", "r-1", "--delete"],
    ];
    let broker = Broker::answering(vec![]);

    for words in destroying {
        for input in ["", "n\n", "\n", "no\n", "yesterday\n", "n\ny\n"] {
            let refused = broker.kcp_with(words, input);
            let error = String::from_utf8(refused.stderr).unwrap();
            assert_eq!(refused.status.code(), Some(1), "{words:?} {input:?}: {error}");
            assert!(error.contains("Type [y/N]: Error: nothing was done"), "{words:?}: {error}");
            assert_eq!(error.contains("--yes"), input.is_empty(), "{words:?} {input:?}: {error}");
            assert!(refused.stdout.is_empty(), "{words:?} {input:?}");
        }
    }

    assert!(broker.asked().is_empty(), "{:?}", broker.asked());
}

#[test]
fn an_answer_through_a_pipe_counts_and_yes_asks_nothing() {
    for (words, input) in [
        (&["deprovision", "i-1"][..], "y\n"),
        (&["deprovision", "i-1"], " YES"),
        (&["deprovision", "i-1", "--yes"], ""),
        (&["deprovision", "-y", "i-1"], "n\n"),
    ] {
        let broker = Broker::answering(vec![(500, json!({}))]);

        let tried = broker.kcp_with(words, input);

        assert_eq!(broker.asked().len(), 1, "{words:?} {input:?}");
        let error = String::from_utf8(tried.stderr).unwrap();
        assert_eq!(error.contains("Type [y/N]"), words.len() == 2, "{words:?}: {error}");
    }
}

#[test]
fn a_refusal_is_told_in_the_brokers_words() {
    let body = json!({"error": "while getting query parameters: shoot \"?\" is not a name"});
    let broker = Broker::answering(vec![(400, body)]);

    let refused = broker.kcp(&["runtimes", "-c", "?"]);

    let error = String::from_utf8(refused.stderr).unwrap();
    assert!(!refused.status.success() && error.contains("shoot \"?\" is not a name"), "{error}");
}
