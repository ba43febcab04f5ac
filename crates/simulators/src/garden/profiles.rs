//! The offer of each infrastructure: regions, zones, machines, disks, images, versions of Kubernetes.
//!
//! Broad enough for every service plan. Changing the `CloudProfile` in the garden changes what is
//! refused: admission reads the object, not this file.

use serde_json::{Value, json};

use super::version::Version;

/// The minor versions of Kubernetes 1 that can be ordered, with these patches each.
const KUBERNETES: (std::ops::RangeInclusive<u32>, std::ops::RangeInclusive<u32>) = (16..=34, 0..=9);
const GARDEN_LINUX: [&str; 6] =
    ["934.8.0", "1312.3.0", "1443.9.0", "1592.4.0", "1592.13.0", "1877.4.0"];
const SUSE: [&str; 2] = ["15.4.20230410", "15.5.20240813"];

/// A family of machines that grow in step: one of `sizes` vCPUs has `memory` times as many GiB.
struct Family {
    name: fn(u32) -> String,
    sizes: &'static [u32],
    memory: u32,
    gpu: bool,
}

/// The profiles by name, as their objects, with the fields that a version of Gardener has.
pub(super) fn all(version: Version) -> Vec<Value> {
    let mut all = newest();
    if version < Version::V1_117 {
        for profile in &mut all {
            profile["spec"].as_object_mut().map(|spec| spec.shift_remove("limits"));
            let images = profile["spec"]["machineImages"].as_array_mut().into_iter().flatten();
            let versions = images.filter_map(|image| image["versions"].as_array_mut());
            for version in versions.flatten() {
                // There every image must have it, whether or not Kubernetes does.
                version["cri"] = json!([{"name": "containerd"}, {"name": "docker"}]);
            }
        }
    }
    all
}

fn newest() -> Vec<Value> {
    let openstack =
        |name| profile(name, "openstack", openstack_regions(), &OPENSTACK, &["default"]);
    vec![
        profile("aws", "aws", aws_regions(), &AWS, &["gp2", "gp3", "io1", "standard"]),
        profile(
            "az",
            "azure",
            azure_regions(),
            &AZURE,
            &["Standard_LRS", "StandardSSD_LRS", "Premium_LRS"],
        ),
        profile("gcp", "gcp", gcp_regions(), &GCP, &["pd-standard", "pd-balanced", "pd-ssd"]),
        openstack("converged-cloud-kyma"),
        openstack("converged-cloud-cp"),
    ]
}

fn profile(
    name: &str,
    kind: &str,
    regions: Vec<(String, Vec<String>)>,
    families: &[Family],
    volumes: &[&str],
) -> Value {
    let regions: Vec<Value> = regions
        .into_iter()
        .map(|(region, zones)| {
            let zones: Vec<Value> = zones.iter().map(|zone| json!({"name": zone})).collect();
            json!({"name": region, "zones": zones})
        })
        .collect();
    let volumes: Vec<Value> = volumes
        .iter()
        .map(|volume| json!({"name": volume, "class": "standard", "usable": true}))
        .collect();
    json!({
        "apiVersion": "core.gardener.cloud/v1beta1",
        "kind": "CloudProfile",
        "metadata": {"name": name},
        "spec": {
            "type": kind,
            "kubernetes": {"versions": versions()},
            "regions": regions,
            "machineTypes": machines(families),
            "volumeTypes": volumes,
            "machineImages": [image("gardenlinux", &GARDEN_LINUX), image("suse-chost", &SUSE)],
            "limits": {"maxNodesTotal": 500},
            "providerConfig": provider_config(kind),
        },
    })
}

/// What the extension of a provider needs to know about its infrastructure.
fn provider_config(kind: &str) -> Value {
    let images = [("gardenlinux", &GARDEN_LINUX[..]), ("suse-chost", &SUSE[..])];
    let images: Vec<Value> = images
        .iter()
        .map(|(name, versions)| {
            let versions: Vec<Value> = versions
                .iter()
                .map(|version| json!({"version": version, "image": format!("{name}-{version}")}))
                .collect();
            json!({"name": name, "versions": versions})
        })
        .collect();
    let mut config = json!({
        "apiVersion": format!("{kind}.provider.extensions.gardener.cloud/v1alpha1"),
        "kind": "CloudProfileConfig",
        "machineImages": images,
    });
    if kind == "openstack" {
        config["keystoneURL"] = json!("https://identity.example.com/v3");
        config["constraints"] = json!({
            "floatingPools": [{"name": "FloatingIP-external-*"}],
            "loadBalancerProviders": [{"name": "f5"}],
        });
    }
    config
}

