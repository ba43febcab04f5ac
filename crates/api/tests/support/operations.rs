//! A few operations without a store behind them.

use std::{collections::BTreeMap, sync::Arc};

use api::health::Readiness;
use base::Failure;
use broker::operations::view::{
    Answer, Entry, Event, Explanation, OperationView, Operations, Page, PageAsk, State, ViewError,
};
use domain::OperationId;
use engine::storage::{EntryEvent, Outcome, Snapshot};
use jiff::Timestamp;
use tokio::sync::broadcast;
use uuid::Uuid;

/// The one operation that exists and runs.
pub const RUNNING: &str = "018f0000-0000-7000-8000-000000000001";
/// One that has ended.
pub const ENDED: &str = "018f0000-0000-7000-8000-000000000002";
/// One that breaks the handler.
pub const BREAKING: &str = "018f0000-0000-7000-8000-00000000dead";

fn noon(seconds: i64) -> Timestamp {
    Timestamp::from_second(super::tokens::NOW + seconds).unwrap()
}

/// Fixed operations.
pub struct Fixed {
    pub events: broadcast::Sender<Arc<Event>>,
}

impl Fixed {
    pub fn new() -> Self {
        Self { events: broadcast::channel(8).0 }
    }

    fn snapshot(id: &OperationId) -> Result<Snapshot, ViewError> {
        let state = match id.to_string().as_str() {
            RUNNING => State::InProgress,
            ENDED => State::Succeeded,
            BREAKING => panic!("secret /etc/path"),
            _ => return Err(ViewError::Unknown(id.clone())),
        };
        Ok(Snapshot {
            id: id.uuid(),
            root: id.uuid(),
            instance: "instance-1".into(),
            kind: "demonstration".into(),
            data_version: 1,
            lane: String::new(),
            state,
            stage: Some("build".into()),
            step: Some("Wait_For_Parts".into()),
            closed: vec!["prepare".into()],
            incomplete: vec![],
            failing_since: None,
            waiting_since: Some(noon(2)),
            note: Some("the parts are on their way".into()),
            failure: None,
            owner: Some(Uuid::nil()),
            epoch: 1,
            held: false,
            runs: 4,
            due_at: Some(noon(9)),
            cancel: None,
            created_at: noon(0),
            started_at: Some(noon(1)),
            updated_at: noon(4),
            ended_at: None,
            input: b"secret".to_vec(),
            data: b"secret".to_vec(),
        })
    }

    fn entry() -> Entry {
        Entry {
            seq: 1,
            event: EntryEvent::Run,
            stage: Some("build".into()),
            step: Some("Wait_For_Parts".into()),
            run: Some(4),
            times: 2,
            epoch: 1,
            replica: Some(Uuid::nil()),
            began_at: noon(2),
            ended_at: noon(4),
            outcome: Some(Outcome::Transient),
            reason: None,
            failure: Some(Failure::new("parts", "unavailable", "the shop is closed")),
            next_at: Some(noon(9)),
            state: State::InProgress,
            then_stage: Some("build".into()),
            then_step: Some("Wait_For_Parts".into()),
        }
    }
}

fn ready<T: Send + 'static>(answer: Result<T, ViewError>) -> Answer<'static, T> {
    Box::pin(std::future::ready(answer))
}

impl Operations for Fixed {
    fn list(&self, ask: PageAsk) -> Answer<'_, Page> {
        let all = [RUNNING, ENDED].map(|id| Self::snapshot(&id.parse().unwrap()).unwrap().into());
        let operations: Vec<OperationView> = all
            .into_iter()
            .filter(|operation: &OperationView| {
                ask.state.is_none_or(|state| operation.state == state)
            })
            .take(ask.limit as usize)
            .collect();
        let next = (operations.len() == 1).then(|| operations[0].id.clone());
        ready(Ok(Page { operations, next }))
    }

    fn find(&self, id: OperationId) -> Answer<'_, OperationView> {
        ready(Self::snapshot(&id).map(Into::into))
    }

    fn journal(&self, id: OperationId) -> Answer<'_, Vec<Entry>> {
        ready(Self::snapshot(&id).map(|_| vec![Self::entry()]))
    }

    fn waiting(&self, id: OperationId) -> Answer<'_, Explanation> {
        ready(Self::snapshot(&id).map(|snapshot| engine::explain(None, &snapshot, noon(5))))
    }

    fn cancel(&self, id: OperationId, reason: String) -> Answer<'_, OperationView> {
        ready(Self::snapshot(&id).and_then(|snapshot| {
            let mut operation = OperationView::from(snapshot);
            if operation.state.is_final() {
                return Err(ViewError::Ended(id));
            }
            operation.cancel = Some(engine::storage::Cancel { state: State::Canceled, reason });
            Ok(operation)
        }))
    }

    fn demonstrate(&self) -> Answer<'_, OperationId> {
        ready(Ok(RUNNING.parse().unwrap()))
    }

    fn events(&self) -> broadcast::Receiver<Arc<Event>> {
        self.events.subscribe()
    }
}

/// Something that happened to the running operation.
pub fn event() -> Arc<Event> {
    Arc::new(Event {
        operation: RUNNING.parse().unwrap(),
        instance: "instance-1".into(),
        kind: "demonstration".into(),
        lane: String::new(),
        journal: 3,
        stage: "build".into(),
        step: "Wait_For_Parts".into(),
        outcome: Outcome::Done,
        reason: None,
        failure: None,
        began_at: noon(2),
        ended_at: noon(4),
        next_at: None,
        state: State::InProgress,
    })
}

/// A service whose engine has no lease.
pub struct Half;

impl Readiness for Half {
    fn parts(
        &self,
    ) -> std::pin::Pin<Box<dyn Future<Output = BTreeMap<&'static str, bool>> + Send + '_>> {
        Box::pin(std::future::ready([("database", true), ("engine", false)].into()))
    }
}
