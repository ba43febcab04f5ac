//! The requests of the page for platforms, as a reader would give them.

use std::process::Command;

use crate::support::{KCP, free_ports, start};

/// The block of shell commands that holds these words.
fn block(holding: &str) -> String {
    let text = include_str!("../../../../docs/osb.md");
    let mut blocks = text.split("```sh\n").skip(1).filter_map(|rest| rest.split("```").next());
    blocks.find(|block| block.contains(holding)).unwrap().to_owned()
}

#[test]
fn the_three_requests_order_a_runtime_follow_it_and_remove_it() {
    let folder = tempfile::tempdir().unwrap();
    let port = free_ports();
    let _running = start(&["up", "--speed", "max"], &folder.path().join(".kcp"), port);
    let commands = block("osb -X PUT").replace("127.0.0.1:8080", &format!("127.0.0.1:{port}"));
    let requests: Vec<&str> = commands.lines().filter(|line| line.starts_with("osb -")).collect();
    let [order, removal] = requests[..] else { panic!("{requests:?}") };
    let follow = commands.lines().find(|line| line.contains("/last_operation")).unwrap();
    let before: Vec<&str> = commands.lines().take_while(|line| *line != order).collect();
    let before = before.join("\n");
    let until = |ended: &str| {
        let end = format!("case $said in *{ended}*) break;; esac");
        format!(
            "for try in $(seq 1200); do said=$({follow}); {end}; sleep 0.1; done; echo \"$said\""
        )
    };
    let script =
        format!("{before}\n{order}\n{}\n{removal}\n{}", until("succeeded"), until("succeeded"));

    let output = Command::new("bash")
        .args(["-euc", &format!("kcp() {{ {KCP} \"$@\"; }}\n{script}")])
        .current_dir(folder.path())
        .output()
        .unwrap();

    let said = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<&str> = said.lines().filter(|line| !line.is_empty()).collect();
    let [ordered, made, removed, gone] = lines[..] else { panic!("{said}") };
    assert!(ordered.contains("dashboard_url") && ordered.contains("operation"), "{said}");
    assert!(made.contains(r#""state":"succeeded""#), "{said}");
    assert!(removed.contains(r#""operation""#), "{said}");
    assert!(gone.contains(r#""state":"succeeded""#), "{said}");
}
