//! The kubeconfigs of a run: fetched when a runtime's turn comes, in files for their owner alone, removed at the end, and with them the
//! access that they give.
//!
//! What a reader would get wrong: access is kept in mind before it is asked for. A run that is broken off may have been given it without
//! having read the answer.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use anyhow::{Context as _, bail};
use tokio::{sync::Semaphore, task::JoinSet};
use uuid::Uuid;

use super::super::kubeconfig::write_file;
use crate::{client::Client, output, remote, view::Runtime};

/// How many ends of access are asked for at a time.
const ENDINGS: usize = 16;

/// Access to a runtime: its global account and its id.
type Access = (String, String);

/// Where kubeconfigs are.
pub(super) struct Kubeconfigs {
    /// The folder of the control plane on this machine, if one is named.
    data: Option<PathBuf>,
    folder: PathBuf,
    /// Whether the folder is of this run alone.
    own: bool,
    keep: bool,
    /// What tells the access of this run from that of others.
    run: String,
    /// What was asked for.
    given: Mutex<Vec<Access>>,
}

impl Kubeconfigs {
    /// In this folder, or in one for this run.
    pub(super) fn new(
        data: Option<&Path>,
        folder: Option<&Path>,
        keep: bool,
    ) -> anyhow::Result<Self> {
        let data = data.map(Path::to_owned);
        let (run, given) = (Uuid::new_v4().to_string(), Mutex::default());
        if let Some(folder) = folder {
            if !folder.is_dir() {
                bail!("--kubeconfig-dir {} is not a folder", folder.display());
            }
            return Ok(Self { data, folder: folder.to_owned(), own: false, keep, run, given });
        }
        let folder = std::env::temp_dir().join(format!("kcp-taskrun-{}", Uuid::new_v4().simple()));
        let mut builder = fs::DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder
            .create(&folder)
            .with_context(|| format!("{} cannot be created", folder.display()))?;
        Ok(Self { data, folder, own: true, keep, run, given })
    }

    /// The file with the kubeconfig of a runtime; one that is there is used again.
    pub(super) async fn file(&self, runtime: &Runtime) -> anyhow::Result<KubeconfigPath> {
        let shoot = &runtime.shoot_name;
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
        if shoot.is_empty() || !shoot.chars().all(plain) {
            bail!("the Shoot's name \"{}\" cannot be a file name", output::harmless(shoot, ""));
        }
        let path = self.folder.join(format!("{shoot}.yaml"));
        if path.exists() {
            return Ok(KubeconfigPath { path, remove: false });
        }
        let account = &runtime.global_account_id;
        // A run may take longer than a token lives, and a client keeps the token that it began with.
        Box::pin(remote::prepare(self.data.as_deref())).await?;
        let source = Client::connect_to_kubeconfigs(self.data.as_deref())?;
        // Kubeconfigs that are kept are the person's own, as `kcp kubeconfig` gives them.
        let run = (!self.keep).then_some(self.run.as_str());
        if run.is_some() {
            self.given().push((account.clone(), runtime.id.clone()));
        }
        let kubeconfig = source.operator_kubeconfig(account, &runtime.id, run).await?;
        write_file(&path, &kubeconfig)?;
        Ok(KubeconfigPath { path, remove: !self.keep })
    }

    fn given(&self) -> std::sync::MutexGuard<'_, Vec<Access>> {
        self.given.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends the access to all runtimes that was given for this run. What cannot be ended is reported: it ends by itself after its time.
    pub(super) async fn end_access(&self) {
        let all = std::mem::take(&mut *self.given());
        if all.is_empty() {
            return;
        }
        if let Err(error) = self.ended(all).await {
            let error = output::harmless(&format!("{error:#}"), "");
            eprintln!("access to runtimes was not ended, and ends by itself: {error}");
        }
    }

    async fn ended(&self, all: Vec<Access>) -> anyhow::Result<()> {
        Box::pin(remote::prepare(self.data.as_deref())).await?;
        let source = Arc::new(Client::connect_to_kubeconfigs(self.data.as_deref())?);
        let turns = Arc::new(Semaphore::new(ENDINGS));
        let mut endings = JoinSet::new();
        for (account, runtime) in all {
            let (source, turns, run) = (source.clone(), turns.clone(), self.run.clone());
            endings.spawn(async move {
                let _turn = turns.acquire().await;
                source.end_operator_access(&account, &runtime, &run).await
            });
        }
        let mut problem = Ok(());
        while let Some(ended) = endings.join_next().await {
            problem = problem.and(ended?);
        }
        problem
    }

    /// Says where files are that stay.
    pub(super) fn tell(&self) {
        if self.keep {
            eprintln!("Kubeconfigs are kept in {}", self.folder.display());
        }
    }
}

impl Drop for Kubeconfigs {
    fn drop(&mut self) {
        if !self.own || self.keep {
            return;
        }
        if let Err(error) = fs::remove_dir_all(&self.folder)
            && error.kind() != io::ErrorKind::NotFound
        {
            eprintln!("{} cannot be removed: {error}", self.folder.display());
        }
    }
}

/// A kubeconfig that is there as long as this.
pub(super) struct KubeconfigPath {
    pub(super) path: PathBuf,
    remove: bool,
}

impl Drop for KubeconfigPath {
    fn drop(&mut self) {
        if self.remove {
            // The folder of the run goes with everything in it.
            let _ = fs::remove_file(&self.path);
        }
    }
}
