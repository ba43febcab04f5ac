//! Defaults of Gardener that clients rely on, in both versions.

use std::collections::BTreeSet;

use k8s_openapi::api::core::v1::Secret;
use kube::{
    Api, ResourceExt,
    api::{DynamicObject, PostParams},
};
use serde_json::{Value, json};
use simulators::{garden::Version, pace::Speed};

use crate::support::{Garden, shoot};

/// The path, and the value in 1.65 and in 1.117; null where that version has none.
fn table() -> Vec<(&'static str, Value, Value)> {
    let both = |path, value: Value| (path, value.clone(), value);
    vec![
        both("/spec/maintenance/autoUpdate/kubernetesVersion", json!(true)),
        both("/spec/maintenance/autoUpdate/machineImageVersion", json!(true)),
        both("/spec/provider/workers/0/maxSurge", json!(1)),
        both("/spec/provider/workers/0/maxUnavailable", json!(0)),
        both("/spec/provider/workers/0/cri/name", json!("containerd")),
        both("/spec/provider/workers/0/machine/architecture", json!("amd64")),
        both("/spec/provider/workers/0/systemComponents/allow", json!(true)),
        both("/spec/provider/workersSettings/sshAccess/enabled", json!(true)),
        both("/spec/addons/kubernetesDashboard/enabled", json!(false)),
        both("/spec/addons/kubernetesDashboard/authenticationMode", json!("token")),
        both("/spec/networking/ipFamilies", json!(["IPv4"])),
        both("/spec/kubernetes/kubeAPIServer/requests/maxNonMutatingInflight", json!(400)),
        both("/spec/kubernetes/kubeAPIServer/requests/maxMutatingInflight", json!(200)),
        both("/spec/kubernetes/kubeAPIServer/enableAnonymousAuthentication", json!(false)),
        both("/spec/kubernetes/kubeAPIServer/eventTTL", json!("1h0m0s")),
        both("/spec/kubernetes/kubeAPIServer/logging/verbosity", json!(2)),
        both("/spec/kubernetes/kubeAPIServer/defaultNotReadyTolerationSeconds", json!(300)),
        both("/spec/kubernetes/kubeAPIServer/defaultUnreachableTolerationSeconds", json!(300)),
        both("/spec/kubernetes/kubeControllerManager/nodeCIDRMaskSize", json!(23)),
        both("/spec/kubernetes/kubeScheduler/profile", json!("balanced")),
        both("/spec/kubernetes/kubeProxy/mode", json!("IPTables")),
        both("/spec/kubernetes/kubeProxy/enabled", json!(true)),
        both("/spec/kubernetes/kubelet/failSwapOn", json!(true)),
        both("/spec/kubernetes/kubelet/imageGCHighThresholdPercent", json!(50)),
        both("/spec/kubernetes/kubelet/imageGCLowThresholdPercent", json!(40)),
        both("/spec/kubernetes/kubelet/serializeImagePulls", json!(true)),
        both("/spec/kubernetes/kubelet/kubeReserved/cpu", json!("80m")),
        both("/spec/kubernetes/kubelet/kubeReserved/memory", json!("1Gi")),
        both("/spec/kubernetes/kubelet/kubeReserved/pid", json!("20k")),
        both("/spec/kubernetes/clusterAutoscaler/expander", json!("least-waste")),
        both("/spec/systemComponents/coreDNS/autoscaling/mode", json!("horizontal")),
        both("/metadata/labels/provider.extensions.gardener.cloud~1aws", json!("true")),
        both("/metadata/labels/networking.extensions.gardener.cloud~1calico", json!("true")),
        both(
            "/metadata/labels/operatingsystemconfig.extensions.gardener.cloud~1gardenlinux",
            json!("true"),
        ),
        both(
            "/metadata/labels/extensions.extensions.gardener.cloud~1shoot-dns-service",
            json!("true"),
        ),
        both("/metadata/annotations/gardener.cloud~1created-by", json!("tester")),
        both("/status/hibernated", json!(false)),
        both("/status/technicalID", json!("")),
        both("/status/uid", json!("")),
        both("/status/gardener", json!({"id": "", "name": "", "version": ""})),
        ("/spec/kubernetes/enableStaticTokenKubeconfig", json!(true), Value::Null),
        ("/spec/kubernetes/kubeAPIServer/enableBasicAuthentication", json!(false), Value::Null),
        (
            "/spec/kubernetes/kubeControllerManager/nodeMonitorGracePeriod",
            json!("2m0s"),
            json!("40s"),
        ),
        ("/spec/provider/workers/0/updateStrategy", Value::Null, json!("AutoRollingUpdate")),
        ("/spec/cloudProfile/name", Value::Null, json!("aws")),
        ("/spec/schedulerName", Value::Null, json!("default-scheduler")),
        both("/spec/addons/nginxIngress/externalTrafficPolicy", json!("Cluster")),
        ("/spec/kubernetes/clusterAutoscaler/maxEmptyBulkDelete", Value::Null, json!(10)),
        ("/spec/kubernetes/clusterAutoscaler/newPodScaleUpDelay", Value::Null, json!("0s")),
        both("/spec/kubernetes/verticalPodAutoscaler/updaterInterval", json!("1m0s")),
        ("/spec/kubernetes/verticalPodAutoscaler/targetCPUPercentile", Value::Null, json!(0.9)),
        (
            "/spec/kubernetes/verticalPodAutoscaler/cpuHistogramDecayHalfLife",
            Value::Null,
            json!("24h0m0s"),
        ),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn the_defaults_of_both_versions_are_filled_in() {
    for version in [Version::V1_65, Version::V1_117] {
        let Some(garden) = Garden::of_version(version, Speed::MAX).await else { return };
        let mut asked = shoot("bare");
        let spec = &mut asked.data["spec"];
        spec.as_object_mut().unwrap().shift_remove("maintenance");
        spec["kubernetes"]["kubelet"] = json!({"maxPods": 200});
        spec["kubernetes"]["clusterAutoscaler"] = json!({});
        spec["kubernetes"]["verticalPodAutoscaler"] = json!({"enabled": true});
        spec["addons"] = json!({"nginxIngress": {"enabled": false}});
        spec["extensions"] = json!([{"type": "shoot-dns-service"}, {"type": "shoot-cert-service", "disabled": true}]);
        let worker = spec["provider"]["workers"][0].as_object_mut().unwrap();
        // The label of an image is for images that the request names.
        worker["machine"]["image"] = json!({"name": "gardenlinux"});
        worker.shift_remove("maxSurge");
        worker.shift_remove("maxUnavailable");

        let made = serde_json::to_value(garden.create(&asked).await).unwrap();

        for (path, older, newer) in table() {
            let expected = if version == Version::V1_65 { older } else { newer };
            let found = made.pointer(path).cloned().unwrap_or_default();
            assert_eq!(found, expected, "{path} in {version}");
        }
        let other = "extensions.extensions.gardener.cloud/shoot-cert-service";
        assert!(made["metadata"]["labels"][other].is_null());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_gardener_of_2023_chooses_containerd_from_kubernetes_1_22_on() {
    let Some(garden) = Garden::of_version(Version::V1_65, Speed::MAX).await else { return };
    let mode = "/spec/addons/kubernetesDashboard/authenticationMode";
    let runtime = "/spec/provider/workers/0/cri";
    let containerd = json!({"name": "containerd"});

    for (name, kubernetes, expected) in
        [("newer", "1.22.4", containerd), ("older", "1.21.4", Value::Null)]
    {
        let mut asked = shoot(name);
        asked.data["spec"]["kubernetes"]["version"] = json!(kubernetes);
        let made = serde_json::to_value(garden.create(&asked).await).unwrap();

        let found = |path: &str| made.pointer(path).cloned().unwrap_or_default();
        assert_eq!((found(mode), found(runtime)), (json!("token"), expected), "{kubernetes}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_shoot_without_a_maintenance_window_gets_a_whole_hour() {
    let Some(garden) = Garden::ours(Speed::MAX).await else { return };
    let hours = |shoot: &Value| {
        let window = &shoot["spec"]["maintenance"]["timeWindow"];
        let hour = |key: &str| {
            let text = window[key].as_str().unwrap();
            assert_eq!(&text[2..], "0000+0000");
            text[..2].parse::<u32>().unwrap()
        };
        (hour("begin"), hour("end"))
    };
    let mut begun = Vec::new();

    for name in ["one", "two", "three", "four", "five"] {
        let made = garden.create(&shoot(name)).await;
        let (begin, end) = hours(&made.data);
        assert_eq!(end, (begin + 1) % 24);
        begun.push(begin);
    }
    let mut own = shoot("own");
    let window = json!({"begin": "220000+0100", "end": "230000+0100"});
    own.data["spec"]["maintenance"]["timeWindow"] = window.clone();
    let kept = garden.create(&own).await;

    begun.dedup();
    assert!(begun.len() > 1, "all Shoots have the same hour");
    assert_eq!(kept.data["spec"]["maintenance"]["timeWindow"], window);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_hour_of_maintenance_is_drawn_anew_when_an_update_leaves_it_out() {
    let Some(garden) = Garden::ours(Speed::MAX).await else { return };
    let mut shoot = garden.create(&shoot("drawn")).await;
    let mut windows = BTreeSet::new();

    for turn in 0..8 {
        // A change of its own: each update then starts from another version of the Shoot.
        shoot.labels_mut().insert("turn".to_owned(), turn.to_string());
        shoot.data["spec"]["maintenance"].as_object_mut().unwrap().shift_remove("timeWindow");
        shoot = garden.shoots.replace("drawn", &PostParams::default(), &shoot).await.unwrap();
        let window = &shoot.data["spec"]["maintenance"]["timeWindow"];
        windows.insert(window["begin"].as_str().unwrap().to_owned());
    }

    assert!(windows.len() > 1, "always {windows:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_label_of_an_extension_goes_with_the_extension() {
    let Some(garden) = Garden::ours(Speed::MAX).await else { return };
    let label = |name: &str| format!("extensions.extensions.gardener.cloud/{name}");
    let (dns, cert) = (label("shoot-dns-service"), label("shoot-cert-service"));
    let mut asked = shoot("labelled");
    asked.labels_mut().insert("team".to_owned(), "blue".to_owned());
    asked.data["spec"]["extensions"] =
        json!([{"type": "shoot-dns-service"}, {"type": "shoot-cert-service"}]);
    let extensions =
        |extensions: Value| json!({"spec": {"extensions": extensions, "purpose": "testing"}});

    let both = garden.create(&asked).await;
    let disabled =
        json!([{"type": "shoot-dns-service"}, {"type": "shoot-cert-service", "disabled": true}]);
    let one = garden.patch("labelled", extensions(disabled)).await.unwrap();
    let none = garden.patch("labelled", extensions(json!([]))).await.unwrap();

    let has =
        |shoot: &DynamicObject| [&dns, &cert].map(|key| shoot.labels().contains_key(key.as_str()));
    assert_eq!([has(&both), has(&one), has(&none)], [[true, true], [true, false], [false, false]]);
    assert_eq!(none.labels()["team"], "blue");
    assert_eq!(none.labels()["provider.extensions.gardener.cloud/aws"], "true");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_gardener_of_2023_hands_out_static_kubeconfigs_below_kubernetes_1_26() {
    let Some(garden) = Garden::of_version(Version::V1_65, Speed::MAX).await else { return };
    let _controller = garden.controller();
    let secrets: Api<Secret> = Api::namespaced(garden.client.clone(), "garden-kyma");
    let mut newer = shoot("newer");
    newer.data["spec"]["kubernetes"]["version"] = json!("1.26.1");

    garden.create(&shoot("older")).await;
    garden.create(&newer).await;
    garden.until_healthy("older").await;
    let newer = garden.until_healthy("newer").await;

    let data = secrets.get("older.kubeconfig").await.unwrap().data.unwrap();
    let text = |key: &str| String::from_utf8(data[key].0.clone()).unwrap();
    assert!(text("ca.crt").starts_with("-----BEGIN CERTIFICATE-----"));
    assert!(text("kubeconfig").contains(&text("token")) && !text("token").is_empty());
    assert_eq!(newer["spec"]["kubernetes"]["enableStaticTokenKubeconfig"], false);
    assert!(secrets.get_opt("newer.kubeconfig").await.unwrap().is_none());
}
