//! The outside world: a server that makes things, and the append-only record of all it was asked.
//!
//! It behaves as a good outside system does: it knows its keys, refuses older epochs, shows a thing
//! only after a while, and now and then an answer of it is lost on the way. It is never killed.

use std::{
    collections::{BTreeMap, BTreeSet},
    net::{Ipv4Addr, SocketAddr},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use base::Clock;
use engine::{OperationId, ReplicaId, State, Storage as _, storage::Snapshot};
use jiff::Timestamp;
use kcp_acceptance::torture::wire::{Act, Reply, Request};
use store::EngineStore;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader},
    net::{TcpListener, TcpStream},
    time::timeout,
};

/// How long a new thing stays invisible: a look right after the making misses it, the key does not.
const HIDDEN_FOR: Duration = Duration::from_millis(300);
/// How often an answer is lost.
const LOST: f64 = 0.05;
/// The longest way there, and the longest way back.
const SLOWEST: Duration = Duration::from_millis(15);
/// How long a look at the database may take before it is done without.
const GLANCE: Duration = Duration::from_millis(200);

/// One entry of the record.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Event {
    /// From 1, without gaps.
    pub seq: u64,
    pub at: Timestamp,
    /// Which call it is about.
    pub call: u64,
    pub what: CallEvent,
}

/// An event of a call.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum CallEvent {
    Received(Box<Request>),
    /// The operation in the database while its caller waited.
    Saw(OperationReading),
    /// A newer epoch was there before.
    Refused,
    Looked(bool),
    Applied,
    /// The key was known.
    Repeated,
    /// Trouble, on purpose.
    Failed,
    Replied,
    /// The answer was lost on purpose.
    Dropped,
}

/// The state of an operation in the database.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct OperationReading {
    pub epoch: i64,
    pub owner: Option<ReplicaId>,
    pub state: State,
    pub closed: Vec<String>,
    pub stage: Option<String>,
    pub step: Option<String>,
}

impl From<Snapshot> for OperationReading {
    fn from(row: Snapshot) -> Self {
        Self {
            epoch: row.epoch,
            owner: row.owner,
            state: row.state,
            closed: row.closed,
            stage: row.stage,
            step: row.step,
        }
    }
}

/// The running server. Clones share it.
#[derive(Clone)]
pub(crate) struct Ledger {
    address: SocketAddr,
    world: Arc<Mutex<World>>,
    clock: Clock,
    store: EngineStore,
}

struct World {
    events: Vec<Event>,
    calls: u64,
    /// Since when things can be seen.
    made: BTreeMap<String, Timestamp>,
    keys: BTreeSet<String>,
    epochs: BTreeMap<OperationId, i64>,
    tries: BTreeMap<String, u32>,
    released: bool,
    random: fastrand::Rng,
}

impl World {
    fn note(&mut self, at: Timestamp, call: u64, what: CallEvent) {
        let seq = self.events.len() as u64 + 1;
        self.events.push(Event { seq, at, call, what });
    }

    /// Does what is asked, or says why not.
    fn act(&mut self, now: Timestamp, request: &Request) -> (CallEvent, Reply) {
        let newest = self.epochs.entry(request.operation).or_default();
        if request.epoch < *newest {
            return (CallEvent::Refused, Reply::Stale);
        }
        *newest = request.epoch;
        match request.act {
            Act::Look => {
                let there = self.made.get(&request.thing).is_some_and(|from| *from <= now);
                (CallEvent::Looked(there), Reply::There(there))
            }
            Act::Watch => (CallEvent::Looked(self.released), Reply::There(self.released)),
            Act::Make if self.keys.insert(request.key.clone()) => {
                self.made.entry(request.thing.clone()).or_insert(now + HIDDEN_FOR);
                (CallEvent::Applied, Reply::Made)
            }
            Act::Make => (CallEvent::Repeated, Reply::Made),
            Act::Try { failures } => {
                let tries = self.tries.entry(request.thing.clone()).or_default();
                *tries += 1;
                if *tries <= failures {
                    (CallEvent::Failed, Reply::Trouble)
                } else {
                    (CallEvent::Looked(true), Reply::There(true))
                }
            }
        }
    }
}

impl Ledger {
    /// Starts serving. `store` is only looked at.
    pub(crate) async fn start(clock: Clock, store: EngineStore, seed: u64) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let world = World {
            events: Vec::new(),
            calls: 0,
            made: BTreeMap::new(),
            keys: BTreeSet::new(),
            epochs: BTreeMap::new(),
            tries: BTreeMap::new(),
            released: false,
            random: fastrand::Rng::with_seed(seed),
        };
        let ledger = Self { address, world: Arc::new(Mutex::new(world)), clock, store };
        let serving = ledger.clone();
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let serving = serving.clone();
                // A caller that dies in the middle breaks its own connection and nothing else.
                tokio::spawn(async move { serving.serve(stream).await });
            }
        });
        ledger
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Everything that was recorded so far.
    pub(crate) fn events(&self) -> Vec<Event> {
        self.lock().events.clone()
    }

    /// Tells watchers that it is over.
    pub(crate) fn release(&self) {
        self.lock().released = true;
    }

    fn lock(&self) -> MutexGuard<'_, World> {
        self.world.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn serve(&self, mut stream: TcpStream) -> std::io::Result<()> {
        let mut line = String::new();
        BufReader::new(&mut stream).read_line(&mut line).await?;
        let Ok(request) = serde_json::from_str::<Request>(&line) else { return Ok(()) };
        let operation = request.operation;
        let call = {
            let mut world = self.lock();
            world.calls += 1;
            let call = world.calls;
            world.note(self.clock.now(), call, CallEvent::Received(Box::new(request.clone())));
            call
        };
        if let Ok(Ok(Some(row))) = timeout(GLANCE, self.store.read(operation)).await {
            self.lock().note(self.clock.now(), call, CallEvent::Saw(row.into()));
        }
        self.travel().await;
        let (reply, lost) = {
            let mut world = self.lock();
            let now = self.clock.now();
            let (what, reply) = world.act(now, &request);
            world.note(now, call, what);
            (reply, world.random.f64() < LOST)
        };
        self.travel().await;
        let what = if lost { CallEvent::Dropped } else { CallEvent::Replied };
        self.lock().note(self.clock.now(), call, what);
        if lost {
            return Ok(());
        }
        let mut answer = serde_json::to_vec(&reply)?;
        answer.push(b'\n');
        stream.write_all(&answer).await
    }

    async fn travel(&self) {
        let delay = SLOWEST.mul_f64(self.lock().random.f64());
        self.clock.sleep(delay).await;
    }
}
