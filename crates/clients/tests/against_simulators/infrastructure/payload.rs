//! The payload for the Reconciler, with a kubeconfig and a setting that are secret.

use clients::reconciler::{Cluster, Kyma, KymaComponent, Metadata, RuntimeInput, Setting};
use serde_json::{Value, json};

pub(crate) const KUBECONFIG: &str = "clusters: []\nusers:\n- token: kub3config-token-long\n";

pub(crate) fn cluster(id: &str) -> Cluster {
    let setting = |key: &str, value: Value, secret| Setting { key: key.into(), value, secret };
    Cluster {
        runtime_id: id.into(),
        runtime_input: RuntimeInput { name: "my runtime".into(), description: String::new() },
        kyma_config: Kyma {
            version: "2.10".into(),
            profile: "Production".into(),
            administrators: vec!["jane@example.com".into()],
            components: vec![KymaComponent {
                component: "btp-operator".into(),
                namespace: "kyma-system".into(),
                url: "https://example.com/btp.tgz".into(),
                version: "1.0".into(),
                configuration: vec![
                    setting("global.domainName", json!("c-1.example.com"), false),
                    setting("manager.secret.clientsecret", json!("s3tting-secret"), true),
                    setting("enabled", json!(true), false),
                ],
            }],
        },
        metadata: Metadata {
            global_account_id: "ga".into(),
            sub_account_id: "sa".into(),
            service_id: "service".into(),
            service_plan_id: "plan".into(),
            service_plan_name: "aws".into(),
            shoot_name: "c-1".into(),
            instance_id: "i-1".into(),
            region: "eu-central-1".into(),
        },
        kubeconfig: KUBECONFIG.to_owned().into(),
    }
}
