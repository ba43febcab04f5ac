//! The parts of the tour.

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
    time::Duration,
};

use anyhow::{Context as _, bail};
use base::Clock;
use domain::OperationId;
use jiff::SignedDuration;
use reqwest::Method;
use serde_json::json;
use uuid::Uuid;

use super::{guide::Guide, restart};
use crate::{
    client::Client,
    commands::{kubeconfig::KubeconfigFile, operations},
    connection, hint,
    output::{self, Format},
};

/// How long the trouble lasts if nobody ends it.
const TROUBLE_SECONDS: u64 = 900;
const PAUSE: Duration = Duration::from_millis(300);
/// How long an order may take until it meets the trouble.
const PATIENCE: SignedDuration = SignedDuration::from_secs(120);

/// What the tour has made so far.
pub(super) struct Walk<'a> {
    data: Option<&'a Path>,
    kcp: String,
    client: Client,
    landscape: Client,
    name: String,
    trouble: Option<u64>,
    instance: Option<String>,
}

impl<'a> Walk<'a> {
    /// Finds the control plane, and a name that is free.
    pub(super) async fn begin(data: Option<&'a Path>, name: String) -> anyhow::Result<Self> {
        let client = Client::connect(data)?;
        let landscape = Client::connect_to_landscape(data)?;
        let all = [("state", "all".to_owned()), ("op_detail", "last".to_owned())];
        if client.runtimes_seen(&all).await?.iter().any(|it| it.name() == name) {
            bail!("a runtime is called \"{name}\" already: choose another name with --name");
        }
        let kcp = hint::command(data);
        Ok(Self { data, kcp, client, landscape, name, trouble: None, instance: None })
    }

    /// The runtime, as long as it is there.
    pub(super) fn instance(&self) -> Option<&str> {
        self.instance.as_deref()
    }

    /// All parts, one after the other.
    pub(super) async fn through(&mut self, guide: &mut Guide) -> anyhow::Result<()> {
        self.break_gardener(guide).await?;
        let (instance, operation) = self.order(guide).await?;
        self.see_it_wait(guide, &operation).await?;
        self.restart(guide).await?;
        self.heal(guide, &operation).await?;
        self.enter(guide, &instance).await?;
        self.remove(guide, &instance).await
    }

    async fn break_gardener(&mut self, guide: &mut Guide) -> anyhow::Result<()> {
        let text = "Gardener makes the clusters. Here it is simulated, as every outside system is, and\n\
                    can be broken: it answers nothing until the trouble is ended.";
        let command = format!(
            "{} landscape trouble make gardener down --seconds {TROUBLE_SECONDS}",
            self.kcp
        );
        guide.part("break Gardener", text, &command).await?;
        let body = json!({
            "system": "gardener", "seconds": TROUBLE_SECONDS, "trouble": {"kind": "down"},
        });
        let made = self.landscape.change("making trouble", Method::POST, "/troubles", Some(&body));
        let id = made.await?["id"].as_u64().context("the landscape named no trouble")?;
        self.trouble = Some(id);
        output::print(&format!("trouble {id}: gardener is down\n"))
    }

    async fn order(&mut self, guide: &mut Guide) -> anyhow::Result<(String, OperationId)> {
        let text = "A runtime is ordered through the Open Service Broker API, as a platform does it. The\n\
                    order is stored before it is answered: from here on it is finished, whatever happens.";
        let command = format!("{} provision --plan aws --name {}", self.kcp, self.name);
        guide.part("order a runtime", text, &command).await?;
        let plan = self.client.catalog(None).await?.plan("aws")?;
        let instance = Uuid::new_v4().to_string();
        let order = json!({
            "service_id": plan.service_id,
            "plan_id": plan.plan_id,
            "context": {
                "platform": "kcp", "globalaccount_id": "local-account",
                "subaccount_id": "local-subaccount", "user_id": "developer@example.test",
            },
            "parameters": {"name": self.name},
        });
        let ordered = self.client.order(None, &instance, &order).await?;
        self.instance = Some(instance.clone());
        let operation = ordered.operation.context("the broker named no operation")?;
        output::print(&format!("Instance   {instance}\nOperation  {operation}\n"))?;
        Ok((instance, operation))
    }

    async fn see_it_wait(&self, guide: &mut Guide, id: &OperationId) -> anyhow::Result<()> {
        let text = "The order meets the trouble. Its step fails, is tried again, and tells why, when the\n\
                    next try is, and what happens at the limit.";
        let command = format!("{} operations {id}", self.kcp);
        guide.part("see it wait", text, &command).await?;
        let clock = Clock::running();
        let until = clock.now() + PATIENCE;
        while self.client.waiting(id).await?["kind"] != "failing" {
            if clock.now() > until {
                bail!("operation {id} did not meet the trouble within {PATIENCE:#}");
            }
            clock.sleep(PAUSE).await;
        }
        operations::show::show(&self.client, id, Format::Table).await
    }

