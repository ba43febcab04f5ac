//! Clients: they retry until they are answered, and some of them ask twice.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use base::Clock;
use engine::{
    Operation, OperationId, Order, Storage as _, StorageError,
    storage::{Acceptance, NewOperation, Pairs, Unfinished, Verdict},
};
use kcp_acceptance::torture::plans::{Build, Data, Poison, Remove, Watch};
use store::EngineStore;
use tokio::task::JoinSet;
use uuid::Uuid;

/// One request, and all answers to it. Errors are not answers.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SentRequest {
    pub id: OperationId,
    /// The same in all repetitions of a request.
    pub request: Uuid,
    pub kind: &'static str,
    pub answers: Vec<Acceptance>,
    /// How often it had to be sent because no answer came.
    pub failures: u32,
}

impl SentRequest {
    /// The operations that its answers name.
    pub(crate) fn operations(&self) -> impl Iterator<Item = OperationId> {
        self.answers.iter().map(|answer| match answer {
            Acceptance::Started | Acceptance::Queued => self.id,
            Acceptance::Same(id) | Acceptance::Refused(id) => *id,
        })
    }
}

/// Sends orders and writes down what became of them.
pub(crate) struct Client {
    store: EngineStore,
    clock: Clock,
    log: Arc<Mutex<Vec<SentRequest>>>,
    under_way: JoinSet<()>,
    random: fastrand::Rng,
    instances: u32,
}

impl Client {
    pub(crate) fn new(store: EngineStore, clock: Clock, seed: u64, instances: u32) -> Self {
        let random = fastrand::Rng::with_seed(seed);
        Self { store, clock, log: Arc::default(), under_way: JoinSet::new(), random, instances }
    }

    /// Sends orders for a while, eight or so in a second.
    pub(crate) async fn keep_ordering(&mut self, time: Duration) {
        let clock = self.clock.clone();
        let until = clock.monotonic() + time;
        while clock.monotonic() < until {
            self.order_something();
            let pause = self.random.u64(0..250);
            clock.sleep(Duration::from_millis(pause)).await;
        }
    }

    /// Sends one order of any kind, now and then twice: by the same sender, or by two at once.
    fn order_something(&mut self) {
        let kind = match self.random.u32(0..100) {
            0..8 => Poison::KIND,
            8..20 => Remove::KIND,
            _ => Build::KIND,
        };
        let request = Uuid::from_u128(self.random.u128(..));
        let instance = format!("instance {}", self.random.u32(0..self.instances));
        let times = 1 + u32::from(self.random.f64() < 0.3);
        self.order(kind, request, &instance, times);
        if self.random.f64() < 0.15 {
            self.order(kind, request, &instance, 1);
        }
    }

    /// Sends one order that waits until it is told not to.
    pub(crate) fn order_watch(&mut self, number: u32) {
        let request = Uuid::from_u128(self.random.u128(..));
        self.order(Watch::KIND, request, &format!("watched {number}"), 1);
    }

    fn order(&mut self, kind: &'static str, request: Uuid, instance: &str, times: u32) {
        let id = Uuid::from_u128(self.random.u128(..));
        let number = self.random.u32(0..1_000);
        let new = match kind {
            Poison::KIND => encoded::<Poison>(id, request, instance, number),
            Remove::KIND => encoded::<Remove>(id, request, instance, number),
            Watch::KIND => encoded::<Watch>(id, request, instance, number),
            _ => encoded::<Build>(id, request, instance, number),
        };
        let (store, clock, log) = (self.store.clone(), self.clock.clone(), self.log.clone());
        self.under_way.spawn(async move {
            let mut sent = SentRequest { id, request, kind, answers: Vec::new(), failures: 0 };
            for _ in 0..times {
                let answer = until_answered(&store, &clock, &new, &mut sent.failures).await;
                sent.answers.push(answer);
            }
            log.lock().unwrap_or_else(PoisonError::into_inner).push(sent);
        });
    }

    /// Waits until every request is answered.
    pub(crate) async fn is_answered(&mut self) {
        while let Some(sent) = self.under_way.join_next().await {
            sent.unwrap();
        }
    }

    /// The responses so far.
    pub(crate) fn log(&self) -> Vec<SentRequest> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

async fn until_answered(
    store: &EngineStore,
    clock: &Clock,
    new: &NewOperation,
    failures: &mut u32,
) -> Acceptance {
    let pairs = |unfinished: &[Unfinished]| {
        let same = unfinished.iter().find(|other| other.digest == new.digest);
        same.map_or(Verdict::Queue, |other| Verdict::Same(other.id))
    };
    loop {
        // One in four hangs up early, and asks again.
        let patience = Duration::from_millis(match fastrand::u32(0..4) {
            0 => fastrand::u64(0..20),
            _ => 60_000,
        });
        let answer = tokio::select! {
            answer = accept(store, new, &pairs) => answer,
            () = clock.sleep(patience) => Err(StorageError::Unknown("hung up".into())),
        };
        match answer {
            Ok(answer) => return answer,
            Err(StorageError::Refused(reason)) => panic!("an order was refused: {reason}"),
            Err(_) => {
                *failures += 1;
                clock.sleep(Duration::from_millis(50)).await;
            }
        }
    }
}

/// Accepts by itself, or as a service does, in a transaction with rows of its own.
async fn accept(
    store: &EngineStore,
    new: &NewOperation,
    pairs: &Pairs<'_>,
) -> Result<Acceptance, StorageError> {
    if fastrand::bool() {
        return store.accept(new.clone(), pairs).await;
    }
    let mut transaction = store.database().begin().await?;
    let acceptance = store.accept_in(&mut transaction, new.clone(), pairs).await?;
    transaction.commit().await?;
    Ok(acceptance)
}

fn encoded<O>(id: OperationId, request: Uuid, instance: &str, number: u32) -> NewOperation
where
    O: Operation<Input = u32, Data = Data>,
{
    Order::<O> {
        id,
        instance: instance.to_owned(),
        lane: format!("tenant {}", number % 3),
        input: number,
        data: Data::default(),
        digest: Some(request.as_bytes().to_vec()),
    }
    .encoded()
    .expect("orders can be written")
}
