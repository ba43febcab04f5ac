//! A control plane for tests that need one with an issuer.

use std::{env, fs::File, net::TcpListener};

use console::Console;
use secrecy::SecretString;

use super::{GardenOptions, Options, Up, landscape};
use crate::{
    Settings,
    settings::{self, access::IssuerSettings},
};

/// A control plane in a folder of its own.
pub(crate) struct TestControlPlane {
    up: Up,
    _folder: tempfile::TempDir,
}

pub(crate) async fn start() -> TestControlPlane {
    start_with(settings::load(None).unwrap()).await
}

/// One whose broker has these settings.
pub(super) async fn start_with(settings: Settings) -> TestControlPlane {
    let folder = tempfile::tempdir().unwrap();
    let options = Options {
        port: Some(free_ports()),
        data: folder.path().to_owned(),
        database: None,
        speed: "max".parse().unwrap(),
        garden: GardenOptions::default(),
        settings,
        provisioner: settings::provisioner::load(None).unwrap(),
    };
    TestControlPlane { up: Up::start(options).await.unwrap(), _folder: folder }
}

/// A range of four ports that nobody uses right now.
pub(super) fn free_ports() -> u16 {
    loop {
        let port = 20_000 + 4 * fastrand::u16(0..3_000);
        let name = format!("kcp-test-ports-{port}");
        // Another user's file is one that cannot be opened.
        let Ok(file) = File::create(env::temp_dir().join(name)) else { continue };
        let is_free = |port| TcpListener::bind(("127.0.0.1", port)).is_ok();
        if file.try_lock().is_ok() && (port..port + 4).all(is_free) {
            // No other test gets them until this process ends.
            Box::leak(Box::new(file));
            return port;
        }
    }
}

impl TestControlPlane {
    pub(super) fn up(&self) -> &Up {
        &self.up
    }

    /// How the landscape's issuer is trusted.
    pub(crate) fn issuer(&self) -> IssuerSettings {
        landscape::trusted(&self.up.connection.landscape)
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
