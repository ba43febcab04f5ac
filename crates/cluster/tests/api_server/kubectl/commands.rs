//! `kubectl` watches, creates, scales, and asks what it may do.

use tokio::io::{AsyncBufReadExt, BufReader};

use super::{BOAT, DEFINITION, Kubectl};

#[tokio::test(flavor = "multi_thread")]
async fn kubectl_watches_changes_as_they_happen() {
    let kubectl = Kubectl::new().await;
    kubectl.file("crd.yaml", DEFINITION);
    kubectl.file("boat.yaml", BOAT);
    kubectl.ok("apply -f crd.yaml").await;
    kubectl.ok("apply -f boat.yaml").await;
    let mut watching = kubectl.start("get boats -w");
    let mut lines = BufReader::new(watching.stdout.take().unwrap()).lines();
    let mut next = async || lines.next_line().await.unwrap().unwrap();

    let (_, first) = (next().await, next().await);
    kubectl.ok("patch boat anna --type=merge -p {\"spec\":{\"harbour\":\"riga\"}}").await;
    let changed = next().await;
    kubectl.ok("delete boat anna").await;
    let deleted = next().await;
    watching.kill().await.unwrap();

    assert!(first.contains("kiel") && changed.contains("riga") && deleted.contains("riga"));
}

#[tokio::test(flavor = "multi_thread")]
async fn kubectl_creates_without_files() {
    let kubectl = Kubectl::new().await;
    for what in [
        "namespace team",
        "configmap a -n team --from-literal=key=value",
        "secret generic s -n team --from-literal=key=value",
        "serviceaccount bob -n team",
        "role reader -n team --verb=get,list --resource=pods",
        "rolebinding bobs -n team --role=reader --serviceaccount=team:bob",
        "clusterrole all --verb=* --resource=*",
        "clusterrolebinding bob-all --clusterrole=all --user=bob",
        "deployment hello -n team --image=nginx --replicas=2 --port=80 -- serve --all",
    ] {
        kubectl.ok(&format!("create {what}")).await;
    }

    if kubectl.is_new().await {
        let token = kubectl.ok("create token bob -n team --duration=1h").await;
        assert_eq!(token.split('.').count(), 3);
    }
    let subject = kubectl.ok("get rolebinding bobs -n team -o jsonpath={.subjects[0].name}").await;
    let value = kubectl.ok("get secret s -n team -o jsonpath={.data.key}").await;
    let described = kubectl.ok("describe clusterrole all").await;
    let container = kubectl
        .ok("get deploy hello -n team -o jsonpath={.spec.template.spec.containers[0]}")
        .await;
    kubectl.ok("delete namespace team --timeout=10s").await;

    assert_eq!((subject.as_str(), value.as_str()), ("bob", "dmFsdWU="));
    assert!(described.contains("[*]"), "{described}");
    for word in ["nginx", "80", "serve", "--all"] {
        assert!(container.contains(word), "{container}");
    }
    assert!(kubectl.run("get secret s -n team").await.is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn kubectl_scales_and_asks_what_it_may_do_and_what_a_kind_is() {
    let kubectl = Kubectl::new().await;
    kubectl.ok("create deployment hello --image=nginx").await;

    kubectl.ok("scale deployment hello --replicas=5").await;
    kubectl.ok("scale deployment hello --current-replicas=5 --replicas=3").await;
    let wrong = kubectl.run("scale deployment hello --current-replicas=5 --replicas=1").await;

    assert!(wrong.is_err());
    assert_eq!(kubectl.ok("get deploy hello -o jsonpath={.spec.replicas}").await, "3");
    assert_eq!(kubectl.ok("auth can-i create deployments").await, "yes\n");
    assert_eq!(kubectl.ok("auth can-i get /healthz").await, "yes\n");
    if kubectl.is_new().await {
        assert!(kubectl.ok("auth whoami").await.contains("Username"));
        assert!(kubectl.ok("explain deployment.spec").await.contains("replicas"));
        assert!(kubectl.ok("explain secret").await.contains("stringData"));
    }
}
