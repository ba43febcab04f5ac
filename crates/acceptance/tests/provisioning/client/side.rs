//! The client's side: trials of calls, and what can be seen of them afterwards.

use std::{collections::BTreeSet, future::Future, pin::Pin, sync::Arc, time::Duration};

use base::{
    Caller,
    caller::{self, Guard, Verdict},
};
use clients::{
    CallLimits, Component, Error, Gate, Observer,
    observer::NoObserver,
    provisioner::{Access, OperationState, Provisioner, Settings},
};
use simulators::{
    ledger::{Entry, Filter, Phase},
    testing::{Fault, MACHINE, Speaks},
    trouble::Rule,
};
use tokio::{sync::Semaphore, task::JoinSet};
use uuid::Uuid;

use super::{
    call::{Call, Subject, TENANT},
    expected::{check, expected, faults, requests},
};
use crate::{
    outside::Outside,
    service::{SYSTEM, at},
};

/// Long enough for a busy machine.
pub(super) const PATIENT: CallLimits =
    CallLimits { call: Duration::from_secs(60), ..CallLimits::DEFAULT };
/// Short enough to wait for what never comes.
pub(super) const HASTY: CallLimits =
    CallLimits { call: Duration::from_secs(10), ..CallLimits::DEFAULT };

/// More would only wait for each other.
const AT_ONCE: usize = 8;

pub(super) struct Side {
    pub(super) outside: Outside,
}

/// A call that met a fault, and was made again without it.
#[derive(Debug)]
pub(super) struct Trial {
    pub(super) call: Call,
    pub(super) fault: Fault,
    key: String,
    first: Result<Option<String>, Error>,
    again: Option<String>,
}

impl Trial {
    /// The operation that the repetition is about.
    pub(super) fn operation(&self) -> &str {
        self.again.as_deref().unwrap_or_else(|| panic!("{self:?} is about no operation"))
    }
}

impl Side {
    pub(super) async fn start() -> Arc<Self> {
        Arc::new(Self { outside: Outside::start(&["aws"], 1).await })
    }

    /// A new client, with credentials of its own, as settings make it.
    pub(super) fn client(&self, limits: CallLimits) -> Provisioner {
        self.observed(limits, Arc::new(NoObserver))
    }

    pub(super) fn observed(&self, limits: CallLimits, observer: Arc<dyn Observer>) -> Provisioner {
        let gate = |component, observer| {
            Gate::observed(component, limits, self.outside.clock.clone(), observer)
        };
        let issuer = gate(Component::ISSUER, observer.clone());
        let component = gate(Component::PROVISIONER, observer);
        Provisioner::through(component, issuer, &self.settings()).unwrap()
    }

    pub(super) fn settings(&self) -> Settings {
        let access = Access {
            token_url: at(&self.outside.running, "/oauth2/token"),
            client_id: MACHINE.0.into(),
            client_secret: MACHINE.1.to_owned().into(),
        };
        Settings { url: self.outside.service.url.clone(), access: Some(access) }
    }

    /// Makes a call that meets a fault, and makes it again.
    pub(super) async fn meet(&self, call: Call, fault: Fault, subject: &Subject) -> Trial {
        let (root, step) = (Uuid::new_v4(), format!("{call:?}_{}", subject.name));
        let trouble = fault.trouble(Speaks::Html);
        self.outside.meet(Rule::next(1, trouble).of(SYSTEM).from_step(&step));
        let limits = if fault == Fault::Silent { HASTY } else { PATIENT };
        let (one, other) = (self.client(limits), self.client(PATIENT));

        let first = run(root, &step, 1).scope(call.make(&one, subject)).await;
        let again = run(root, &step, 2).scope(call.make(&other, subject)).await;

        let again = again.unwrap_or_else(|error| panic!("{call:?} after {fault:?}: {error:?}"));
        let key = format!("{root}/{step}/{}", call.key());
        Trial { call, fault, key, first, again }
    }

    /// Trials for every fault, some at once; each has a name for what it makes. Silence comes last: a call that is given up
    /// early must have arrived, even where the machine is busy with all the others.
    pub(super) async fn for_each_fault<F>(
        self: &Arc<Self>,
        trials: impl Fn(Arc<Self>, Fault, String) -> F,
    ) -> Vec<Trial>
    where
        F: Future<Output = Vec<Trial>> + Send + 'static,
    {
        let (mut tasks, turns) = (JoinSet::new(), Arc::new(Semaphore::new(AT_ONCE)));
        for (number, fault) in faults().enumerate().filter(|(_, fault)| *fault != Fault::Silent) {
            let turn = turns.clone().acquire_owned().await.unwrap();
            let trial = trials(self.clone(), fault, format!("c-{number}"));
            tasks.spawn(async move {
                let _turn = turn;
                trial.await
            });
        }
        let mut met: Vec<Trial> = tasks.join_all().await.into_iter().flatten().collect();
        met.extend(trials(self.clone(), Fault::Silent, "c-silent".into()).await);
        met
    }

