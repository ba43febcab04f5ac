//! The payload for the Reconciler: the cluster, its owner, and every component with all of its overrides.

use clients::reconciler::{Cluster, Kyma, KymaComponent, Metadata, RuntimeInput, Setting};
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;

use super::{BTP_OPERATOR, Creator, CreatorError};
use crate::{Order, overrides};

/// Components that the operator for the Service Manager requires.
const OPERATOR_NEEDS: [&str; 7] = [
    "manager.secret.clientid",
    "manager.secret.clientsecret",
    "manager.secret.url",
    "manager.secret.sm_url",
    "manager.secret.tokenurl",
    "cluster.id",
    "manager.priorityClassName",
];

impl Creator {
    /// The cluster for the Reconciler. A payload that lacks something it needs is not made.
    pub fn cluster(
        &self,
        order: &Order,
        runtime_id: &str,
        name: &str,
        kubeconfig: &SecretString,
    ) -> Result<Cluster, CreatorError> {
        let needed = [
            (order.instance_id.is_empty(), "the instance"),
            (order.shoot_name.is_empty(), "the name of the Shoot"),
            (runtime_id.is_empty(), "the runtime"),
            (kubeconfig.expose_secret().is_empty(), "the kubeconfig"),
        ];
        if let Some((_, what)) = needed.into_iter().find(|(missing, _)| *missing) {
            return Err(CreatorError::Missing(what));
        }
        let components: Vec<_> = self.wanted().map(|it| self.component(order, it)).collect();
        check_operator(&components)?;
        Ok(Cluster {
            runtime_id: runtime_id.to_owned(),
            runtime_input: RuntimeInput { name: name.to_owned(), description: String::new() },
            kyma_config: Kyma {
                version: self.version.clone(),
                profile: order.resolved.profile.to_string(),
                administrators: order.resolved.administrators.clone(),
                components,
            },
            metadata: metadata(order),
            kubeconfig: kubeconfig.clone(),
        })
    }

    /// The operator for the Service Manager as it is sent to the Reconciler; none where the version of Kyma has none.
    pub fn operator(&self, order: &Order) -> Result<Option<KymaComponent>, CreatorError> {
        let listed = self.wanted().find(|it| it.name == BTP_OPERATOR);
        let made: Vec<_> = listed.map(|it| self.component(order, it)).into_iter().collect();
        check_operator(&made)?;
        Ok(made.into_iter().next())
    }

    fn component(
        &self,
        order: &Order,
        component: &clients::releases::ListedComponent,
    ) -> KymaComponent {
        let domain = Setting {
            key: "global.domainName".into(),
            value: order.shoot_domain.clone().into(),
            secret: false,
        };
        let mut configuration = vec![domain];
        let all = self.overrides.global().iter().chain(self.overrides.of(&component.name));
        for (key, value) in all {
            // Settings of one component override those of all.
            configuration.retain(|setting| setting.key != *key);
            configuration.push(setting(key, value));
        }
        KymaComponent {
            component: component.name.clone(),
            namespace: component.namespace.clone(),
            url: component.url.clone().unwrap_or_default(),
            version: String::new(),
            configuration,
        }
    }
}

fn setting(key: &str, value: &overrides::Value) -> Setting {
    let text = match value.text.as_str() {
        "true" => Value::Bool(true),
        "false" => Value::Bool(false),
        text => text.into(),
    };
    Setting { key: key.to_owned(), value: text, secret: value.secret }
}

/// Changes the plan in a configuration that the Reconciler has: whom it is counted to, and how much its components get.
pub(in crate::operations) fn change_plan(configuration: &mut Cluster, order: &Order) {
    configuration.metadata = metadata(order);
    configuration.kyma_config.profile = order.resolved.profile.to_string();
}

fn metadata(order: &Order) -> Metadata {
    let region = order.resolved.cluster.as_ref().map(|cluster| cluster.region.clone());
    Metadata {
        global_account_id: order.context.globalaccount_id.clone(),
        sub_account_id: order.context.subaccount_id.clone(),
        service_id: order.service_id.clone(),
        service_plan_id: order.plan_id.clone(),
        service_plan_name: order.plan_name.clone(),
        shoot_name: order.shoot_name.clone(),
        instance_id: order.instance_id.clone(),
        region: region.unwrap_or_default(),
    }
}

/// Without one of these the operator starts and connects to nothing, without an error.
fn check_operator(components: &[KymaComponent]) -> Result<(), CreatorError> {
    let Some(operator) = components.iter().find(|it| it.component == BTP_OPERATOR) else {
        return Ok(());
    };
    let is_there = |key: &str| {
        let setting = operator.configuration.iter().find(|setting| setting.key == key);
        setting.and_then(|setting| setting.value.as_str()).is_some_and(|text| !text.is_empty())
    };
    match OPERATOR_NEEDS.into_iter().find(|key| !is_there(key)) {
        Some(missing) => Err(CreatorError::Operator(missing)),
        None => Ok(()),
    }
}
