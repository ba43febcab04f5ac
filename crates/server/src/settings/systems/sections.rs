//! One section for each outside system.

use std::{num::NonZeroU16, path::PathBuf};

use confique::Config;
use secrecy::SecretString;
use url::Url;

/// A value of a section: some are addresses.
trait Value {
    fn address(&self) -> Option<&Url> {
        None
    }
}

impl Value for Url {
    fn address(&self) -> Option<&Url> {
        Some(self)
    }
}

impl Value for PathBuf {}
impl Value for String {}
impl Value for SecretString {}
impl Value for NonZeroU16 {}
impl Value for i64 {}
impl Value for bool {}

macro_rules! sections {
    ($($(#[$($about:tt)*])* $name:ident { $($(#[$($meta:tt)*])* $field:ident: $kind:ty,)* })*) => {$(
        $(#[$($about)*])*
        #[derive(Debug, Config)]
        #[config(layer_attr(serde(deny_unknown_fields)))]
        pub struct $name {
            $($(#[$($meta)*])* pub $field: Option<$kind>,)*
        }

        impl $name {
            /// Whether anything of it is given.
            pub fn is_given(&self) -> bool {
                false $(|| self.$field.is_some())*
            }

            /// The addresses in it, with the names of their settings.
            pub(crate) fn addresses(&self) -> Vec<(&'static str, &Url)> {
                let all = [$((stringify!($field), self.$field.as_ref().and_then(Value::address))),*];
                all.into_iter().filter_map(|(name, url)| Some((name, url?))).collect()
            }
        }
    )*};
}

sections! {
    /// Whoever makes the clusters, and keeps the pool of accounts.
    GardenerSection {
        /// The kubeconfig of the garden: a file.
        #[config(env = "KCP_BROKER_GARDENER_KUBECONFIG")]
        kubeconfig: PathBuf,
        /// The project whose accounts and Shoots are ours.
        #[config(env = "KCP_BROKER_GARDENER_PROJECT")]
        project: String,
        /// How many calls may be under way at once; 32 if nothing is said.
        #[config(env = "KCP_BROKER_GARDENER_CALLS")]
        calls: NonZeroU16,
    }

    /// The cluster that the control plane lives in.
    ControlPlaneSection {
        /// Its kubeconfig: a file.
        #[config(env = "KCP_BROKER_CONTROL_PLANE_KUBECONFIG")]
        kubeconfig: PathBuf,
    }

    /// Whoever keeps the modules of runtimes.
    LifecycleManagerSection {
        /// Where kubeconfigs are; `kcp-system` if nothing is said.
        #[config(env = "KCP_BROKER_LIFECYCLE_MANAGER_NAMESPACE")]
        namespace: String,
        /// The version of the Kyma resource: `v1alpha1`, `v1beta1`, or `v1beta2` if nothing is said.
        #[config(env = "KCP_BROKER_LIFECYCLE_MANAGER_KYMA_VERSION")]
        kyma_version: String,
    }

    /// Whoever makes runtimes.
    ProvisionerSection {
        /// Its GraphQL endpoint.
        #[config(env = "KCP_BROKER_PROVISIONER_URL")]
        url: Url,
        /// Where tokens come from. Without it none are sent.
        #[config(env = "KCP_BROKER_PROVISIONER_TOKEN_URL")]
        token_url: Url,
        /// The client that asks for tokens.
        #[config(env = "KCP_BROKER_PROVISIONER_CLIENT_ID")]
        client_id: String,
        /// That client's secret.
        #[config(env = "KCP_BROKER_PROVISIONER_CLIENT_SECRET")]
        client_secret: SecretString,
        /// How many calls may be under way at once; 32 if nothing is said.
        #[config(env = "KCP_BROKER_PROVISIONER_CALLS")]
        calls: NonZeroU16,
    }

    /// The registry of runtimes.
    DirectorSection {
        /// Its GraphQL endpoint.
        #[config(env = "KCP_BROKER_DIRECTOR_URL")]
        url: Url,
        /// Where tokens come from.
        #[config(env = "KCP_BROKER_DIRECTOR_TOKEN_URL")]
        token_url: Url,
        /// The client that asks for tokens.
        #[config(env = "KCP_BROKER_DIRECTOR_CLIENT_ID")]
        client_id: String,
        /// That client's secret.
        #[config(env = "KCP_BROKER_DIRECTOR_CLIENT_SECRET")]
        client_secret: SecretString,
    }

    /// Where releases of Kyma are; the public ones if nothing is said.
    ReleasesSection {
        /// Below this address are the releases.
        #[config(env = "KCP_BROKER_RELEASES_URL")]
        url: Url,
        /// Below this address is what is not released yet.
        #[config(env = "KCP_BROKER_RELEASES_DEVELOPMENT_URL")]
        development_url: Url,
    }

    /// Whoever installs Kyma and keeps it.
    ReconcilerSection {
        /// Its address inside the control plane.
        #[config(env = "KCP_BROKER_RECONCILER_URL")]
        url: Url,
    }

    /// The availability service.
    AvsSection {
        /// Where evaluations are made.
        #[config(env = "KCP_BROKER_AVS_API_ENDPOINT")]
        api_endpoint: Url,
        /// Where tokens come from.
        #[config(env = "KCP_BROKER_AVS_OAUTH_TOKEN_ENDPOINT")]
        oauth_token_endpoint: Url,
        /// The public client that asks for tokens.
        #[config(env = "KCP_BROKER_AVS_OAUTH_CLIENT_ID")]
        oauth_client_id: String,
        /// The technical user.
        #[config(env = "KCP_BROKER_AVS_OAUTH_USERNAME")]
        oauth_username: String,
        /// The technical user's password.
        #[config(env = "KCP_BROKER_AVS_OAUTH_PASSWORD")]
        oauth_password: SecretString,
        /// The group of all evaluations.
        #[config(env = "KCP_BROKER_AVS_GROUP_ID")]
        group_id: i64,
        /// The evaluation they all belong to.
        #[config(env = "KCP_BROKER_AVS_PARENT_ID")]
        parent_id: i64,
        /// Who tests from inside.
        #[config(env = "KCP_BROKER_AVS_INTERNAL_TESTER_ACCESS_ID")]
        internal_tester_access_id: i64,
        /// The service name of internal evaluations.
        #[config(env = "KCP_BROKER_AVS_INTERNAL_TESTER_SERVICE")]
        internal_tester_service: String,
        /// The tags of internal evaluations: a JSON list of objects with `content` and `tag_class_id`.
        #[config(env = "KCP_BROKER_AVS_INTERNAL_TESTER_TAGS")]
        internal_tester_tags: String,
        /// Who tests from outside.
        #[config(env = "KCP_BROKER_AVS_EXTERNAL_TESTER_ACCESS_ID")]
        external_tester_access_id: i64,
        /// The service name of external evaluations.
        #[config(env = "KCP_BROKER_AVS_EXTERNAL_TESTER_SERVICE")]
        external_tester_service: String,
        /// The tags of external evaluations, likewise.
        #[config(env = "KCP_BROKER_AVS_EXTERNAL_TESTER_TAGS")]
        external_tester_tags: String,
        /// Who tests trial and free runtimes. The three settings of trials count together or not at all.
        #[config(env = "KCP_BROKER_AVS_TRIAL_INTERNAL_TESTER_ACCESS_ID")]
        trial_internal_tester_access_id: i64,
        /// Their group.
        #[config(env = "KCP_BROKER_AVS_TRIAL_GROUP_ID")]
        trial_group_id: i64,
        /// The evaluation they belong to.
        #[config(env = "KCP_BROKER_AVS_TRIAL_PARENT_ID")]
        trial_parent_id: i64,
        /// The class of tags with the shoot's name. The three classes count together or not at all.
        #[config(env = "KCP_BROKER_AVS_GARDENER_SHOOT_NAME_TAG_CLASS_ID")]
        gardener_shoot_name_tag_class_id: i64,
        /// The class of tags with the seed's name.
        #[config(env = "KCP_BROKER_AVS_GARDENER_SEED_NAME_TAG_CLASS_ID")]
        gardener_seed_name_tag_class_id: i64,
        /// The class of tags with the region.
        #[config(env = "KCP_BROKER_AVS_REGION_TAG_CLASS_ID")]
        region_tag_class_id: i64,
    }

    /// The event data platform.
    EdpSection {
        /// Where tokens come from; `/oauth2/token` is added.
        #[config(env = "KCP_BROKER_EDP_AUTH_URL")]
        auth_url: Url,
        /// Where data tenants are made.
        #[config(env = "KCP_BROKER_EDP_ADMIN_URL")]
        admin_url: Url,
        /// The namespace of our data tenants, and part of our client id.
        #[config(env = "KCP_BROKER_EDP_NAMESPACE")]
        namespace: String,
        /// The secret of our client.
        #[config(env = "KCP_BROKER_EDP_SECRET")]
        secret: SecretString,
        /// The environment of our data tenants; `prod` if nothing is said.
        #[config(env = "KCP_BROKER_EDP_ENVIRONMENT")]
        environment: String,
        /// Whether an instance must not do without; it need not if nothing is said.
        #[config(env = "KCP_BROKER_EDP_REQUIRED")]
        required: bool,
    }

    /// The identity authentication service.
    IasSection {
        /// Where it is.
        #[config(env = "KCP_BROKER_IAS_URL")]
        url: Url,
        /// The technical user.
        #[config(env = "KCP_BROKER_IAS_USER_ID")]
        user_id: String,
        /// The technical user's secret.
        #[config(env = "KCP_BROKER_IAS_USER_SECRET")]
        user_secret: SecretString,
        /// The identity provider that people come from, by name.
        #[config(env = "KCP_BROKER_IAS_IDENTITY_PROVIDER")]
        identity_provider: String,
    }

    /// The logging service.
    LmsSection {
        /// Where it is.
        #[config(env = "KCP_BROKER_LMS_URL")]
        url: Url,
        /// The token it asks for.
        #[config(env = "KCP_BROKER_LMS_TOKEN")]
        token: SecretString,
        /// How large tenants are: `ha`, or `single-node` if nothing is said.
        #[config(env = "KCP_BROKER_LMS_CLUSTER_TYPE")]
        cluster_type: String,
        /// The environment of our tenants.
        #[config(env = "KCP_BROKER_LMS_ENVIRONMENT")]
        environment: String,
        /// The tenant that people come from.
        #[config(env = "KCP_BROKER_LMS_SAML_TENANT")]
        saml_tenant: String,
        /// The region of all tenants, instead of the runtime's.
        #[config(env = "KCP_BROKER_LMS_REGION")]
        region: String,
        /// Whether an instance must not do without; it need not if nothing is said.
        #[config(env = "KCP_BROKER_LMS_MANDATORY")]
        mandatory: bool,
        /// `all`, `none`, or a list of global accounts with commas between them; `none` if nothing is said.
        #[config(env = "KCP_BROKER_LMS_ENABLED_FOR_GLOBAL_ACCOUNTS")]
        enabled_for_global_accounts: String,
    }

    /// Whoever tells customers about maintenance.
    SpcSection {
        /// Where maintenance events are made.
        #[config(env = "KCP_BROKER_SPC_URL")]
        url: Url,
    }

    /// What happened to subaccounts.
    CisEventsSection {
        /// The address of the service.
        #[config(env = "KCP_BROKER_CIS_EVENTS_URL")]
        url: Url,
        /// The whole address of its token endpoint.
        #[config(env = "KCP_BROKER_CIS_EVENTS_AUTH_URL")]
        auth_url: Url,
        /// The client that asks for tokens.
        #[config(env = "KCP_BROKER_CIS_EVENTS_CLIENT_ID")]
        client_id: String,
        /// That client's secret.
        #[config(env = "KCP_BROKER_CIS_EVENTS_CLIENT_SECRET")]
        client_secret: SecretString,
        /// How many events a page has; 150 if nothing is said.
        #[config(env = "KCP_BROKER_CIS_EVENTS_PAGE_SIZE")]
        page_size: NonZeroU16,
    }

    /// What subaccounts are.
    CisAccountsSection {
        /// The address of the service.
        #[config(env = "KCP_BROKER_CIS_ACCOUNTS_URL")]
        url: Url,
        /// The whole address of its token endpoint.
        #[config(env = "KCP_BROKER_CIS_ACCOUNTS_AUTH_URL")]
        auth_url: Url,
        /// The client that asks for tokens.
        #[config(env = "KCP_BROKER_CIS_ACCOUNTS_CLIENT_ID")]
        client_id: String,
        /// That client's secret.
        #[config(env = "KCP_BROKER_CIS_ACCOUNTS_CLIENT_SECRET")]
        client_secret: SecretString,
    }

    /// How many instances subaccounts may have.
    CisEntitlementsSection {
        /// The address of the service.
        #[config(env = "KCP_BROKER_CIS_ENTITLEMENTS_URL")]
        url: Url,
        /// The whole address of its token endpoint.
        #[config(env = "KCP_BROKER_CIS_ENTITLEMENTS_AUTH_URL")]
        auth_url: Url,
        /// The client that asks for tokens.
        #[config(env = "KCP_BROKER_CIS_ENTITLEMENTS_CLIENT_ID")]
        client_id: String,
        /// That client's secret.
        #[config(env = "KCP_BROKER_CIS_ENTITLEMENTS_CLIENT_SECRET")]
        client_secret: SecretString,
    }

    /// Amazon.
    AwsSection {
        /// The one address of all regions, instead of Amazon's own.
        #[config(env = "KCP_BROKER_AWS_ENDPOINT")]
        endpoint: Url,
        /// Whose accounts: `global`, `chinese` or `ns2`; `global` if nothing is said.
        #[config(env = "KCP_BROKER_AWS_MARKET")]
        market: String,
    }

    /// Azure.
    AzureSection {
        /// Where tokens are issued, instead of the public cloud.
        #[config(env = "KCP_BROKER_AZURE_AUTHORITY")]
        authority: Url,
        /// The resource manager, instead of the public cloud's.
        #[config(env = "KCP_BROKER_AZURE_MANAGEMENT")]
        management: Url,
    }
}
