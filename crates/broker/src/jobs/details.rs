//! The details of a run, page by page: the first ones from its report, the others from where they are stored beside it.
//!
//! What a reader would get wrong: a position counts places and not details. A report may have fewer details than it has places, because few
//! of them may be failures; the stored details begin behind all places.

use domain::OperationId;
use engine::{State, StepError, Storage as _};
use serde::Serialize;
use store::broker::{NumberedDetail, StoredDetail};
use uuid::Uuid;

use super::{
    Detail, Env, Error, Jobs, Outcome, Report,
    cursor::store_failed,
    report::DETAILS,
    service::{instance, last_run},
};

/// How many details are stored at once.
const AT_ONCE: usize = 500;

/// Some details of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DetailPage {
    /// The run.
    pub operation: OperationId,
    /// Its state: more details may come while it has not ended.
    pub state: State,
    /// The details.
    pub details: Vec<Detail>,
    /// Where the next page begins; absent on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<u64>,
}

/// Stores the details for which a report had no room. A page that is repeated stores them under the same numbers.
pub(super) async fn store(env: &Env, run: Uuid, report: &mut Report) -> Result<(), StepError> {
    let store = &env.broker.parts().store;
    let overflow = std::mem::take(&mut report.overflow);
    let mut first = report.omitted - overflow.len() as u64;
    for some in overflow.chunks(AT_ONCE) {
        let some: Vec<StoredDetail> = some.iter().map(stored).collect();
        let added = store.add_job_details(run, first, &some).await;
        added.map_err(|error| store_failed(&error))?;
        first += some.len() as u64;
    }
    Ok(())
}

impl Jobs {
    /// Details of a run of a job, of its newest one unless another is named, from a position on; none when there is no such run.
    pub async fn details(
        &self,
        name: &str,
        run: Option<OperationId>,
        after: u64,
        most: u32,
    ) -> Result<Option<DetailPage>, Error> {
        let job = super::service::known(name)?;
        let found = match run {
            Some(run) => self.operations().read(run.uuid()).await?,
            None => {
                let runs = [self.newest(name, false).await?, self.newest(name, true).await?];
                runs.into_iter().flatten().max_by_key(|run| (run.created_at, run.id))
            }
        };
        let of_job = [false, true].map(|dry_run| instance(job.name(), dry_run));
        let Some(found) = found.filter(|found| of_job.contains(&found.instance)) else {
            return Ok(None);
        };
        let report = last_run(&found)?.report;
        let (places, kept) = (DETAILS as u64, report.details.len() as u64);
        let skip = usize::try_from(after).unwrap_or(usize::MAX);
        let mut details: Vec<Detail> =
            report.details.into_iter().skip(skip).take(most as usize).collect();
        let mut position = after.min(kept) + details.len() as u64;
        let room = most - u32::try_from(details.len()).unwrap_or(most);
        let from = after.saturating_sub(places);
        let mut more = position < kept || report.omitted > from;
        if room > 0 {
            let stored = self.store().job_details(found.id, from..report.omitted, room).await?;
            // Numbers may be missing; the next page begins behind the last one.
            let behind = stored.last().map_or(from, |last| last.number + 1);
            more = stored.len() as u64 == u64::from(room) && behind < report.omitted;
            details.extend(stored.into_iter().filter_map(read));
            position = places + behind;
        }
        let next = more.then_some(position);
        Ok(Some(DetailPage { operation: found.id.into(), state: found.state, details, next }))
    }
}

fn stored(detail: &Detail) -> StoredDetail {
    let Detail { item, outcome, text } = detail.clone();
    StoredDetail { item, outcome: outcome.as_str().to_owned(), text }
}

fn read(stored: NumberedDetail) -> Option<Detail> {
    let StoredDetail { item, outcome, text } = stored.detail;
    Some(Detail { item, outcome: Outcome::of_word(&outcome)?, text })
}
