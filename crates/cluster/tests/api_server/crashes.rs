//! What was answered is there again, whatever happened to the process.

use std::{env, fs, path::Path, process::Stdio};

use cluster::{Server, Settings};
use kube::{
    ResourceExt,
    api::{DeleteParams, Patch, PatchParams, PostParams, WatchEvent, WatchParams},
};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::Command,
};

use crate::support::{Running, catalog, connect, open, start, start_with, thing, things_of};

fn contents(server: &Server) -> Vec<Value> {
    let kinds = ["things.example.org", "namespaces"];
    kinds.iter().flat_map(|kind| server.list("c", kind)).map(|o| o.as_ref().clone()).collect()
}

fn newest_log(folder: &Path) -> std::path::PathBuf {
    let logs = fs::read_dir(folder.join("log")).unwrap().map(|entry| entry.unwrap().path());
    logs.filter(|path| path.to_str().unwrap().contains("log-")).max().unwrap()
}

async fn reopen(running: Running) -> Running {
    let Running { server, folder, clock } = running;
    server.stop().await;
    let server = open(Settings::new(folder.path()), catalog(), clock.clone()).await;
    Running { server, folder, clock }
}

#[tokio::test(flavor = "multi_thread")]
async fn everything_answered_is_there_again_and_a_torn_record_is_not() {
    let running = start().await;
    let things = running.things().await;
    for n in 0..10 {
        let new = thing(&format!("t-{n}"), json!({"n": n}));
        things.create(&PostParams::default(), &new).await.unwrap();
    }
    things.delete("t-3", &DeleteParams::default()).await.unwrap();
    let answered = contents(&running.server);
    things.create(&PostParams::default(), &thing("torn", json!({}))).await.unwrap();
    drop(things);

    let log = newest_log(running.folder.path());
    let length = fs::metadata(&log).unwrap().len();
    fs::OpenOptions::new().write(true).open(&log).unwrap().set_len(length - 3).unwrap();
    let running = reopen(running).await;

    assert_eq!(contents(&running.server), answered);
    let things = running.things().await;
    things.create(&PostParams::default(), &thing("torn", json!({}))).await.unwrap();
    let after = contents(&running.server);
    drop(things);
    assert_eq!(contents(&reopen(running).await.server), after);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_watch_resumes_and_credentials_hold_over_a_restart() {
    let running = start().await;
    let things = running.things().await;
    let made = things.create(&PostParams::default(), &thing("a", json!({"n": 0}))).await.unwrap();
    let patch = Patch::Merge(json!({"spec": {"n": 1}}));
    things.patch("a", &PatchParams::default(), &patch).await.unwrap();
    let token = running.server.kubeconfig("c", "tester").unwrap();
    drop(things);

    let running = reopen(running).await;
    let things = running.things().await;
    let version = made.resource_version().unwrap();
    let mut events = Box::pin(things.watch(&WatchParams::default(), &version).await.unwrap());
    let event = futures::StreamExt::next(&mut events).await.unwrap().unwrap();

    assert!(matches!(event, WatchEvent::Modified(object) if object.data["spec"]["n"] == 1));
    let port = |file: &str| file.lines().find(|line| line.contains("server:")).unwrap().to_owned();
    let again = running.server.kubeconfig("c", "tester").unwrap();
    assert_eq!(token.replace(&port(&token), ""), again.replace(&port(&again), ""));
}

#[tokio::test(flavor = "multi_thread")]
async fn snapshots_are_made_while_writes_go_on_and_lose_nothing() {
    let small = |settings: &mut Settings| settings.compact_after = 20_000;
    let running = start_with(catalog(), base::Clock::running(), small).await;
    running.server.create_cluster("other").unwrap();
    let things = running.things().await;
    for n in 0..150 {
        let new = thing(&format!("t-{}", n % 40), json!({"n": n}));
        things.patch(&new.name_any(), &PatchParams::apply("x"), &Patch::Apply(&new)).await.unwrap();
    }
    running.server.remove_cluster("other").unwrap();
    let answered = contents(&running.server);
    drop(things);

    let running = reopen(running).await;

    assert_eq!(contents(&running.server), answered);
    assert_eq!(running.server.clusters(), ["c"]);
    let snapshots = fs::read_dir(running.folder.path().join("log")).unwrap();
    let snapshots =
        snapshots.filter(|e| e.as_ref().unwrap().path().to_str().unwrap().contains("snapshot-"));
    assert_eq!(snapshots.count(), 1);
}

#[tokio::test]
async fn a_data_folder_belongs_to_one_server_at_a_time() {
    let running = start().await;
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let settings = Settings::new(running.folder.path());

    let second =
        Server::start(settings, running.clock.clone(), catalog(), listener, |router| router).await;

    assert!(matches!(second, Err(cluster::Error::InUse(_))));
}

#[tokio::test]
async fn the_same_seed_and_the_same_calls_give_the_same_objects() {
    let noon = "2026-01-01T12:00:00Z".parse().unwrap();
    let mut seen = Vec::new();
    for _ in 0..2 {
        let folder = tempfile::tempdir().unwrap();
        let mut settings = Settings::new(folder.path());
        settings.seed = Some(7);
        let server = open(settings, catalog(), base::Clock::held_at(noon)).await;
        server.create_cluster("c").unwrap();
        seen.push(contents(&server));
    }

    assert_eq!(seen[0], seen[1]);
}

/// Not a test: the process that the next one kills.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "serves until it is killed; started by the test below"]
async fn serves_until_it_is_killed() {
    let folder = env::var("KCP_TEST_FOLDER").unwrap();
    let server = open(Settings::new(&folder), catalog(), base::Clock::running()).await;
    server.create_cluster("c").unwrap();
    fs::write(format!("{folder}/kubeconfig"), server.kubeconfig("c", "tester").unwrap()).unwrap();
    println!("\nready");
    std::future::pending::<()>().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_in_the_middle_of_writes_nothing_answered_is_lost() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = Command::new(env::current_exe().unwrap())
        .args(["--exact", "crashes::serves_until_it_is_killed", "--ignored", "--nocapture"])
        .env("KCP_TEST_FOLDER", folder.path())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    while lines.next_line().await.unwrap().unwrap() != "ready" {}
    let kubeconfig = fs::read_to_string(folder.path().join("kubeconfig")).unwrap();
    let things = things_of(connect(&kubeconfig).await);
    let writers: Vec<_> = (0..8)
        .map(|writer| {
            let things = things.clone();
            tokio::spawn(async move {
                let mut answered = Vec::new();
                for n in 0.. {
                    let new = thing(&format!("t-{writer}-{n}"), json!({"n": n}));
                    match things.create(&PostParams::default(), &new).await {
                        Ok(made) => answered.push(made.name_any()),
                        Err(_) => break,
                    }
                }
                answered
            })
        })
        .collect();
    while things.list(&kube::api::ListParams::default()).await.unwrap().items.len() < 100 {}

    child.kill().await.unwrap();
    let mut answered = Vec::new();
    for writer in writers {
        answered.extend(writer.await.unwrap());
    }
    let server = open(Settings::new(folder.path()), catalog(), base::Clock::running()).await;

    assert!(answered.len() >= 90, "{}", answered.len());
    for name in answered {
        let found = server.get("c", "things.example.org", "default", &name);
        assert!(found.is_some(), "{name} was answered and is lost");
    }
}
