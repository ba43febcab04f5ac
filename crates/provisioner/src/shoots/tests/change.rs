//! Changes of a live Shoot, field by field.

mod kept;
mod providers;
mod versions;

use clients::gardener::Shoot;
use serde_json::{Value, json};

use super::{change, made};
use crate::{
    checking::tests::samples::{self, checked},
    configuration::Configuration,
};

/// The patch for one changed field of a cluster on AWS.
fn patch(edit: impl FnOnce(&mut Configuration)) -> Option<Value> {
    let mut configuration = checked(samples::aws());
    let live = made(&configuration);
    edit(&mut configuration);
    change(&live, &configuration)
}

fn infrastructure(shoot: &mut Shoot) -> &mut Value {
    shoot.spec.provider.as_mut().unwrap().rest.get_mut("infrastructureConfig").unwrap()
}

fn workers(shoot: &mut Shoot) -> &mut Vec<Value> {
    &mut shoot.spec.provider.as_mut().unwrap().workers
}

#[test]
fn nothing_is_changed_when_nothing_differs() {
    for request in [samples::aws(), samples::azure_own(), samples::gcp(), samples::openstack()] {
        let configuration = checked(request);

        assert_eq!(change(&made(&configuration), &configuration), None);
    }
}

#[test]
fn each_field_is_changed_in_its_place() {
    type Case = (fn(&mut Configuration), Value);
    let cases: Vec<Case> = vec![
        (
            |c| c.cluster.kubernetes_version = "1.26.0".into(),
            json!({"kubernetes": {"version": "1.26.0"}}),
        ),
        (|c| c.cluster.purpose = Some("production".into()), json!({"purpose": "production"})),
        (
            |c| c.cluster.kubernetes_auto_update = true,
            json!({"maintenance": {"autoUpdate": {"kubernetesVersion": true}}}),
        ),
        (
            |c| c.cluster.machine_image_auto_update = true,
            json!({"maintenance": {"autoUpdate": {"machineImageVersion": true}}}),
        ),
    ];

    for (edit, spec) in cases {
        assert_eq!(patch(edit), Some(json!({"spec": spec})));
    }
}

#[test]
fn each_field_of_the_pool_is_changed_in_its_place() {
    type Case = (fn(&mut Configuration), &'static str, Value);
    let cases: Vec<Case> = vec![
        (|c| c.cluster.machine_type = "m6.large".into(), "/machine/type", json!("m6.large")),
        (|c| c.cluster.volume_size_gb = Some(80), "/volume/size", json!("80Gi")),
        (|c| c.cluster.disk_type = Some("io1".into()), "/volume/type", json!("io1")),
        (|c| c.cluster.auto_scaler_min = 1, "/minimum", json!(1)),
        (|c| c.cluster.auto_scaler_max = 40, "/maximum", json!(40)),
        (|c| c.cluster.max_surge = 5, "/maxSurge", json!(5)),
        (|c| c.cluster.max_unavailable = 2, "/maxUnavailable", json!(2)),
    ];

    for (edit, place, value) in cases {
        let mut pool = workers(&mut made(&checked(samples::aws())))[0].clone();
        *pool.pointer_mut(place).unwrap() = value;
        let spec = json!({"provider": {"workers": [pool]}});
        assert_eq!(patch(edit), Some(json!({"spec": spec})));
    }
}