    /// Waits until an operation is done; the runtime that it was about.
    pub(super) async fn done(&self, operation: &str) -> String {
        let client = self.client(PATIENT);
        for _ in 0..6_000 {
            let status = client.operation_status(TENANT, operation).await.unwrap();
            match status.state {
                OperationState::Succeeded => return status.runtime_id.unwrap(),
                OperationState::Failed => panic!("{status:?}"),
                _ => self.outside.clock.sleep(Duration::from_millis(20)).await,
            }
        }
        panic!("operation {operation} does not end");
    }

    /// A runtime that is there, made without any fault.
    pub(super) async fn made(&self, name: &str) -> Subject {
        let mut subject = Subject { name: name.into(), ..Subject::default() };
        let begun = Call::Provision.make(&self.client(PATIENT), &subject).await.unwrap();
        subject.operation = begun.unwrap();
        subject.runtime = self.done(&subject.operation).await;
        self.outside.running.install_agent(name);
        subject
    }

    /// Fails unless every call took its fault as it should, and the ledger has just what was sent.
    pub(super) fn judge(&self, trials: &[Trial]) {
        let lines = self.lines(Some(SYSTEM), None);
        assert!(trials.len() >= faults().count());
        for trial in trials {
            let Trial { call, fault, key, first, again } = trial;
            match (first, expected(*fault)) {
                (Ok(first), None) => assert_eq!(first, again, "{call:?} {fault:?}"),
                (Err(error), Some(kind)) => check(error, *fault, kind),
                (first, expected) => {
                    panic!("{call:?} {fault:?}: {first:?} is not {expected:?}")
                }
            }
            let ours: Vec<_> =
                lines.iter().filter(|line| line.about.key.as_ref() == Some(key)).collect();
            let received: Vec<_> =
                ours.iter().filter(|line| line.phase == Phase::Received).collect();
            assert_eq!(received.len(), requests(*fault), "{call:?} {fault:?}: {ours:#?}");
            let trouble = fault.trouble(Speaks::Html);
            let met = received[0].trouble.as_deref();
            assert_eq!(met, Some(trouble.name()), "{call:?} meets {fault:?}");
            let runs = [received[0].about.run, received[received.len() - 1].about.run];
            assert_eq!(runs, [Some(1), Some(2)]);
        }
    }

    /// The operations that have done anything to the landscape.
    pub(super) fn worked(&self) -> BTreeSet<String> {
        let lines = self.lines(None, Some(Phase::Received)).into_iter();
        let theirs = lines.filter(|line| line.about.system != SYSTEM);
        theirs.filter_map(|line| line.about.operation).collect()
    }

    /// How often the Director was made to do this.
    pub(super) fn in_director(&self, what: &str) -> usize {
        let lines = self.lines(Some("director"), Some(Phase::Applied)).into_iter();
        lines.filter_map(|line| line.object).filter(|object| object.starts_with(what)).count()
    }

    /// The names of the clusters that there are.
    pub(super) fn shoots(&self) -> BTreeSet<String> {
        let server = self.outside.running.clusters().server();
        let all = server.list("garden", "shoots.core.gardener.cloud");
        all.iter().map(|it| it["metadata"]["name"].as_str().unwrap().to_owned()).collect()
    }

    pub(super) fn lines(&self, system: Option<&str>, phase: Option<Phase>) -> Vec<Entry> {
        let system = system.map(str::to_owned);
        let filter = Filter { system, phase, ..Filter::default() };
        self.outside.running.landscape.ledger().all(&filter).unwrap()
    }
}

/// The operations that trials are about.
pub(super) fn operations(trials: &[Trial]) -> BTreeSet<String> {
    trials.iter().map(|trial| trial.operation().to_owned()).collect()
}

struct Free;

impl Guard for Free {
    fn before<'a>(
        &'a self,
        _: &'a caller::Call,
    ) -> Pin<Box<dyn Future<Output = Verdict> + Send + 'a>> {
        Box::pin(std::future::ready(Verdict::Go))
    }
    fn after<'a>(
        &'a self,
        _: &'a caller::Call,
    ) -> Pin<Box<dyn Future<Output = Verdict> + Send + 'a>> {
        Box::pin(std::future::ready(Verdict::Go))
    }
}

/// A run of a step of the broker.
pub(super) fn run(root: Uuid, step: &str, number: i64) -> Caller {
    Caller {
        operation: root,
        root,
        step: step.into(),
        run: number,
        epoch: 1,
        replica: Uuid::nil(),
        calls: Arc::default(),
        key_per_run: false,
        guard: Arc::new(Free),
    }
}
