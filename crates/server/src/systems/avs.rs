//! The availability service.

use anyhow::Context;
use clients::avs::{self, Avs, Tag, TagClasses, Tester, Trial};
use confique::Config;
use secrecy::SecretString;
use url::Url;

use super::{
    about::{About, Setting, Usage},
    check::Check,
    opening::ClientBuilder,
    section::section,
};

pub(super) type Client = Avs;

pub(super) const ABOUT: About = About {
    name: avs::COMPONENT.0,
    purpose: "watches every runtime and counts its outages",
    usage: Usage::StepsAndMore {
        called: "after an upgrade has ended, well or not: evaluations get the status back that they had",
        when_down: "evaluations stay in maintenance mode: it is tried again every 2 minutes",
    },
    settings: &[Setting::Section(&Section::META)],
};

section! {
    Section {
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
        /// Parent of all evaluations.
        #[config(env = "KCP_BROKER_AVS_PARENT_ID")]
        parent_id: i64,
        /// The internal tester.
        #[config(env = "KCP_BROKER_AVS_INTERNAL_TESTER_ACCESS_ID")]
        internal_tester_access_id: i64,
        /// The service name of internal evaluations.
        #[config(env = "KCP_BROKER_AVS_INTERNAL_TESTER_SERVICE")]
        internal_tester_service: String,
        /// The tags of internal evaluations: a JSON list of objects with `content` and `tag_class_id`.
        #[config(env = "KCP_BROKER_AVS_INTERNAL_TESTER_TAGS")]
        internal_tester_tags: String,
        /// The external tester.
        #[config(env = "KCP_BROKER_AVS_EXTERNAL_TESTER_ACCESS_ID")]
        external_tester_access_id: i64,
        /// The service name of external evaluations.
        #[config(env = "KCP_BROKER_AVS_EXTERNAL_TESTER_SERVICE")]
        external_tester_service: String,
        /// The tags of external evaluations, likewise.
        #[config(env = "KCP_BROKER_AVS_EXTERNAL_TESTER_TAGS")]
        external_tester_tags: String,
        /// Tester of trial and free runtimes. The three settings of trials count together or not at all.
        #[config(env = "KCP_BROKER_AVS_TRIAL_INTERNAL_TESTER_ACCESS_ID")]
        trial_internal_tester_access_id: i64,
        /// Group of trial evaluations.
        #[config(env = "KCP_BROKER_AVS_TRIAL_GROUP_ID")]
        trial_group_id: i64,
        /// Parent of trial evaluations.
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
}

pub(super) fn open(section: &Section, opening: &ClientBuilder<'_>) -> anyhow::Result<Client> {
    let Section {
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
    let internal = Tester {
        access_id: opening
            .required("internal_tester_access_id", internal_tester_access_id.as_ref())?,
        service: internal_tester_service.clone().unwrap_or_default(),
        tags: tags("internal_tester_tags", internal_tester_tags.as_ref())?,
    };
    let external = Tester {
        access_id: opening
            .required("external_tester_access_id", external_tester_access_id.as_ref())?,
        service: external_tester_service.clone().unwrap_or_default(),
        tags: tags("external_tester_tags", external_tester_tags.as_ref())?,
    };
    let classes =
        (gardener_shoot_name_tag_class_id, gardener_seed_name_tag_class_id, region_tag_class_id);
    let settings = avs::Settings {
        endpoint: opening.required("api_endpoint", api_endpoint.as_ref())?,
        token_endpoint: opening.required("oauth_token_endpoint", oauth_token_endpoint.as_ref())?,
        client_id: opening.required("oauth_client_id", oauth_client_id.as_ref())?,
        user: opening.required("oauth_username", oauth_username.as_ref())?,
        password: opening.required("oauth_password", oauth_password.as_ref())?,
        group_id: opening.required("group_id", group_id.as_ref())?,
        parent_id: opening.required("parent_id", parent_id.as_ref())?,
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
    Ok(Avs::new(settings, opening.gate(avs::COMPONENT), opening.tokens())?)
}

pub(super) fn checks(client: &Client) -> Vec<Check<'_>> {
    vec![Check::of(ABOUT.name, client.check())]
}

/// Tags as the settings write them.
fn tags(key: &str, text: Option<&String>) -> anyhow::Result<Vec<Tag>> {
    let Some(text) = text else { return Ok(Vec::new()) };
    serde_json::from_str(text).with_context(|| format!("systems.avs.{key} is not a list of tags"))
}
