//! From settings to clients. What is missing is named with its key and its variable.

use std::{path::Path, sync::Arc};

use anyhow::{Context, anyhow};
use clients::{
    Component, Gate, Grant, Http, Limits, TokenSource,
    avs::{self, Avs, Tag, TagClasses, Tester, Trial},
    aws::Market,
    azure::Cloud,
    cis::{self, Accounts, Entitlements, Events},
    director::Director,
    edp::{self, Edp},
    gardener::Gardener,
    ias::{self, Ias},
    kubernetes::Cluster,
    lifecycle_manager::{self, LifecycleManager},
    lms::{self, EnabledFor, Lms},
    provisioner::{self, Provisioner},
    reconciler::{self, Reconciler},
    spc::{self, Spc},
};
use secrecy::SecretString;
use url::Url;

use super::{Amazon, Logging, Releases, Systems};
use crate::gates::Gates;
use crate::settings::systems::{
    AvsSection, AwsSection, AzureSection, DirectorSection, EdpSection, GardenerSection, IasSection,
    LifecycleManagerSection, LmsSection, ProvisionerSection, SystemSettings,
};

/// Under which name our fields are ours in the garden.
const OWNER: &str = "kcp-broker";
/// What the Director's tokens allow.
const DIRECTOR_SCOPE: &str = "runtime:read runtime:write";
/// The namespace of the Lifecycle Manager, unless it is another one.
const NAMESPACE: &str = "kcp-system";
/// How many events a page has, unless it is said: what the newer edition gives at most.
const PAGE: u16 = 150;

/// A value that a section must have.
struct Needed<'a>(&'a str);

impl Needed<'_> {
    fn of<T: Clone>(&self, key: &str, value: Option<&T>) -> anyhow::Result<T> {
        value.cloned().ok_or_else(|| {
            let section = self.0;
            let variable = format!("{section}_{key}").replace('.', "_").to_uppercase();
            anyhow!("systems.{section}.{key} is missing (or KCP_BROKER_{variable})")
        })
    }
}

impl Systems {
    /// Clients of all systems that `settings` name. Nothing is called yet.
    pub async fn open(settings: &SystemSettings, gates: &Gates) -> anyhow::Result<Self> {
        for (setting, url) in settings.addresses() {
            gates.check(&setting, url)?;
        }
        let made = Maker { gates };
        let control_plane = match &settings.control_plane.kubeconfig {
            Some(path) => Some(
                made.cluster(Component::CONTROL_PLANE, Limits::CLUSTER, path, "control_plane")
                    .await?,
            ),
            None => None,
        };
        let modules = &settings.lifecycle_manager;
        Ok(Self {
            gardener: if settings.gardener.is_given() {
                Some(made.gardener(&settings.gardener).await?)
            } else {
                None
            },
            lifecycle_manager: given(modules.is_given(), || {
                self::modules(modules, control_plane.as_ref())
            })?,
            control_plane,
            provisioner: given(settings.provisioner.is_given(), || {
                made.provisioner(&settings.provisioner)
            })?,
            director: given(settings.director.is_given(), || made.director(&settings.director))?,
            releases: given(settings.releases.is_given(), || {
                let (needed, section) = (Needed("releases"), &settings.releases);
                let released = needed.of("url", section.url.as_ref())?;
                let development = section.development_url.clone();
                let development = development.unwrap_or_else(|| released.clone());
                Ok(Releases { released, development })
            })?,
            reconciler: given(settings.reconciler.is_given(), || {
                let url = Needed("reconciler").of("url", settings.reconciler.url.as_ref())?;
                let settings = reconciler::Settings { url };
                Ok(Reconciler::through(made.gate(reconciler::COMPONENT), &settings)?)
            })?,
            avs: given(settings.avs.is_given(), || made.avs(&settings.avs))?,
            edp: given(settings.edp.is_given(), || made.edp(&settings.edp))?,
            ias: given(settings.ias.is_given(), || made.ias(&settings.ias))?,
            lms: given(settings.lms.is_given(), || made.lms(&settings.lms))?,
            spc: given(settings.spc.is_given(), || {
                let url = Needed("spc").of("url", settings.spc.url.as_ref())?;
                Ok(Spc::new(spc::Settings { url }, made.gate(spc::COMPONENT))?)
            })?,
            aws: given(settings.aws.is_given(), || aws(&settings.aws))?,
            azure: given(settings.azure.is_given(), || Ok(azure(&settings.azure)))?,
            ..made.accounts(settings)?
        })
    }
}

