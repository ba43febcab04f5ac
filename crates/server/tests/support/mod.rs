//! `kcp up` in the process of a test.

use std::{env, fs::File, net::TcpListener, path::Path};

use server::{Settings, settings, up::Options};

/// A range of four ports that nobody uses right now.
pub(crate) fn free_ports() -> u16 {
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

/// The embedded database in this folder, with these settings.
pub(crate) fn options(port: u16, data: &Path, speed: &str, settings: Settings) -> Options {
    Options {
        port: Some(port),
        data: data.to_owned(),
        database: None,
        speed: speed.parse().unwrap(),
        garden: server::up::GardenOptions::default(),
        settings,
        provisioner: settings::provisioner::load(None).unwrap(),
    }
}
