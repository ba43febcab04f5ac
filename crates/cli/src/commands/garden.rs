//! The options of the simulated garden, for `kcp up` and `kcp landscape`.

use clap::Args;
use server::up::{GardenOptions, GardenerVersion};

/// The options of the garden.
#[derive(Args)]
pub(crate) struct GardenArgs {
    /// The version of the simulated Gardener: 1.65 or later.
    #[arg(long, value_name = "VERSION", default_value_t)]
    gardener: GardenerVersion,
    /// Leave out the webhooks of the provider extensions, as a bare Gardener API server.
    #[arg(long)]
    bare_gardener: bool,
}

impl GardenArgs {
    pub(crate) fn options(self) -> GardenOptions {
        GardenOptions { version: self.gardener, webhooks: !self.bare_gardener }
    }
}
