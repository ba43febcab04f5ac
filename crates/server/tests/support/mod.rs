//! `kcp up` in the process of a test.

use std::{net::TcpListener, path::Path};

use server::{Settings, settings, up::Options};

/// A range of four ports that nobody uses right now.
pub(crate) fn free_ports() -> u16 {
    loop {
        let port = fastrand::u16(20_000..32_000);
        if (port..port + 4).all(|port| TcpListener::bind(("127.0.0.1", port)).is_ok()) {
            return port;
        }
    }
}

/// The embedded database in this folder, with these settings.
pub(crate) fn options(port: u16, data: &Path, speed: &str, settings: Settings) -> Options {
    Options {
        port,
        data: data.to_owned(),
        database: None,
        speed: speed.parse().unwrap(),
        gardener: server::up::GardenerVersion::default(),
        settings,
        provisioner: settings::provisioner::load(None).unwrap(),
    }
}
