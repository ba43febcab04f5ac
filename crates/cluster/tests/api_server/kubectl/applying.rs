//! `kubectl` defines, applies and patches objects.

use super::{BOAT, DEFINITION, DEPLOYMENT, Kubectl};

#[tokio::test(flavor = "multi_thread")]
async fn kubectl_defines_applies_shows_patches_and_deletes() {
    let kubectl = Kubectl::new().await;
    kubectl.file("crd.yaml", DEFINITION);
    kubectl.file("boat.yaml", BOAT);
    kubectl.ok("apply -f crd.yaml").await;
    kubectl.ok("wait --for=condition=Established crd/boats.example.org --timeout=10s").await;

    assert_eq!(kubectl.ok("apply -f boat.yaml").await, "boat.example.org/anna created\n");
    assert_eq!(kubectl.ok("apply -f boat.yaml").await, "boat.example.org/anna unchanged\n");
    let status =
        "patch boat anna --subresource=status --type=merge -p {\"status\":{\"state\":\"afloat\"}}";
    let state = if kubectl.is_new().await {
        kubectl.ok(status).await;
        "afloat"
    } else {
        "<none>"
    };
    let table = kubectl.ok("get bo -A").await;
    let heading: Vec<&str> = table.lines().next().unwrap().split_whitespace().collect();
    assert_eq!(heading, ["NAMESPACE", "NAME", "HARBOUR", "STATE", "AGE"]);
    let row: Vec<&str> = table.lines().nth(1).unwrap().split_whitespace().take(4).collect();
    assert_eq!(row[..3], ["default", "anna", "kiel"]);
    assert!(row[3] == state || state == "<none>", "{table}");
    assert_eq!(kubectl.ok("get boats -l colour=red -o name").await, "boat.example.org/anna\n");
    assert_eq!(kubectl.ok("get boats -l colour=blue -o name").await, "");
    assert_eq!(kubectl.ok("get boats --field-selector metadata.name=other -o name").await, "");
    assert!(kubectl.ok("describe boat anna").await.contains("Harbour:  kiel"));
    if kubectl.is_new().await {
        assert!(kubectl.ok("explain boat.spec").await.contains("where it lies"));
    }
    kubectl.ok("patch boat anna --type=json -p [{\"op\":\"add\",\"path\":\"/spec/sails\",\"value\":2}]").await;
    assert_eq!(kubectl.ok("get boat anna -o jsonpath={.spec.sails}").await, "2");
    kubectl.ok("label boat anna colour=blue --overwrite").await;
    assert_eq!(kubectl.ok("get boats -l colour=blue -o name").await, "boat.example.org/anna\n");
    kubectl.ok("delete -f boat.yaml --timeout=10s").await;
    assert!(kubectl.run("get boat anna").await.unwrap_err().contains("NotFound"));
    kubectl.ok("delete crd boats.example.org --timeout=10s").await;
    assert!(kubectl.run("get boats").await.is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn kubectl_applies_on_the_server_and_is_told_about_conflicts() {
    let kubectl = Kubectl::new().await;
    kubectl.file("crd.yaml", DEFINITION);
    kubectl.file("boat.yaml", BOAT);
    kubectl.file("moved.yaml", &BOAT.replace("kiel", "oslo"));
    kubectl.ok("apply -f crd.yaml").await;

    kubectl.ok("apply --server-side --field-manager=one -f boat.yaml").await;
    let two = "apply --server-side --field-manager=two -f moved.yaml";
    let conflict = kubectl.run(two).await.unwrap_err();
    kubectl.ok(&format!("{two} --force-conflicts")).await;
    if kubectl.is_new().await {
        kubectl.ok("apply -f boat.yaml --dry-run=server").await;
    }

    assert!(conflict.contains(r#"conflict with "one": .spec.harbour"#), "{conflict}");
    assert_eq!(kubectl.ok("get boat anna -o jsonpath={.spec.harbour}").await, "oslo");
}

#[tokio::test(flavor = "multi_thread")]
async fn kubectl_applies_changes_to_its_own_kinds_as_strategic_merges() {
    let kubectl = Kubectl::new().await;
    kubectl.file("web.yaml", DEPLOYMENT);
    kubectl.file("next.yaml", &DEPLOYMENT.replace("web:1", "web:2"));
    kubectl.ok("apply -f web.yaml").await;

    kubectl.ok("apply -f next.yaml").await;
    kubectl.ok("set image deployment/web log=log:7").await;

    let images = "get deploy web -o jsonpath={.spec.template.spec.containers[*].image}";
    assert_eq!(kubectl.ok(images).await, "web:2 log:7");
    assert_eq!(kubectl.ok("get deploy web -o jsonpath={.metadata.generation}").await, "3");
    assert!(kubectl.ok("describe deploy web").await.contains("log:7"));
}
