//! The test databases, tested: shared between processes, durable when owned, never left behind.

use std::{
    io::{BufRead, BufReader, Read},
    net::{Ipv4Addr, TcpStream},
    process::{Child, Command, Stdio},
};

use sqlx::{Connection, PgConnection};

use super::*;

/// Runs one test of this program in a process of its own, and reads what it prints until `ready`.
fn another_process(test: &str) -> (Child, impl Read, Vec<String>) {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "--nocapture", "--test-threads=1", test])
        .env(STARTED_BY_A_TEST, "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let lines = output.by_ref().lines().map(Result::unwrap);
    let printed = lines.take_while(|line| line != "ready").collect();
    (child, output, printed)
}

/// Set for the processes that tests start.
const STARTED_BY_A_TEST: &str = "KCP_TEST_STARTED_BY_A_TEST";

/// Returns when the test that started this process closes our standard input, or is gone.
fn until_told() {
    if std::env::var_os(STARTED_BY_A_TEST).is_none() {
        return;
    }
    std::io::stdin().read_to_end(&mut Vec::new()).unwrap();
}

#[tokio::test]
#[ignore = "another test runs it in a process of its own"]
async fn prints_the_address_of_the_shared_server() {
    println!("\nurl {}", shared::Shared::join().await.unwrap().url("postgres"));
    println!("ready");
    until_told();
}

#[tokio::test]
#[ignore = "another test runs it in a process of its own"]
async fn prints_the_port_of_an_owned_server() {
    let server = PostgresServer::start(&[]).await;
    println!("\nport {}", server.port());
    println!("ready");
    until_told();
}

#[tokio::test]
async fn two_processes_share_one_server() {
    let mine = format!("url {}", shared::Shared::join().await.unwrap().url("postgres"));

    let (mut other, mut output, printed) =
        another_process("testing::tests::prints_the_address_of_the_shared_server");

    assert!(printed.contains(&mine));
    drop(other.stdin.take());
    output.read_to_end(&mut Vec::new()).unwrap();
    assert!(other.wait().unwrap().success());
}

#[tokio::test]
async fn both_databases_are_empty_and_gone_with_their_guard() {
    let mut urls = Vec::new();

    for (name, test) in Databases::both().await {
        let database = test.database().await;
        database.ping().await.unwrap();
        assert_eq!(database.is_sqlite(), name == "sqlite");
        urls.push(test.url().to_owned());
    }

    for url in urls {
        assert!(Database::open(&Options::new(url)).await.is_err());
    }
}

#[tokio::test]
async fn an_owned_server_keeps_its_data_when_it_is_stopped_immediately() {
    let mut server = PostgresServer::start(&[("max_connections", "20")]).await;
    let url = server.url("postgres");
    let mut connection = PgConnection::connect(&url).await.unwrap();
    raw_sql("CREATE TABLE kept AS SELECT 7 AS number").execute(&mut connection).await.unwrap();

    server.stop_immediately().await;
    assert!(PgConnection::connect(&url).await.is_err());
    server.start_again().await;

    let mut connection = PgConnection::connect(&url).await.unwrap();
    let kept: i32 =
        sqlx::query_scalar("SELECT number FROM kept").fetch_one(&mut connection).await.unwrap();
    let limit: String =
        sqlx::query_scalar("SHOW max_connections").fetch_one(&mut connection).await.unwrap();
    assert_eq!((kept, limit.as_str()), (7, "20"));
}

#[tokio::test]
async fn an_owned_server_is_gone_with_its_guard() {
    let server = PostgresServer::start(&[("fsync", "off")]).await;
    let (port, folder) = (server.port(), server.folder().to_owned());

    drop(server);

    assert!(TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err());
    assert!(!folder.exists());
}

#[tokio::test]
async fn an_owned_server_is_gone_when_its_process_was_killed() {
    let (mut owner, _output, printed) =
        another_process("testing::tests::prints_the_port_of_an_owned_server");
    let port = printed.iter().find_map(|line| line.strip_prefix("port ")).unwrap();
    let mut connection = TcpStream::connect((Ipv4Addr::LOCALHOST, port.parse().unwrap())).unwrap();

    owner.kill().unwrap();
    owner.wait().unwrap();

    // The server hangs up when it stops.
    assert_eq!(connection.read(&mut [0]).unwrap(), 0);
}

#[tokio::test]
async fn a_setting_that_the_server_refuses_is_shown() {
    let settings = vec![("no_such_setting".to_owned(), "1".to_owned())];

    let error = PostgresServer::launch(keeper::Mode::Owned, &settings).unwrap_err();

    assert!(error.to_string().contains("no_such_setting"));
}
