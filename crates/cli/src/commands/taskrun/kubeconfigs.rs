//! The kubeconfigs of a run: fetched when a runtime's turn comes, in files for their owner alone, removed at the end.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, bail};
use uuid::Uuid;

use super::super::kubeconfig::write_file;
use crate::{client::Client, output, remote, view::Runtime};

/// Where kubeconfigs are.
pub(super) struct Kubeconfigs {
    /// The folder of the control plane on this machine, if one is named.
    data: Option<PathBuf>,
    folder: PathBuf,
    /// Whether the folder is of this run alone.
    own: bool,
    keep: bool,
}

impl Kubeconfigs {
    /// In this folder, or in one for this run.
    pub(super) fn new(
        data: Option<&Path>,
        folder: Option<&Path>,
        keep: bool,
    ) -> anyhow::Result<Self> {
        let data = data.map(Path::to_owned);
        if let Some(folder) = folder {
            if !folder.is_dir() {
                bail!("--kubeconfig-dir {} is no folder", folder.display());
            }
            return Ok(Self { data, folder: folder.to_owned(), own: false, keep });
        }
        let folder = std::env::temp_dir().join(format!("kcp-taskrun-{}", Uuid::new_v4().simple()));
        let mut builder = fs::DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(&folder).with_context(|| format!("{} cannot be made", folder.display()))?;
        Ok(Self { data, folder, own: true, keep })
    }

    /// The file with the kubeconfig of a runtime; one that is there is used again.
    pub(super) async fn file(&self, runtime: &Runtime) -> anyhow::Result<KubeconfigPath> {
        let shoot = &runtime.shoot_name;
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
        if shoot.is_empty() || !shoot.chars().all(plain) {
            bail!("the Shoot's name \"{}\" is no name of a file", output::harmless(shoot, ""));
        }
        let path = self.folder.join(format!("{shoot}.yaml"));
        if path.exists() {
            return Ok(KubeconfigPath { path, remove: false });
        }
        let account = &runtime.global_account_id;
        // A run may take longer than a token lives, and a client keeps the token that it began with.
        Box::pin(remote::prepare(self.data.as_deref())).await?;
        let source = Client::connect_to_kubeconfigs(self.data.as_deref())?;
        let kubeconfig = source.operator_kubeconfig(account, &runtime.id).await?;
        write_file(&path, &kubeconfig)?;
        Ok(KubeconfigPath { path, remove: !self.keep })
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