    async fn restart(&mut self, guide: &mut Guide) -> anyhow::Result<()> {
        let text = "The process may die at any moment. In the terminal of kcp up: kill it with -9, and\n\
                    start it again. The order is carried on with where it was.";
        if !guide.has_company() {
            let text =
                "The process may die at any moment; this part needs a person and is left out.";
            return guide.part("kill -9 and start again", text, "").await;
        }
        let before = restart::token(self.data).unwrap_or_default();
        let pid = connection::find(self.data).ok().and_then(|it| it.pid);
        let pid = pid.map_or_else(|| "PID".to_owned(), |pid| pid.to_string());
        let command = format!("kill -9 {pid}   # and then start kcp up again");
        guide.part("kill -9 and start again", text, &command).await?;
        output::print("Waiting until it is back; Enter leaves this part out.\n")?;
        if restart::wait(guide, self.data, &before).await? {
            self.client = Client::connect(self.data)?;
            self.landscape = Client::connect_to_landscape(self.data)?;
        }
        Ok(())
    }

    async fn heal(&mut self, guide: &mut Guide, id: &OperationId) -> anyhow::Result<()> {
        let text = "Gardener comes back. The next try succeeds, and nothing is made twice.";
        let number = self.trouble.unwrap_or_default();
        let command = format!(
            "{kcp} landscape trouble end {number} && {kcp} operations {id} --watch",
            kcp = self.kcp
        );
        guide.part("watch it heal", text, &command).await?;
        self.end_trouble().await?;
        succeeded(operations::follow::follow(&self.client, id).await?)
    }

    async fn enter(&self, guide: &mut Guide, instance: &str) -> anyhow::Result<()> {
        let text = "The runtime is a Kubernetes API (simulated: no container runs in it). A binding is a\n\
                    kubeconfig with a token that expires.";
        let command = format!(
            "{} bind {name} -o {name}.yaml && kubectl --kubeconfig {name}.yaml get namespaces",
            self.kcp,
            name = self.name
        );
        guide.part("enter the runtime", text, &command).await?;
        let bound = self.client.bind(instance, &Uuid::new_v4().to_string(), Some(600)).await?;
        let path = std::env::temp_dir().join(format!("kcp-tour-{instance}.yaml"));
        KubeconfigFile::at(path.clone()).write(&bound.credentials.kubeconfig)?;
        let listed = kubectl(path.clone()).await;
        std::fs::remove_file(&path).ok();
        output::print(&listed?)
    }

    async fn remove(&mut self, guide: &mut Guide, instance: &str) -> anyhow::Result<()> {
        let text =
            "Deprovisioning always finishes: what cannot be removed is listed by kcp leftovers.";
        let command = format!("{} deprovision {} --watch", self.kcp, self.name);
        guide.part("remove it", text, &command).await?;
        let operation = self.client.remove(instance).await?;
        succeeded(operations::follow::follow(&self.client, &operation).await?)?;
        self.instance = None;
        Ok(())
    }

    /// Ends the trouble that was made; another one may have ended it before.
    pub(super) async fn end_trouble(&mut self) -> anyhow::Result<()> {
        let Some(id) = self.trouble.take() else { return Ok(()) };
        let all = self.landscape.look("listing trouble", "/troubles", &[]).await?;
        let mut all = all["troubles"].as_array().into_iter().flatten();
        if all.any(|one| one["id"] == id) {
            let path = format!("/troubles/{id}");
            self.landscape.change("ending trouble", Method::DELETE, &path, None).await?;
        }
        output::print(&format!("trouble {id} has ended\n"))
    }
}

fn succeeded(code: ExitCode) -> anyhow::Result<()> {
    if code != ExitCode::SUCCESS {
        bail!("the operation did not succeed");
    }
    Ok(())
}

/// The output of kubectl, or how to get it.
async fn kubectl(kubeconfig: PathBuf) -> anyhow::Result<String> {
    let mut command = tokio::process::Command::new("kubectl");
    let command = command.arg("--kubeconfig").arg(&kubeconfig).args(["get", "namespaces"]);
    match command.output().await {
        Err(_) => Ok("kubectl is not installed: this would list the runtime's namespaces\n".into()),
        Ok(output) if output.status.success() => {
            Ok(String::from_utf8_lossy(&output.stdout).into_owned())
        }
        Ok(output) => bail!("kubectl: {}", String::from_utf8_lossy(&output.stderr).trim()),
    }
}
