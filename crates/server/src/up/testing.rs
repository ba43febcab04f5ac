//! A control plane for tests that need one with an issuer.

use console::Console;
use secrecy::SecretString;

use super::{GardenerVersion, Options, Up, access_tests::free_ports, landscape};
use crate::settings::{self, access::IssuerSettings};

/// A control plane in a folder of its own.
pub(crate) struct Started {
    up: Up,
    _folder: tempfile::TempDir,
}

pub(crate) async fn start() -> Started {
    let folder = tempfile::tempdir().unwrap();
    let options = Options {
        port: free_ports(),
        data: folder.path().to_owned(),
        database: None,
        speed: "max".parse().unwrap(),
        gardener: GardenerVersion::default(),
        settings: settings::load(None).unwrap(),
        provisioner: settings::provisioner::load(None).unwrap(),
    };
    Started { up: Up::start(options).await.unwrap(), _folder: folder }
}

impl Started {
    pub(super) fn up(&self) -> &Up {
        &self.up
    }

    /// How the landscape's issuer is trusted.
    pub(crate) fn issuer(&self) -> IssuerSettings {
        landscape::trusted(&self.up.connection.landscape, "kcp")
    }

    /// The user of the issuer.
    pub(crate) fn user(&self) -> (String, SecretString) {
        (self.up.connection.user.clone(), self.up.connection.password.clone())
    }

    /// The console of its broker, as `kcp broker` serves it.
    pub(crate) fn console(&self) -> Console {
        self.up.broker.console(None, Vec::new())
    }

    pub(crate) async fn stop(self) {
        self.up.stop().await;
    }
}
