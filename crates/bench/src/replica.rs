//! The other end of [`super::child`]: one replica that works, and answers questions about it.

use std::{
    fs::File,
    sync::{Arc, Mutex, PoisonError, atomic::Ordering},
    time::{Duration, Instant},
};

use anyhow::Context as _;
use base::Clock;
use engine::{
    Engine, Order, PlantedBug, Settings, Storage as _,
    storage::{Unfinished, Verdict},
};
use secrecy::SecretString;
use store::{Database, EngineStore, Sealer, engine::Time};
use tokio::sync::mpsc;
use uuid::Uuid;

use super::{
    child::{Latencies, Progress, Question, Spec},
    plan::{self, Begins, Counters, MeasuredOperation, Payload, Shape},
};

/// Works until its input ends.
pub async fn replica() -> anyhow::Result<()> {
    let started = Instant::now();
    let mut lines = lines();
    let spec: Spec = serde_json::from_str(&lines.recv().await.context("there is no input")?)?;
    tracing_subscriber::fmt()
        .with_max_level(tracing::Level::INFO)
        .with_ansi(false)
        .with_writer(Mutex::new(File::options().create(true).append(true).open(&spec.log)?))
        .init();
    let mut options = store::Options::new(SecretString::from(spec.url.clone()));
    options.schema.clone_from(&spec.schema);
    let database = Database::open(&options).await?;
    let sealer = Sealer::from_file_or_create(&spec.keys)?;
    let store = EngineStore::new(database, sealer, Time::Database, PlantedBug::Nothing);
    let seen = Arc::new(Counters {
        poll: spec.poll,
        began: spec.records.then(Mutex::default),
        ..Counters::default()
    });
    let settings = Settings { replica: Some(spec.name.clone()), ..Settings::default() };
    let engine = Engine::builder(Arc::new(store), Clock::running(), settings)
        .serve(plan::plan(), seen.clone())?
        .start();
    tokio::spawn(watch(engine.clone()));
    while let Some(line) = lines.recv().await {
        let answer = match serde_json::from_str(&line)? {
            Question::Progress => serde_json::to_string(&progress(&seen, started))?,
            Question::Latency(seconds) => {
                let latencies = latencies(&engine, &seen, Duration::from_secs_f64(seconds)).await?;
                serde_json::to_string(&latencies)?
            }
        };
        println!("{answer}");
    }
    Ok(())
}

/// The lines of standard input.
fn lines() -> mpsc::Receiver<String> {
    let (line, lines) = mpsc::channel(1);
    std::thread::spawn(move || {
        for said in std::io::stdin().lines().map_while(Result::ok) {
            if line.blocking_send(said).is_err() {
                return;
            }
        }
    });
    lines
}

/// Subscribes to events, as the metrics do in production.
async fn watch(engine: Engine<EngineStore>) {
    let mut events = engine.events();
    while !matches!(events.recv().await, Err(tokio::sync::broadcast::error::RecvError::Closed)) {}
}

fn progress(seen: &Counters, started: Instant) -> Progress {
    Progress {
        at: started.elapsed().as_secs_f64(),
        runs: seen.runs.load(Ordering::Relaxed),
        ended: seen.ended.load(Ordering::Relaxed),
        noted: seen.who.lock().unwrap_or_else(PoisonError::into_inner).len(),
    }
}

/// One operation after the other, on an idle engine.
async fn latencies(
    engine: &Engine<EngineStore>,
    seen: &Counters,
    duration: Duration,
) -> anyhow::Result<Latencies> {
    let mut found = Latencies::default();
    let mut events = engine.events();
    let until = Instant::now() + duration;
    while Instant::now() < until {
        let id = Uuid::now_v7();
        let order = Order::<MeasuredOperation> {
            id,
            instance: id.to_string(),
            lane: "tenant-1".into(),
            input: Shape { begins: Begins::AtOnce },
            data: Payload::random(),
            digest: None,
        };
        let sent = Instant::now();
        engine.accept(order, &queue).await?;
        let replied = Instant::now();
        loop {
            let event = events.recv().await?;
            if event.operation == id && event.state.is_final() {
                break;
            }
        }
        let stored = engine.storage().read(id).await?.context("an operation is not there")?;
        anyhow::ensure!(stored.state.is_final(), "an operation is not final");
        found.to_final.push(milliseconds(sent.elapsed()));
        let began = seen
            .began
            .as_ref()
            .and_then(|began| began.lock().unwrap_or_else(PoisonError::into_inner).remove(&id));
        let began = began.context("the beginning was not recorded")?;
        found.to_first.push(milliseconds(began.saturating_duration_since(replied)));
    }
    Ok(found)
}

fn queue(_: &[Unfinished]) -> Verdict {
    Verdict::Queue
}

pub(super) fn milliseconds(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1_000.0
}
