//! Makes the gates to outside systems: all of a service's calls go by one clock, are counted, and use TLS.
//!
//! What a reader would get wrong: nothing else in this crate makes a gate. One that is made elsewhere counts nothing.

use std::{num::NonZeroUsize, sync::Arc};

use anyhow::{Context, ensure};
use base::{Clock, PlaintextHosts};
use clients::{
    CallLimits, Component, Gate,
    kubernetes::Clusters,
    observer::{NoObserver, Observer},
};
use serde::Deserialize;
use url::Url;

/// The one maker of gates of a service.
#[derive(Debug, Clone)]
pub struct Gates {
    clock: Clock,
    observer: Arc<dyn Observer>,
    plaintext: PlaintextHosts,
}

impl Gates {
    /// Gates whose calls nobody counts: for `kcp check` and tests.
    pub fn unobserved(clock: &Clock, plaintext: PlaintextHosts) -> Self {
        Self::observed(clock, plaintext, Arc::new(NoObserver))
    }

    /// Gates whose calls are counted.
    pub(crate) fn observed(
        clock: &Clock,
        plaintext: PlaintextHosts,
        observer: Arc<dyn Observer>,
    ) -> Self {
        Self { clock: clock.clone(), observer, plaintext }
    }

    /// The clock.
    pub(crate) fn clock(&self) -> &Clock {
        &self.clock
    }

    pub(crate) fn gate(&self, component: Component) -> Arc<Gate> {
        self.limited(component, CallLimits::DEFAULT)
    }

    pub(crate) fn limited(&self, component: Component, limits: CallLimits) -> Arc<Gate> {
        Gate::observed(component, limits, self.clock.clone(), self.observer.clone())
    }

    /// Clients of many clusters.
    pub(crate) fn clusters(&self, component: Component, kept: NonZeroUsize) -> Clusters {
        let clusters = Clusters::new(component, CallLimits::CLUSTER, self.clock.clone(), kept);
        clusters.observed(self.observer.clone())
    }

    /// Refuses an address that would be called in clear.
    pub(crate) fn check(&self, setting: &str, url: &Url) -> anyhow::Result<()> {
        ensure!(
            self.plaintext.allow(url),
            "{setting}: {url} would be called without TLS; use https, or name the host in transport.plaintext_hosts"
        );
        Ok(())
    }

    /// Refuses a kubeconfig whose servers would be called in clear.
    pub(crate) fn check_kubeconfig(&self, setting: &str, text: &str) -> anyhow::Result<()> {
        #[derive(Deserialize)]
        struct Kubeconfig {
            #[serde(default)]
            clusters: Vec<KubeconfigCluster>,
        }
        #[derive(Deserialize)]
        struct KubeconfigCluster {
            cluster: Option<Server>,
        }
        #[derive(Deserialize)]
        struct Server {
            server: Option<String>,
        }
        // What is no kubeconfig is refused by the client, with its own words.
        let Ok(kubeconfig) = serde_saphyr::from_str::<Kubeconfig>(text) else { return Ok(()) };
        let clusters = kubeconfig.clusters.into_iter().filter_map(|named| named.cluster);
        for server in clusters.filter_map(|cluster| cluster.server) {
            let url =
                server.parse().with_context(|| format!("{setting}: {server} is no address"))?;
            self.check(setting, &url)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::*;

    #[test]
    fn no_gate_is_made_elsewhere() {
        fn files(folder: &Path, found: &mut Vec<PathBuf>) {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    files(&path, found);
                } else if path.file_name().is_some_and(|name| name != "gates.rs") {
                    found.push(path);
                }
            }
        }
        let mut found = Vec::new();
        files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut found);

        assert!(found.len() > 50);
        for path in found {
            let text = std::fs::read_to_string(&path).unwrap();
            for maker in [
                "Gate::new(",
                "Gate::observed(",
                "Clusters::new(",
                "TokenSource::new(",
                "Http::new(",
            ] {
                assert!(!text.contains(maker), "{} has {maker}", path.display());
            }
        }
    }

    #[test]
    fn a_kubeconfig_that_leads_to_a_server_without_tls_is_refused() {
        let gates = Gates::unobserved(&Clock::running(), PlaintextHosts::default());
        let of = |server: &str| {
            let text = format!("clusters: [{{name: a, cluster: {{server: \"{server}\"}}}}]");
            gates.check_kubeconfig("gardener.kubeconfig", &text)
        };

        assert!(of("https://api.example.test").is_ok());
        assert!(of("http://127.0.0.1:8001").is_ok());
        let refused = of("http://api.example.test").unwrap_err().to_string();
        assert!(refused.contains("gardener.kubeconfig") && refused.contains("without TLS"));
    }
}
