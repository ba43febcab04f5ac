//! The landscape without a control plane: the contract of `kcp landscape`.
//!
//! What a reader would get wrong: the connection file names the addresses of the whole range. What
//! answers there, apart from the landscape, is up to its caller; the settings for it are in the folder.

use std::path::PathBuf;

use anyhow::Context;
use base::Clock;

use super::{
    Connection, GRACE, GardenOptions, Speed, files,
    folder::{Folder, SEALING_KEY},
    landscape,
};
use crate::{
    Settings, keys,
    serving::{Serving, listen},
};

/// Options of `kcp landscape`.
#[derive(Debug)]
pub struct LandscapeOptions {
    /// The first port of the range; the landscape has the third, its clusters have the fourth.
    pub port: u16,
    /// Where it keeps everything.
    pub data: PathBuf,
    /// How fast the simulated world is.
    pub speed: Speed,
    /// What the simulated garden plays.
    pub garden: GardenOptions,
    /// Everything else.
    pub settings: Settings,
}

/// Serves the landscape until it is asked to stop.
pub async fn run(options: LandscapeOptions) -> anyhow::Result<()> {
    let LandscapeOptions { port, data, speed, garden, settings } = options;
    port.checked_add(3).context("--port leaves no room for three more ports")?;
    let folder = Folder::open(&data)?;
    let credentials = folder.credentials()?;
    let listener = listen(port + 2, "the landscape").await?;
    let clusters_port = listen(port + 3, "the simulated clusters").await?;
    let clock = Clock::running();
    let address = listener.local_addr()?;
    let landscape = landscape::landscape(&folder, &credentials, &settings, address, speed, &clock)?;
    let token = landscape::token(landscape.issuer(), &credentials)?;
    let connection = Connection::new(port, token, &credentials);
    let mut serving = Serving::new(&clock);
    serving.add("the landscape", listener, landscape::router(&landscape), landscape::ACCEPTANCE);
    let clusters = landscape::clusters(&folder, &landscape, garden, clusters_port).await?;
    // A broker and a provisioner that are started with these files share the key.
    keys::read_or_make(&folder.file(SEALING_KEY))?;
    files::write(&folder, &credentials, &connection, speed)?;
    connection.write(&folder)?;
    println!(
        "the landscape runs at {}, its clusters at {}, its data is in {}",
        connection.landscape,
        connection.clusters,
        folder.path().display()
    );
    crate::shutdown::requested().await?;
    Connection::remove(&folder);
    tokio::join!(serving.stop(GRACE), landscape::stop(&clusters, &clock, GRACE));
    Ok(())
}
