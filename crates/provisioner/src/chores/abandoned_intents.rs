//! Cleans up after requests that registered a runtime and got no further.

use std::time::Duration;

use store::provisioner::AbandonedIntent;
use uuid::Uuid;

use crate::{Error, Parts, Provisioner, runtimes::INTENT_LABEL};

/// No request takes this long: its caller has given up.
const ABANDONED: Duration = Duration::from_mins(10);
/// How long an answered request is recognised again.
const REMEMBERED: Duration = Duration::from_hours(7 * 24);
/// How many are read at once.
const MOST: u32 = 100;
/// The interval between two checks.
const EVERY: Duration = Duration::from_mins(1);

/// Goes on until it is dropped.
pub async fn keep(provisioner: Provisioner) {
    let clock = provisioner.parts().clock.clone();
    loop {
        clock.sleep(EVERY).await;
        if let Err(error) = clean(&provisioner).await {
            let error = base::failure::chain(&error);
            tracing::warn!(error, "cannot clean up abandoned requests");
        }
    }
}

/// Cleans up once; how many were cleaned up after.
pub async fn clean(provisioner: &Provisioner) -> Result<usize, Error> {
    let parts = provisioner.parts();
    let now = parts.clock.now();
    let (mut cleaned, mut last) = (0, None);
    loop {
        let page = parts.store.abandoned_intents(now - ABANDONED, last.as_ref(), MOST).await?;
        for intent in &page {
            match clean_up_after(parts, intent).await {
                Ok(done) => cleaned += usize::from(done),
                // The others do not wait for this one.
                Err(error) => {
                    let error = base::failure::chain(&error);
                    tracing::warn!(intent.id = %intent.id, error, "an abandoned request is not cleaned up after");
                }
            }
        }
        last = page.into_iter().nth(MOST as usize - 1);
        if last.is_none() {
            break;
        }
    }
    parts.store.trim_intents(now - REMEMBERED).await?;
    Ok(cleaned)
}

async fn clean_up_after(parts: &Parts, intent: &AbandonedIntent) -> Result<bool, Error> {
    let director = &parts.env.director;
    let (id, tenant) = (intent.id, intent.tenant.as_str());
    let registered = match intent.runtime_id {
        Some(runtime) => Some(runtime.to_string()),
        None => director.find_by_label(tenant, INTENT_LABEL, &id.to_string()).await?,
    };
    // Not when a runtime came of it after all.
    let kept = registered.as_deref().and_then(|id| Uuid::try_parse(id).ok());
    let kept = match kept {
        Some(id) => parts.store.find(id).await?.is_some(),
        None => false,
    };
    if !kept && let Some(registered) = &registered {
        director.unregister(tenant, registered).await?;
    }
    Ok(parts.store.drop_intent(id).await?)
}
