//! Whatever is asked for: a Shoot that was just made needs no change, and one change is enough.

use clients::gardener::{Features, Field};
use proptest::{option, prelude::*, sample::select};
use serde_json::{Value, json};

use super::{OWNER, change, made, patched, rules};
use crate::{
    checking::{
        tests::samples::{self, checked},
        upgrade_shoot,
    },
    configuration::{Configuration, Oidc},
    requests::{ProviderConfig, Provision, UpgradeShoot},
    shoots::{self, build},
};

fn any_order() -> impl Strategy<Value = Provision> {
    let orders = vec![
        samples::aws(),
        samples::azure(),
        samples::azure_shared(),
        samples::azure_own(),
        samples::gcp(),
        samples::openstack(),
    ];
    let nat = option::of((any::<bool>(), option::of(4..=120)));
    let image = option::of((select(vec!["gardenlinux", "suse"]), option::of(0..20)));
    (select(orders), nat, image, option::of(any_issuer()), any::<(bool, bool)>()).prop_map(
        |(mut order, nat, image, oidc, (filter, update))| {
            if let Some(azure) = &mut order.cluster.provider_config.azure {
                let zoned = azure.zones.is_some() || azure.azure_zones.is_some();
                azure.nat_gateway = nat.map(|(enabled, idle)| samples::nat(enabled && zoned, idle));
            }
            order.cluster.machine_image = image.map(|(name, _)| name.into());
            let version = image.and_then(|(_, version)| version);
            order.cluster.machine_image_version = version.map(|n| format!("1443.{n}.0"));
            order.cluster.oidc = oidc;
            order.cluster.networking_filter_disabled = Some(filter);
            order.cluster.kubernetes_auto_update = Some(update);
            order
        },
    )
}

fn any_issuer() -> impl Strategy<Value = Oidc> {
    select(vec!["one", "two"]).prop_map(|id| Oidc { client_id: id.into(), ..samples::oidc() })
}

fn any_request() -> impl Strategy<Value = UpgradeShoot> {
    let numbers = (1..5, 5..30, 1..5, option::of(10..90));
    let words = (
        option::of(select(vec!["1.33.0", "1.34.1"])),
        option::of(select(vec!["small", "large"])),
        option::of(select(vec!["production", "testing"])),
    );
    let switches = (option::of(any::<bool>()), option::of(any::<bool>()));
    (numbers, words, switches, option::of(any_issuer())).prop_map(
        |((min, max, surge, volume), (version, machine, purpose), (filter, update), oidc)| {
            UpgradeShoot {
                kubernetes_version: version.map(Into::into),
                machine_type: machine.map(Into::into),
                volume_size_gb: volume,
                auto_scaler_min: Some(min),
                auto_scaler_max: Some(max),
                max_surge: Some(surge),
                purpose: purpose.map(Into::into),
                networking_filter_disabled: filter,
                machine_image_auto_update: update,
                oidc,
                ..UpgradeShoot::default()
            }
        },
    )
}

/// The same cluster with another gateway and with more zones, where its provider allows it.
fn changed(mut order: Provision, nat: (bool, Option<i32>)) -> ProviderConfig {
    let config = &mut order.cluster.provider_config;
    if let Some(gcp) = &mut config.gcp {
        gcp.zones.insert(0, "europe-west3-c".into());
    }
    if let Some(azure) = &mut config.azure {
        let zoned = azure.zones.is_some() || azure.azure_zones.is_some();
        azure.nat_gateway = Some(samples::nat(nat.0 && zoned, nat.1));
        azure.vnet_cidr = "10.250.0.0/16".into();
        if let Some(zones) = &mut azure.zones {
            zones.push("3".into());
        }
    }
    order.cluster.provider_config
}

fn other_pool() -> Value {
    json!({"name": "gpu", "machine": {"type": "a2"}, "minimum": 0, "maximum": 2})
}

/// The fields of Gardener 1.65, 1.98, 1.117 and 1.149, in this order.
fn gardens() -> [Features; 4] {
    let without = |gone: &[Field]| {
        Features::new(None, Field::ALL.into_iter().filter(|field| !gone.contains(field)))
    };
    let gone = [Field::BasicAuthentication, Field::StaticToken, Field::OidcConfig];
    [
        Features::oldest(),
        without(&[Field::BasicAuthentication, Field::StructuredAuthentication]),
        without(&gone[..1]),
        without(&gone),
    ]
}

proptest! {
    #[test]
    fn one_change_is_enough_when_gardener_and_kubernetes_move_on(
        order in any_order(),
        older in 0..4_usize,
        newer in 0..4_usize,
        versions in (26..=34_u32, 26..=34_u32),
    ) {
        let gardens = gardens();
        let (before, after) = (&gardens[older.min(newer)], &gardens[newer]);
        let mut stored = checked(order);
        stored.cluster.kubernetes_version = format!("1.{}.4", versions.0.min(versions.1));
        let live = build(&stored, &OWNER, &rules(), before);
        prop_assert_eq!(shoots::change(&live, &stored, OWNER.runtime_id, before), None);
        let mut wanted = stored.clone();
        wanted.cluster.kubernetes_version = format!("1.{}.4", versions.1);

        let patch = shoots::change(&live, &wanted, OWNER.runtime_id, after);

        let live = patch.map_or(live.clone(), |patch| patched(&live, &patch));
        prop_assert_eq!(shoots::change(&live, &wanted, OWNER.runtime_id, after), None);
        let server = live.spec.kubernetes.as_ref().unwrap().rest.get("kubeAPIServer");
        let named = |field: &str| server.is_some_and(|server| server.get(field).is_some());
        let issuers = usize::from(named("oidcConfig")) + usize::from(named("structuredAuthentication"));
        prop_assert_eq!(issuers, usize::from(wanted.cluster.oidc.is_some()));
        let spec = &live.spec;
        prop_assert!(spec.secret_binding_name.is_some() != spec.credentials_binding_name.is_some());
    }

    #[test]
    fn a_shoot_that_was_just_made_needs_no_change(order in any_order()) {
        let configuration = checked(order);

        prop_assert_eq!(change(&made(&configuration), &configuration), None);
    }

    #[test]
    fn one_change_is_enough_and_loses_nothing(
        order in any_order(),
        mut request in any_request(),
        nat in (any::<bool>(), option::of(4..=120)),
        more in any::<bool>(),
    ) {
        let stored = checked(order.clone());
        let mut live = made(&stored);
        live.spec.provider.as_mut().unwrap().workers.push(other_pool());
        live.spec.rest["extensions"].as_array_mut().unwrap().push(json!({"type": "other"}));
        let has_disks = stored.cluster.provider != "openstack";
        request.volume_size_gb = request.volume_size_gb.filter(|_| has_disks);
        request.provider_config = more.then(|| changed(order, nat));
        let wanted: Configuration = upgrade_shoot(&stored, Some(&live), request).unwrap();

        let after = match change(&live, &wanted) {
            Some(patch) => patched(&live, &patch),
            None => live,
        };

        prop_assert_eq!(change(&after, &wanted), None);
        let provider = after.spec.provider.as_ref().unwrap();
        prop_assert_eq!(&provider.workers[1..], &[other_pool()]);
        let extensions = after.spec.rest["extensions"].as_array().unwrap();
        prop_assert_eq!(extensions.last(), Some(&json!({"type": "other"})));
        let version = after.spec.kubernetes.as_ref().unwrap().version.as_ref();
        prop_assert_eq!(version, Some(&wanted.cluster.kubernetes_version));
        prop_assert_eq!(&provider.workers[0]["maximum"], &json!(wanted.cluster.auto_scaler_max));
    }
}
