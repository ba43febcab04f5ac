//! Empties accounts that their tenants have given back, and returns them to the pool.
//!
//! What a reader would get wrong: an account is free only when nothing is left in it. While things are being deleted it stays dirty, and
//! a later run looks again.

use std::{collections::BTreeSet, time::Duration};

use base::failure::chain;
use clients::{
    aws::{self, Aws},
    azure::{self, Azure},
    gardener::{Binding, Pool},
    kubernetes::Resource,
};
use engine::StepError;
use secrecy::SecretString;

use super::{
    Env, Job,
    audited::JobAudit,
    cx::{ActionError, ActionResult, Change, Next, PageCx},
    hours,
    report::Outcome,
};
use crate::overrides::objects::Secret;

const SECRETS: Resource = Resource::core("Secret", "secrets");
/// How many accounts are emptied in one page.
const PAGE: usize = 3;

pub(super) struct SubscriptionCleanUp;

impl Job for SubscriptionCleanUp {
    const NAME: &'static str = "subscription-cleanup";
    const ABOUT: &'static str =
        "empties accounts that were given back, and returns them to the pool";
    const EVERY: Duration = hours(12);

    async fn page(&self, cx: &mut PageCx<'_>) -> Result<Next, StepError> {
        let pool = cx.env.gardener.pool(cx.env.account_bindings);
        let mut dirty = pool.dirty().await?;
        dirty.retain(|binding| cx.cursor.is_none_or(|cursor| binding.name() > cursor));
        let more = dirty.len() > PAGE;
        dirty.truncate(PAGE);
        let used = if dirty.is_empty() { BTreeSet::new() } else { pool.used(&dirty).await? };
        for binding in &dirty {
            if used.contains(binding.name()) {
                cx.skip(binding.name(), "a Shoot uses it");
                continue;
            }
            let audit = cx.audit.clone();
            let action = Box::pin(empty(cx.env, &pool, binding, &audit));
            let change = Change {
                item: binding.name(),
                action: "emptyAccount",
                instance: None,
                would: "would be emptied and returned to the pool",
            };
            cx.act(change, action).await?;
        }
        let last = dirty.last().map(|binding| binding.name().to_owned());
        Ok(last.filter(|_| more).into())
    }
}

async fn empty(
    env: &Env,
    pool: &Pool,
    binding: &Binding,
    audit: &JobAudit,
) -> Result<ActionResult, ActionError> {
    let hyperscaler = binding.labelled("hyperscalerType").unwrap_or_default();
    let provider = hyperscaler.split('_').next().unwrap_or_default();
    // Emptying those before it may have taken minutes.
    if !pool.used(std::slice::from_ref(binding)).await?.is_empty() {
        return Ok(ActionResult::skipped("a Shoot uses it"));
    }
    let left = match provider {
        "aws" => aws(env, pool, binding).await?.clean_up(env.aws.market).await?,
        "azure" => azure(env, pool, binding).await?.clean_up().await?,
        // Nothing of a runtime outlives it there.
        _ => 0,
    };
    if left > 0 {
        return Ok(ActionResult::skipped(format!(
            "{left} volumes or resource groups are being deleted"
        )));
    }
    let entry = audit.begin("releaseAccount", binding.name(), None).await?;
    let released = pool.free(binding).await;
    let (outcome, text) = match &released {
        Ok(()) => (Outcome::Done, format!("free again: {hyperscaler}")),
        Err(error) => (Outcome::Failed, chain(error)),
    };
    audit.finish(entry, outcome, &text).await;
    released?;
    Ok(ActionResult::done(format!("empty and free again: {hyperscaler}")))
}

async fn aws(env: &Env, pool: &Pool, binding: &Binding) -> Result<Aws, ActionError> {
    let credentials = Credentials::read(env, pool, binding).await?;
    let settings = aws::Settings {
        access_key_id: credentials.value("accessKeyID")?,
        secret_access_key: SecretString::from(credentials.value("secretAccessKey")?),
        endpoint: env.aws.endpoint.clone(),
    };
    Ok(Aws::through(env.aws.gate.clone(), settings))
}

async fn azure(env: &Env, pool: &Pool, binding: &Binding) -> Result<Azure, ActionError> {
    let credentials = Credentials::read(env, pool, binding).await?;
    let settings = azure::Settings {
        cloud: env.azure.cloud.clone(),
        credentials: azure::Credentials {
            subscription_id: credentials.value("subscriptionID")?,
            tenant_id: credentials.value("tenantID")?,
            client_id: credentials.value("clientID")?,
            client_secret: credentials.value("clientSecret")?.into(),
        },
    };
    let (gate, tokens) = (env.azure.gate.clone(), env.azure.tokens.clone());
    Ok(Azure::through(gate, tokens, &settings)?)
}

/// The values of an account's Secret. It has no `Debug`.
struct Credentials(Secret);

impl Credentials {
    async fn read(env: &Env, pool: &Pool, binding: &Binding) -> Result<Self, ActionError> {
        let missing = || ActionError::Failed("the account names no Secret".into());
        let (namespace, name) = pool.secret_of(binding).ok_or_else(missing)?;
        let secrets = env.gardener.cluster().objects::<Secret>(SECRETS, Some(namespace));
        Ok(Self(secrets.get(name).await?))
    }

    fn value(&self, key: &str) -> Result<String, ActionError> {
        let found = self.0.texts()?.into_iter().find(|(name, _)| *name == key);
        let missing = || ActionError::Failed(format!("the account's Secret has no {key}"));
        found.map(|(_, text)| text).ok_or_else(missing)
    }
}
