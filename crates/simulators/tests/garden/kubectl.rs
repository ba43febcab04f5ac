//! The installed `kubectl`, which must be there.

use std::{fs, process::Stdio};

use simulators::{garden, pace::Speed};
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::Command,
};

use crate::support::{Garden, shoot, whole};

fn kubectl(garden: &Garden, arguments: &str) -> Command {
    let folder = garden.folder();
    let mut command = Command::new("kubectl");
    command.args(arguments.split_whitespace());
    command.env("KUBECONFIG", folder.join("kubeconfig")).env("HOME", folder);
    command.current_dir(folder).kill_on_drop(true);
    command
}

async fn run(garden: &Garden, arguments: &str) -> Result<String, String> {
    let output = kubectl(garden, arguments).output().await.expect("kubectl must be installed");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    if output.status.success() { Ok(text(&output.stdout)) } else { Err(text(&output.stderr)) }
}

/// Whether it knows the third version of `OpenAPI`; Debian's own does not.
async fn is_new(garden: &Garden) -> bool {
    run(garden, "patch --help").await.unwrap().contains("--subresource")
}

async fn ready() -> Option<Garden> {
    let garden = Garden::ours(Speed::Times(20.0)).await?;
    let file = garden.server().kubeconfig(garden::CLUSTER, "tester").unwrap();
    fs::write(garden.folder().join("kubeconfig"), file).unwrap();
    let mut applied = whole(&shoot("hand-made"));
    applied["metadata"]["namespace"] = garden.settings.namespace().into();
    fs::write(garden.folder().join("shoot.json"), applied.to_string()).unwrap();
    Some(garden)
}

#[tokio::test(flavor = "multi_thread")]
async fn kubectl_shows_the_life_of_a_shoot_as_it_goes_by() {
    let Some(garden) = ready().await else { return };
    let mut watching = kubectl(&garden, "get shoots -A -w").stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(watching.stdout.take().unwrap()).lines();
    let mut shown = Vec::new();

    run(&garden, "apply -f shoot.json").await.unwrap();
    // However late kubectl begins to watch, it shows the Shoot before anything has happened to it.
    for _heading_and_row in 0..2 {
        shown.push(lines.next_line().await.unwrap().unwrap());
    }
    let _controller = garden.controller();
    while let Some(line) = lines.next_line().await.unwrap() {
        let is_ready = line.contains("healthy");
        shown.push(line);
        if is_ready {
            break;
        }
    }
    let refused = run(&garden, "delete shoot hand-made -n garden-kyma").await.unwrap_err();
    let confirm =
        "annotate shoot hand-made -n garden-kyma confirmation.gardener.cloud/deletion=true";
    run(&garden, confirm).await.unwrap();
    run(&garden, "delete shoot hand-made -n garden-kyma --timeout=30s").await.unwrap();
    while let Some(line) = lines.next_line().await.unwrap() {
        let is_last = line.contains("Delete") && line.contains("Succeeded");
        shown.push(line);
        if is_last {
            break;
        }
    }
    watching.kill().await.unwrap();

    let heading = shown[0].split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(
        heading,
        "NAMESPACE NAME CLOUDPROFILE PROVIDER REGION K8S VERSION HIBERNATION LAST OPERATION STATUS AGE"
    );
    let rows: Vec<Vec<&str>> =
        shown[1..].iter().map(|line| line.split_whitespace().collect()).collect();
    assert!(rows.iter().all(|row| row[..7]
        == ["garden-kyma", "hand-made", "aws", "aws", "eu-central-1", "1.25.6", "Awake"]));
    assert_eq!(rows[0][7..9], ["<pending>", "<pending>"]);
    // Such as `Create Processing (45%)`.
    let operation = |row: &Vec<&'_ str>| {
        let (kind, progress) = (row[7], row[9].strip_prefix('(')?.strip_suffix("%)")?);
        Some((kind.to_owned(), progress.to_owned()))
    };
    let mut progress: Vec<(String, String)> = rows.iter().filter_map(operation).collect();
    progress.dedup();
    let (created, deleted): (Vec<_>, Vec<_>) =
        progress.into_iter().partition(|(kind, _)| kind == "Create");
    let percents =
        |all: &[(String, String)]| all.iter().map(|(_, p)| p.clone()).collect::<Vec<_>>();
    assert_eq!(percents(&created), ["0", "5", "15", "30", "45", "60", "75", "90", "100"]);
    assert_eq!(percents(&deleted), ["0", "15", "30", "50", "70", "85", "100"]);
    assert!(refused.contains("confirmation.gardener.cloud/deletion"), "{refused}");
}

#[tokio::test(flavor = "multi_thread")]
async fn kubectl_shows_what_the_garden_holds() {
    let Some(garden) = ready().await else { return };

    let profiles = run(&garden, "get cloudprofiles -o name").await.unwrap();
    let seeds = run(&garden, "get seeds").await.unwrap();
    let project = run(&garden, "get project kyma -o jsonpath={.status.phase}").await.unwrap();
    let wide = run(&garden, "get shoots -A -o wide").await.unwrap_or_default();
    let owners = run(&garden, "get project kyma").await.unwrap();
    let bound = run(&garden, "get secretbinding aws-free-1 -n garden-kyma").await.unwrap();
    let shared = "get secretbindings -n garden-kyma -l shared=true,hyperscalerType=azure -o name";
    let shared = run(&garden, shared).await.unwrap();
    let credentials =
        run(&garden, "get credentialsbindings -n garden-kyma -l euAccess=true -o name")
            .await
            .unwrap();
    let key = "get secret aws-free-1 -n garden-kyma -o jsonpath={.data.accessKeyID}";
    let key = run(&garden, key).await.unwrap();

    assert_eq!(profiles.lines().count(), 5);
    assert!(seeds.contains("aws-ha-eu1") && seeds.contains("Ready"), "{seeds}");
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        words(&owners)
            .starts_with("NAME NAMESPACE STATUS OWNER CREATOR AGE kyma garden-kyma Ready")
    );
    assert!(words(&bound).contains("aws-free-1 garden-kyma/aws-free-1 aws"), "{bound}");
    assert!(wide.is_empty(), "there are no Shoots yet: {wide}");
    assert_eq!(project, "Ready");
    assert_eq!(shared.lines().count(), 2);
    assert_eq!(credentials.lines().count(), 4);
    assert!(!key.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn kubectl_explains_the_fields_of_shoots_and_of_the_other_kinds() {
    let Some(garden) = ready().await else { return };
    if !is_new(&garden).await {
        eprintln!("not run: this kubectl does not read version 3 of OpenAPI");
        return;
    }

    let server = run(&garden, "explain shoot.spec.kubernetes.kubeAPIServer").await.unwrap();
    let issuer =
        run(&garden, "explain shoot.spec.kubernetes.kubeAPIServer.structuredAuthentication").await;

    assert!(server.contains("structuredAuthentication"), "{server}");
    assert!(!server.contains("enableBasicAuthentication"), "1.117 does not have it: {server}");
    assert!(issuer.unwrap().contains("configMapName"));
    for (field, named) in [
        ("seed.spec.networks", "shootDefaults"),
        ("cloudprofile.spec.machineTypes", "usable"),
        ("quota.spec", "clusterLifetimeDays"),
        ("project.spec", "tolerations"),
        ("exposureclass.scheduling", "seedSelector"),
    ] {
        let explained = run(&garden, &format!("explain {field}")).await.unwrap();
        assert!(explained.contains(named), "{field}: {explained}");
    }
}
