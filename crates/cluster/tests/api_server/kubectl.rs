//! The installed `kubectl`, which must be there: these tests fail without it.

use std::{fs, process::Stdio};

use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::{Child, Command},
};

use crate::support::{Running, start};

const DEFINITION: &str = r"
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: boats.example.org}
spec:
  group: example.org
  scope: Namespaced
  names: {plural: boats, kind: Boat, shortNames: [bo]}
  versions:
  - name: v1beta1
    served: true
    storage: true
    subresources: {status: {}}
    additionalPrinterColumns:
    - {name: Harbour, type: string, jsonPath: .spec.harbour}
    - {name: State, type: string, jsonPath: .status.state}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: {type: object, properties: {harbour: {type: string, description: where it lies}}}
";

const BOAT: &str = r"
apiVersion: example.org/v1beta1
kind: Boat
metadata: {name: anna, namespace: default, labels: {colour: red}}
spec: {harbour: kiel}
";

const DEPLOYMENT: &str = r"
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: default}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: web, image: 'web:1'}
      - {name: log, image: 'log:1'}
";

struct Kubectl {
    running: Running,
}

impl Kubectl {
    async fn new() -> Self {
        let running = start().await;
        let file = running.server.kubeconfig("c", "tester").unwrap();
        fs::write(running.folder.path().join("kubeconfig"), file).unwrap();
        Self { running }
    }

    fn command(&self, arguments: &str) -> Command {
        let folder = self.running.folder.path();
        let mut command = Command::new("kubectl");
        command.args(arguments.split_whitespace());
        command.env("KUBECONFIG", folder.join("kubeconfig")).env("HOME", folder);
        command.current_dir(folder).kill_on_drop(true);
        command
    }

    async fn run(&self, arguments: &str) -> Result<String, String> {
        let output = self.command(arguments).output().await.expect("kubectl must be installed");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        if output.status.success() { Ok(text(&output.stdout)) } else { Err(text(&output.stderr)) }
    }

    async fn ok(&self, arguments: &str) -> String {
        self.run(arguments).await.unwrap_or_else(|error| panic!("kubectl {arguments}: {error}"))
    }

    /// Whether it is new enough to know subresources, tokens, and the third version of `OpenAPI`;
    /// Debian's own is not.
    async fn is_new(&self) -> bool {
        self.ok("patch --help").await.contains("--subresource")
    }

    fn file(&self, name: &str, content: &str) {
        fs::write(self.running.folder.path().join(name), content).unwrap();
    }

    fn start(&self, arguments: &str) -> Child {
        self.command(arguments).stdout(Stdio::piped()).spawn().expect("kubectl must be installed")
    }
}

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