fn versions() -> Vec<Value> {
    let (minors, patches) = KUBERNETES;
    let newest = *minors.end();
    let each = patches.clone();
    let all = minors.flat_map(|minor| each.clone().map(move |patch| (minor, patch)));
    all.map(|(minor, patch)| {
        // Gardener allows one supported patch of each minor.
        let supported = minor + 4 > newest && patch == *patches.end();
        let classification = if supported { "supported" } else { "deprecated" };
        json!({"version": format!("1.{minor}.{patch}"), "classification": classification})
    })
    .collect()
}

fn image(name: &str, versions: &[&str]) -> Value {
    let versions: Vec<Value> = versions
        .iter()
        .map(|version| {
            json!({"version": version, "cri": [{"name": "containerd"}], "architectures": ["amd64"]})
        })
        .collect();
    json!({"name": name, "versions": versions})
}

fn machines(families: &[Family]) -> Vec<Value> {
    let all =
        families.iter().flat_map(|family| family.sizes.iter().map(move |size| (family, size)));
    all.map(|(family, &size)| {
        json!({
            "name": (family.name)(size),
            "cpu": size.to_string(),
            "memory": format!("{}Gi", size * family.memory),
            "gpu": if family.gpu { "1" } else { "0" },
            "architecture": "amd64",
            "usable": true,
        })
    })
    .collect()
}

const AWS_SIZES: &[u32] = &[2, 4, 8, 16, 32, 48, 64];
const AWS: [Family; 7] = [
    aws(|cpu| aws_name("m5", cpu), 4, false),
    aws(|cpu| aws_name("m6i", cpu), 4, false),
    aws(|cpu| aws_name("mi", cpu), 4, false),
    aws(|cpu| aws_name("c7i", cpu), 2, false),
    aws(|cpu| aws_name("ri", cpu), 8, false),
    aws(|cpu| aws_name("g6", cpu), 4, true),
    aws(|cpu| aws_name("g4dn", cpu), 4, true),
];

const fn aws(name: fn(u32) -> String, memory: u32, gpu: bool) -> Family {
    Family { name, sizes: AWS_SIZES, memory, gpu }
}

fn aws_name(family: &str, cpu: u32) -> String {
    match cpu {
        2 => format!("{family}.large"),
        4 => format!("{family}.xlarge"),
        _ => format!("{family}.{}xlarge", cpu / 4),
    }
}

const SIZES: &[u32] = &[2, 4, 8, 16, 32, 48, 64];
const AZURE: [Family; 4] = [
    Family { name: |cpu| format!("Standard_D{cpu}s_v5"), sizes: SIZES, memory: 4, gpu: false },
    Family { name: |cpu| format!("Standard_D{cpu}_v3"), sizes: SIZES, memory: 4, gpu: false },
    Family { name: |cpu| format!("Standard_F{cpu}s_v2"), sizes: SIZES, memory: 2, gpu: false },
    Family {
        name: |cpu| format!("Standard_NC{cpu}as_T4_v3"),
        sizes: &[4, 8, 16, 64],
        memory: 7,
        gpu: true,
    },
];
const GCP: [Family; 4] = [
    Family { name: |cpu| format!("n2-standard-{cpu}"), sizes: SIZES, memory: 4, gpu: false },
    Family { name: |cpu| format!("n1-standard-{cpu}"), sizes: SIZES, memory: 4, gpu: false },
    Family {
        name: |cpu| format!("c2d-highcpu-{cpu}"),
        sizes: &[2, 4, 8, 16, 32, 56],
        memory: 2,
        gpu: false,
    },
    Family {
        name: |cpu| format!("g2-standard-{cpu}"),
        sizes: &[4, 8, 12, 16, 24, 32, 48],
        memory: 4,
        gpu: true,
    },
];
const OPENSTACK: [Family; 1] = [Family {
    name: |cpu| format!("g_c{cpu}_m{}", cpu * 4),
    sizes: &[2, 4, 6, 8, 12, 16, 32, 64],
    memory: 4,
    gpu: false,
}];

