//! Volumes of accounts, and what is offered where.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::store::State;

/// One volume.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Volume {
    /// The key whose account it is in.
    pub(super) key: String,
    pub(super) region: String,
    pub(super) in_use: bool,
    pub(super) deleting_since: Option<Timestamp>,
    /// It cannot be deleted, and nobody knows why.
    pub(super) cursed: bool,
}

/// Everything EC2 keeps.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Records {
    pub(super) keys: BTreeSet<String>,
    pub(super) refused_keys: BTreeSet<String>,
    /// Actions that nobody may take.
    pub(super) forbidden: BTreeSet<String>,
    /// Regions that a key's account has not opted in to.
    #[serde(default)]
    pub(super) closed: BTreeSet<(String, String)>,
    pub(super) volumes: BTreeMap<String, Volume>,
    pub(super) made: u64,
    /// Zones by region and machine type; all three of a region if nothing is said.
    pub(super) offerings: BTreeMap<String, Vec<String>>,
    pub(super) page: Option<usize>,
}

/// A change.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Event {
    KeyAdded { key: String },
    KeyRefused { key: String, on: bool },
    Forbidden { action: String, on: bool },
    RegionClosed { key: String, region: String, on: bool },
    VolumeSet { id: String, volume: Volume },
    VolumeDeleting { id: String, at: Timestamp },
    VolumeGone { id: String },
    Offered { region: String, machine: String, zones: Vec<String> },
    PageSet { size: Option<usize> },
}

/// Under which an offering is kept.
pub(super) fn offering(region: &str, machine: &str) -> String {
    format!("{region} {machine}")
}

impl State for Records {
    type Event = Event;

    fn apply(&mut self, event: Event) {
        match event {
            Event::KeyAdded { key } => drop(self.keys.insert(key)),
            Event::KeyRefused { key, on: true } => drop(self.refused_keys.insert(key)),
            Event::KeyRefused { key, on: false } => drop(self.refused_keys.remove(&key)),
            Event::Forbidden { action, on: true } => drop(self.forbidden.insert(action)),
            Event::Forbidden { action, on: false } => drop(self.forbidden.remove(&action)),
            Event::RegionClosed { key, region, on: true } => {
                self.closed.insert((key, region));
            }
            Event::RegionClosed { key, region, on: false } => {
                self.closed.remove(&(key, region));
            }
            Event::VolumeSet { id, volume } => {
                self.made += 1;
                self.volumes.insert(id, volume);
            }
            Event::VolumeDeleting { id, at } => {
                if let Some(volume) = self.volumes.get_mut(&id) {
                    volume.deleting_since = volume.deleting_since.or(Some(at));
                }
            }
            Event::VolumeGone { id } => drop(self.volumes.remove(&id)),
            Event::Offered { region, machine, zones } => {
                self.offerings.insert(offering(&region, &machine), zones);
            }
            Event::PageSet { size } => self.page = size,
        }
    }

    fn object(event: &Event) -> String {
        match event {
            Event::KeyAdded { key } => format!("add key/{key}"),
            Event::KeyRefused { key, .. } => format!("refuse key/{key}"),
            Event::Forbidden { action, .. } => format!("forbid action/{action}"),
            Event::RegionClosed { key, region, .. } => format!("close region/{key}/{region}"),
            Event::VolumeSet { id, .. } => format!("set volume/{id}"),
            Event::VolumeDeleting { id, .. } => format!("DeleteVolume volume/{id}"),
            Event::VolumeGone { id } => format!("forget volume/{id}"),
            Event::Offered { region, machine, .. } => format!("offer machine/{region}/{machine}"),
            Event::PageSet { .. } => "switch ec2".into(),
        }
    }
}