fn given<T>(is_given: bool, make: impl FnOnce() -> anyhow::Result<T>) -> anyhow::Result<Option<T>> {
    is_given.then(make).transpose()
}

struct Maker<'a> {
    gates: &'a Gates,
}

impl Maker<'_> {
    fn gate(&self, component: Component) -> Arc<Gate> {
        self.gates.gate(component)
    }

    fn tokens(&self) -> Arc<Gate> {
        self.gate(Component::ISSUER)
    }

    async fn cluster(
        &self,
        component: Component,
        limits: Limits,
        path: &Path,
        section: &str,
    ) -> anyhow::Result<Cluster> {
        let setting = format!("systems.{section}.kubeconfig: {}", path.display());
        let text = tokio::fs::read_to_string(path)
            .await
            .with_context(|| format!("{setting} cannot be read"))?;
        self.gates.check_kubeconfig(&setting, &text)?;
        let gate = self.gates.limited(component, limits);
        let connected = Cluster::connect(gate, &SecretString::from(text)).await;
        connected.with_context(|| format!("{setting} cannot be used"))
    }

    async fn gardener(&self, section: &GardenerSection) -> anyhow::Result<Gardener> {
        let GardenerSection { kubeconfig, project, calls } = section;
        let needed = Needed("gardener");
        let path = needed.of("kubeconfig", kubeconfig.as_ref())?;
        let project = needed.of("project", project.as_ref())?;
        let at_once = calls.map_or(Limits::CLUSTER.at_once, |calls| calls.get().into());
        let limits = Limits { at_once, ..Limits::CLUSTER };
        let cluster = self.cluster(Component::GARDENER, limits, &path, "gardener").await?;
        Ok(Gardener::new(cluster, &project, OWNER))
    }

    fn provisioner(&self, section: &ProvisionerSection) -> anyhow::Result<Provisioner> {
        let ProvisionerSection { url, token_url, client_id, client_secret, calls } = section;
        let needed = Needed("provisioner");
        let access = match token_url {
            Some(token_url) => Some(provisioner::Access {
                token_url: token_url.clone(),
                client_id: needed.of("client_id", client_id.as_ref())?,
                client_secret: needed.of("client_secret", client_secret.as_ref())?,
            }),
            None if client_id.is_some() || client_secret.is_some() => {
                needed.of::<Url>("token_url", None)?;
                None
            }
            None => None,
        };
        let url = needed.of("url", url.as_ref())?;
        let limits = provisioner::LIMITS;
        let at_once = calls.map_or(limits.at_once, |calls| calls.get().into());
        let limits = Limits { at_once, ..limits };
        let gate = self.gates.limited(provisioner::COMPONENT, limits);
        let settings = provisioner::Settings { url, access };
        Ok(Provisioner::through(gate, self.tokens(), &settings)?)
    }

    fn director(&self, section: &DirectorSection) -> anyhow::Result<Director> {
        let DirectorSection { url, token_url, client_id, client_secret } = section;
        let needed = Needed("director");
        let grant = Grant::ClientCredentials {
            id: needed.of("client_id", client_id.as_ref())?,
            secret: needed.of("client_secret", client_secret.as_ref())?,
            scope: DIRECTOR_SCOPE.into(),
        };
        let token_url = needed.of("token_url", token_url.as_ref())?;
        let url = needed.of("url", url.as_ref())?;
        let tokens = TokenSource::through(self.tokens(), token_url, grant)?;
        let http = Http::through(self.gate(Component::DIRECTOR), url)?.with_token(tokens);
        Ok(Director::new(http.renewing_refused_tokens()))
    }

    fn avs(&self, section: &AvsSection) -> anyhow::Result<Avs> {
        let AvsSection {
            api_endpoint,
            oauth_token_endpoint,
            oauth_client_id,
            oauth_username,
            oauth_password,
            group_id,
            parent_id,
            internal_tester_access_id,
            internal_tester_service,
            internal_tester_tags,
            external_tester_access_id,
            external_tester_service,
            external_tester_tags,
            trial_internal_tester_access_id,
            trial_group_id,
            trial_parent_id,
            gardener_shoot_name_tag_class_id,
            gardener_seed_name_tag_class_id,
            region_tag_class_id,
        } = section;
        let needed = Needed("avs");
        let internal = Tester {
            access_id: needed
                .of("internal_tester_access_id", internal_tester_access_id.as_ref())?,
            service: internal_tester_service.clone().unwrap_or_default(),
            tags: tags("internal_tester_tags", internal_tester_tags.as_ref())?,
        };
        let external = Tester {
            access_id: needed
                .of("external_tester_access_id", external_tester_access_id.as_ref())?,
            service: external_tester_service.clone().unwrap_or_default(),
            tags: tags("external_tester_tags", external_tester_tags.as_ref())?,
        };
        let classes = (
            gardener_shoot_name_tag_class_id,
            gardener_seed_name_tag_class_id,
            region_tag_class_id,
        );
        let settings = avs::Settings {
            endpoint: needed.of("api_endpoint", api_endpoint.as_ref())?,
            token_endpoint: needed.of("oauth_token_endpoint", oauth_token_endpoint.as_ref())?,
            client_id: needed.of("oauth_client_id", oauth_client_id.as_ref())?,
            user: needed.of("oauth_username", oauth_username.as_ref())?,
            password: needed.of("oauth_password", oauth_password.as_ref())?,
            group_id: needed.of("group_id", group_id.as_ref())?,
            parent_id: needed.of("parent_id", parent_id.as_ref())?,
            internal,
            external,
            trial: Trial::of(
                trial_internal_tester_access_id.unwrap_or_default(),
                trial_group_id.unwrap_or_default(),
                trial_parent_id.unwrap_or_default(),
            ),
            tag_classes: match classes {
                (&Some(shoot_name), &Some(seed_name), &Some(region)) => {
                    Some(TagClasses { shoot_name, seed_name, region })
                }
                _ => None,
            },
        };
        Ok(Avs::new(settings, self.gate(avs::COMPONENT), self.tokens())?)
    }

    fn edp(&self, section: &EdpSection) -> anyhow::Result<Edp> {
        let EdpSection { auth_url, admin_url, namespace, secret, environment, required: _ } =
            section;
        let needed = Needed("edp");
        let settings = edp::Settings {
            auth_url: needed.of("auth_url", auth_url.as_ref())?,
            admin_url: needed.of("admin_url", admin_url.as_ref())?,
            namespace: needed.of("namespace", namespace.as_ref())?,
            secret: needed.of("secret", secret.as_ref())?,
            environment: environment.clone().unwrap_or_else(|| "prod".into()),
        };
        Ok(Edp::new(settings, self.gate(edp::COMPONENT), self.tokens())?)
    }

    fn ias(&self, section: &IasSection) -> anyhow::Result<Ias> {
        let IasSection { url, user_id, user_secret, identity_provider } = section;
        let needed = Needed("ias");
        let settings = ias::Settings {
            url: needed.of("url", url.as_ref())?,
            user: needed.of("user_id", user_id.as_ref())?,
            secret: needed.of("user_secret", user_secret.as_ref())?,
            identity_provider: needed.of("identity_provider", identity_provider.as_ref())?,
        };
        Ok(Ias::new(settings, self.gate(ias::COMPONENT))?)
    }

    fn lms(&self, section: &LmsSection) -> anyhow::Result<Logging> {
        let LmsSection {
            url,
            token,
            cluster_type,
            environment,
            saml_tenant,
            region,
            mandatory,
            enabled_for_global_accounts,
        } = section;
        let needed = Needed("lms");
        let size = cluster_type.as_deref().unwrap_or("single-node");
        let settings = lms::Settings {
            url: needed.of("url", url.as_ref())?,
            token: needed.of("token", token.as_ref())?,
            cluster_type: size.parse().context("systems.lms.cluster_type")?,
            environment: needed.of("environment", environment.as_ref())?,
            saml_tenant: needed.of("saml_tenant", saml_tenant.as_ref())?,
            region: region.clone(),
        };
        let enabled = enabled_for_global_accounts.as_deref().unwrap_or_default();
        Ok(Logging {
            client: Lms::new(settings, self.gate(lms::COMPONENT))?,
            enabled: EnabledFor::parse(enabled),
            mandatory: mandatory.unwrap_or_default(),
        })
    }

    /// The three services for accounts.
    fn accounts(&self, settings: &SystemSettings) -> anyhow::Result<Systems> {
        macro_rules! service {
            ($section:expr, $name:literal, $page:expr) => {
                given($section.is_given(), || {
                    let needed = Needed($name);
                    anyhow::Ok(cis::Settings {
                        url: needed.of("url", $section.url.as_ref())?,
                        token_url: needed.of("auth_url", $section.auth_url.as_ref())?,
                        client_id: needed.of("client_id", $section.client_id.as_ref())?,
                        client_secret: needed
                            .of("client_secret", $section.client_secret.as_ref())?,
                        page_size: $page,
                    })
                })?
            };
        }
        let all = &settings.cis;
        let page = all.events.page_size.map_or(PAGE, std::num::NonZeroU16::get);
        let events = service!(all.events, "cis.events", page);
        let accounts = service!(all.accounts, "cis.accounts", PAGE);
        let entitlements = service!(all.entitlements, "cis.entitlements", PAGE);
        let gates = || (self.gate(cis::COMPONENT), self.tokens());
        Ok(Systems {
            events: match events {
                Some(settings) => Some(Events::through(gates().0, gates().1, &settings)?),
                None => None,
            },
            accounts: match accounts {
                Some(settings) => Some(Accounts::through(gates().0, gates().1, &settings)?),
                None => None,
            },
            entitlements: match entitlements {
                Some(settings) => Some(Entitlements::through(gates().0, gates().1, &settings)?),
                None => None,
            },
            ..Systems::default()
        })
    }
}