fn regions(names: &[&str], zone: impl Fn(&str) -> Vec<String>) -> Vec<(String, Vec<String>)> {
    names.iter().map(|name| ((*name).to_owned(), zone(name))).collect()
}

fn lettered(letters: &str, join: &str, region: &str) -> Vec<String> {
    letters.chars().map(|letter| format!("{region}{join}{letter}")).collect()
}

fn aws_regions() -> Vec<(String, Vec<String>)> {
    let names = [
        "eu-central-1",
        "eu-west-1",
        "eu-west-2",
        "eu-south-1",
        "ca-central-1",
        "sa-east-1",
        "us-east-1",
        "us-west-1",
        "us-west-2",
        "ap-northeast-1",
        "ap-northeast-2",
        "ap-south-1",
        "ap-southeast-1",
        "ap-southeast-2",
    ];
    regions(&names, |region| {
        let letters = match region {
            "us-east-1" => "abcdf",
            "us-west-1" => "ab",
            "us-west-2" => "abcd",
            "ca-central-1" => "abd",
            "ap-northeast-1" => "acd",
            _ => "abc",
        };
        lettered(letters, "", region)
    })
}

fn azure_regions() -> Vec<(String, Vec<String>)> {
    let names = [
        "eastus",
        "eastus2",
        "centralus",
        "westus2",
        "uksouth",
        "northeurope",
        "westeurope",
        "japaneast",
        "southeastasia",
        "switzerlandnorth",
        "australiaeast",
        "brazilsouth",
        "canadacentral",
    ];
    regions(&names, |_| ["1", "2", "3"].map(str::to_owned).to_vec())
}

fn gcp_regions() -> Vec<(String, Vec<String>)> {
    let names = [
        "europe-west3",
        "europe-west4",
        "asia-south1",
        "asia-southeast1",
        "asia-northeast1",
        "asia-northeast2",
        "us-central1",
        "us-east4",
        "us-west1",
        "northamerica-northeast1",
        "southamerica-east1",
        "australia-southeast1",
        "me-central2",
        "me-west1",
    ];
    regions(&names, |region| {
        lettered(if region == "us-central1" { "abcf" } else { "abc" }, "-", region)
    })
}

fn openstack_regions() -> Vec<(String, Vec<String>)> {
    let names =
        ["eu-de-1", "eu-de-2", "ap-au-1", "na-us-1", "na-us-2", "ap-jp-1", "ap-ae-1", "ap-sa-1"];
    regions(&names, |region| {
        let letters = match region {
            "eu-de-1" | "eu-de-2" | "na-us-1" | "na-us-2" => "abd",
            _ => "ab",
        };
        lettered(letters, "", region)
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn items(list: &Value) -> &[Value] {
        list.as_array().unwrap()
    }

    #[test]
    fn profiles_have_what_real_servers_of_both_versions_ask_of_them() {
        for version in [Version::V1_65, Version::V1_117] {
            for profile in all(version) {
                let at = format!("{} of {version}", profile["metadata"]["name"]);
                let spec = &profile["spec"];
                let mut supported = BTreeSet::new();
                for one in items(&spec["kubernetes"]["versions"]) {
                    let (minor, _) = one["version"].as_str().unwrap().rsplit_once('.').unwrap();
                    if one["classification"] == "supported" {
                        assert!(supported.insert(minor), "{at}: two supported patches of {minor}");
                    }
                }
                assert!(!supported.is_empty(), "{at}");
                let images = items(&spec["machineImages"]).iter();
                for one in images.flat_map(|image| items(&image["versions"])) {
                    let has_containerd = |one: &Value| one["name"] == "containerd";
                    assert!(items(&one["cri"]).iter().any(has_containerd), "{at}: {one}");
                }
                assert_eq!(spec["providerConfig"]["kind"], "CloudProfileConfig", "{at}");
                assert_eq!(spec["limits"].is_object(), version == Version::V1_117, "{at}");
            }
        }
    }
}
