//! The installed `kubectl`, which must be there: these tests fail without it.

mod applying;
mod commands;

use std::{fs, process::Stdio};

use tokio::process::{Child, Command};

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
