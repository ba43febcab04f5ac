//! New runtimes for the tests, and who orders them.

use provisioner::{
    Caller,
    configuration::{AwsZone, ConflictStrategy, Entry, Oidc, Profile},
    requests,
};
use simulators::testing::TENANTS;

use super::landscape::Landscape;

/// The caller.
pub(crate) fn caller() -> Caller {
    Caller {
        tenant: TENANTS[0].into(),
        any_tenant: false,
        subaccount: Some("sa-1".into()),
        idempotency_key: None,
    }
}

/// A cluster on AWS, with nothing in it.
pub(crate) fn aws(name: &str) -> requests::Provision {
    requests::Provision {
        runtime_id: None,
        name: format!("runtime-{name}"),
        description: Some("a \"test\" \\ with 'quotes'".into()),
        labels: serde_json::Map::from_iter([("team".to_owned(), "blue".into())]),
        cluster: requests::Cluster {
            name: name.into(),
            provider: "aws".into(),
            target_secret: "aws-free-1".into(),
            region: "eu-central-1".into(),
            machine_type: Some("m5.xlarge".into()),
            disk_type: Some("gp3".into()),
            volume_size_gb: Some(50),
            worker_cidr: "10.250.0.0/16".into(),
            auto_scaler_min: Some(3),
            auto_scaler_max: Some(10),
            max_surge: Some(3),
            max_unavailable: Some(0),
            purpose: Some("development".into()),
            eu_access: Some(true),
            provider_config: requests::ProviderConfig {
                aws: Some(requests::AwsConfig {
                    vpc_cidr: "10.250.0.0/16".into(),
                    zones: vec![Some(AwsZone {
                        name: "eu-central-1a".into(),
                        worker_cidr: "10.250.0.0/19".into(),
                        public_cidr: "10.250.32.0/20".into(),
                        internal_cidr: "10.250.48.0/20".into(),
                    })],
                }),
                ..requests::ProviderConfig::default()
            },
            ..requests::Cluster::default()
        },
        administrators: vec!["ada@example.org".into()],
        kyma: None,
    }
}

/// The landscape's issuer, for the users of a cluster.
pub(crate) fn issuer(landscape: &Landscape) -> Oidc {
    Oidc {
        client_id: "kcp".into(),
        groups_claim: "groups".into(),
        // Only https is accepted; the landscape's issuer is known without it.
        issuer_url: landscape.running.url.replace("http://", "https://"),
        signing_algs: vec!["RS256".into()],
        username_claim: "sub".into(),
        username_prefix: "-".into(),
    }
}

/// The same with Kyma in it.
pub(crate) fn with_kyma(name: &str, version: &str) -> requests::Provision {
    requests::Provision { kyma: Some(kyma(version)), ..aws(name) }
}

/// Kyma Lite with one more module.
pub(crate) fn kyma(version: &str) -> requests::Kyma {
    let entry =
        |key: &str, value: &str, secret| Entry { key: key.into(), value: value.into(), secret };
    requests::Kyma {
        version: version.into(),
        profile: Some(Profile::Evaluation),
        components: vec![requests::Component {
            component: "monitoring".into(),
            namespace: "kyma-system".into(),
            configuration: vec![
                entry("grafana.size", "small", false),
                entry("grafana.password", "hush-hush", true),
            ],
            source_url: None,
            conflict_strategy: Some(ConflictStrategy::Merge),
        }],
        configuration: vec![entry("global.domainName", "example.org", false)],
        conflict_strategy: None,
    }
}