fn modules(
    LifecycleManagerSection { namespace, kyma_version }: &LifecycleManagerSection,
    cluster: Option<&Cluster>,
) -> anyhow::Result<LifecycleManager> {
    let cluster = Needed("control_plane").of("kubeconfig", cluster)?;
    let version = kyma_version.as_deref().map(str::parse).transpose();
    let version: Option<lifecycle_manager::Version> =
        version.context("systems.lifecycle_manager.kyma_version")?;
    let namespace = namespace.as_deref().unwrap_or(NAMESPACE);
    Ok(LifecycleManager::new(cluster, namespace, version.unwrap_or_default()))
}

fn aws(AwsSection { endpoint, market }: &AwsSection) -> anyhow::Result<Amazon> {
    let market = match market.as_deref() {
        None | Some("global") => Market::Global,
        Some("chinese") => Market::Chinese,
        Some("ns2") => Market::Ns2,
        Some(other) => {
            anyhow::bail!("systems.aws.market: \"{other}\" is none of global, chinese and ns2")
        }
    };
    Ok(Amazon { endpoint: endpoint.clone(), market })
}

fn azure(AzureSection { authority, management }: &AzureSection) -> Cloud {
    let public = Cloud::public();
    Cloud {
        authority: authority.clone().unwrap_or(public.authority),
        management: management.clone().unwrap_or(public.management),
    }
}

/// Tags as the settings write them.
fn tags(key: &str, text: Option<&String>) -> anyhow::Result<Vec<Tag>> {
    let Some(text) = text else { return Ok(Vec::new()) };
    serde_json::from_str(text).with_context(|| format!("systems.avs.{key} is no list of tags"))
}
