//! Amazon: a VPC with three subnets in every zone. None of it can be changed later.

use serde_json::{Value, json};

use super::Part;
use crate::configuration::{Aws, AwsZone};

const API: &str = "aws.provider.extensions.gardener.cloud/v1alpha1";

pub(super) fn part(aws: &Aws) -> Part {
    let zones: Vec<Value> = aws.zones.iter().map(zone).collect();
    Part {
        profile: "aws".into(),
        nodes: aws.vpc_cidr.clone(),
        control_plane: json!({"kind": "ControlPlaneConfig", "apiVersion": API}),
        infrastructure: json!({
            "kind": "InfrastructureConfig",
            "apiVersion": API,
            "networks": {"vpc": {"cidr": aws.vpc_cidr}, "zones": zones},
        }),
        zones: aws.zones.iter().map(|zone| zone.name.clone()).collect(),
    }
}

fn zone(zone: &AwsZone) -> Value {
    json!({
        "name": zone.name,
        "internal": zone.internal_cidr,
        "public": zone.public_cidr,
        "workers": zone.worker_cidr,
    })
}
