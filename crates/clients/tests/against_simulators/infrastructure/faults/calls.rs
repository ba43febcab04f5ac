//! Every call of the four clients, as a table. A call that is missing here meets no fault.

use std::{collections::BTreeMap, future::Future, pin::Pin, time::Duration};

use clients::{
    CallLimits, Error,
    aws::{Aws, Market},
    azure::Azure,
    cis::{self, Edition},
    reconciler::{Reconciler, Status},
};
use url::Url;

use super::super::{
    payload::cluster,
    support::noon,
    world::{self, cis_gates, cis_settings},
};

pub(super) type CallFuture = Pin<Box<dyn Future<Output = Result<(), Error>> + Send>>;

/// A call, whether it only looks, and whether a thing that is not there is fine.
pub(super) struct Call {
    pub(super) name: &'static str,
    pub(super) prepared: fn(Url, Url, CallLimits) -> Box<dyn Fn() -> CallFuture>,
    pub(super) reads: bool,
    pub(super) absent_is_fine: bool,
}

/// A [`Call`] of a client that `$build` makes, from the addresses of the system and of the issuer.
macro_rules! call {
    ($name:literal, $reads:literal, $fine:literal, $build:ident, |$client:ident| $made:expr) => {
        Call {
            name: $name,
            prepared: |url, issuer, limits| {
                let client = $build(url, issuer, limits);
                Box::new(move || {
                    let $client = client.clone();
                    Box::pin(async move { $made.await.map(|_| ()) })
                })
            },
            reads: $reads,
            absent_is_fine: $fine,
        }
    };
}

pub(super) fn reconciler(url: Url, _: Url, limits: CallLimits) -> Reconciler {
    world::reconciler(url, limits, &noon())
}

fn azure(url: Url, issuer: Url, limits: CallLimits) -> Azure {
    world::azure(issuer, url, "s", limits, &noon())
}

fn aws(url: Url, _: Url, limits: CallLimits) -> Aws {
    world::aws(url, limits, &noon())
}

fn accounts(url: Url, issuer: Url, limits: CallLimits) -> cis::Accounts {
    let (gate, tokens) = cis_gates(limits, &noon());
    cis::Accounts::through(gate, tokens, &cis_settings(url, issuer, 10)).unwrap()
}

fn entitlements(url: Url, issuer: Url, limits: CallLimits) -> cis::Entitlements {
    let (gate, tokens) = cis_gates(limits, &noon());
    cis::Entitlements::through(gate, tokens, &cis_settings(url, issuer, 10)).unwrap()
}

pub(super) fn events(url: Url, issuer: Url, limits: CallLimits) -> cis::Events {
    let (gate, tokens) = cis_gates(limits, &noon());
    cis::Events::through(gate, tokens, &cis_settings(url, issuer, 10)).unwrap()
}

const ONCE: cis::Patience = cis::Patience {
    retries: 0,
    pause: Duration::ZERO,
    between: Duration::ZERO,
    total: Duration::from_secs(60),
};

const HOUR: Duration = Duration::from_hours(1);

const NO_TAGS: &BTreeMap<String, String> = &BTreeMap::new();

pub(super) fn calls() -> Vec<Call> {
    vec![
        call!("apply", false, false, reconciler, |it| it.apply_cluster(&cluster("r-1"))),
        call!("status", true, true, reconciler, |it| it.status("r-1", 1)),
        call!("latest status", true, true, reconciler, |it| it.latest_status("r-1")),
        call!("force status", false, false, reconciler, |it| it
            .force_status("r-1", &Status::Ready)),
        call!("delete cluster", false, true, reconciler, |it| it.delete_cluster("r-1")),
        call!("status changes", true, false, reconciler, |it| it.status_changes("r-1", HOUR)),
        call!("subaccount", true, true, accounts, |it| it.subaccount("sa")),
        call!("entitlement", true, true, entitlements, |it| it.amount("aws", "sa")),
        call!("public", true, false, events, |it| it.deleted_subaccounts(Edition::Public, ONCE)),
        call!("central", true, false, events, |it| it.deleted_subaccounts(Edition::Central, ONCE)),
        call!("cursor", true, false, events, |it| {
            it.deleted_subaccounts(Edition::CentralCursor, ONCE)
        }),
        call!("put group", false, false, azure, |it| it.put_group("g", "west", NO_TAGS)),
        call!("groups", true, false, azure, |it| it.groups()),
        call!("delete group", false, true, azure, |it| it.delete_group("g")),
        call!("put namespace", false, false, azure, |it| {
            it.put_namespace("g", "namespace", "west", NO_TAGS)
        }),
        call!("namespaces", true, false, azure, |it| it.namespaces("g")),
        call!("keys", false, false, azure, |it| it.keys("g", "namespace")),
        call!("azure zones", true, false, azure, |it| it.zones("west", "m")),
        call!("azure clean-up", true, false, azure, |it| it.clean_up()),
        call!("regions", false, false, aws, |it| it.regions("eu-central-1")),
        call!("volumes", false, false, aws, |it| it.volumes("eu-central-1")),
        call!("delete volume", false, true, aws, |it| it.delete_volume("eu-central-1", "vol-1")),
        call!("aws zones", false, false, aws, |it| it.zones("eu-central-1", "m")),
        call!("aws clean-up", false, false, aws, |it| it.clean_up(Market::Global)),
    ]
}
