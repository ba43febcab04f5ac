//! A link to PostgreSQL that is cut in the middle of things, inside of COMMIT too: what was in doubt is
//! looked up, and no result lands twice or never.

use std::{
    str::FromStr as _,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
    time::Duration,
};

use base::Clock;
use engine::{
    Cx, Engine, Operation, Order, Plan, PlantedBug, Retry, Settings, State, Step, StepResult,
    Storage as _, done, storage::Snapshot,
};
use sqlx::postgres::PgConnectOptions;
use store::{Database, EngineStore, Options, Sealer, Set, engine::Time, testing::TestDatabase};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
};
use uuid::Uuid;

use crate::bench::queue;

/// Stands between the store and the server, and cuts.
struct Link {
    address: String,
    cutting: AtomicBool,
    cuts: AtomicU32,
    random: Mutex<fastrand::Rng>,
}

impl Link {
    async fn to(url: &str) -> Arc<Self> {
        let options = PgConnectOptions::from_str(url).unwrap();
        let server = format!("{}:{}", options.get_host(), options.get_port());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let link = Arc::new(Self {
            address: url.replace(&server, &listener.local_addr().unwrap().to_string()),
            cutting: AtomicBool::new(false),
            cuts: AtomicU32::new(0),
            random: Mutex::new(fastrand::Rng::with_seed(17)),
        });
        assert_ne!(link.address, url, "the link stands in the way");
        let accepting = link.clone();
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let Ok(server) = TcpStream::connect(&server).await else { continue };
                tokio::spawn(accepting.clone().carry(client, server));
            }
        });
        link
    }

    /// Carries bytes until the link is cut: before a message is delivered, or after it, so that the
    /// answer never comes back.
    async fn carry(self: Arc<Self>, client: TcpStream, server: TcpStream) {
        let (mut from_client, mut to_client) = client.into_split();
        let (mut from_server, mut to_server) = server.into_split();
        let back = tokio::spawn(async move {
            let _ = tokio::io::copy(&mut from_server, &mut to_client).await;
        });
        let mut bytes = vec![0; 64 * 1024];
        while let Ok(count @ 1..) = from_client.read(&mut bytes).await {
            let dice = self.random.lock().unwrap().f64();
            let cut = self.cutting.load(Ordering::Relaxed) && dice < 0.10;
            if cut {
                // Nothing comes back from here on.
                back.abort();
                self.cuts.fetch_add(1, Ordering::Relaxed);
            }
            let lost = cut && dice < 0.05;
            if !lost && to_server.write_all(&bytes[..count]).await.is_err() || cut {
                break;
            }
        }
        back.abort();
    }
}

/// Looks at what is stored, past the bad link, and counts steps that began too early.
struct Watch {
    store: EngineStore,
    early: AtomicU32,
}

impl Watch {
    /// Everything before a step is stored before it begins.
    async fn begins(&self, cx: &Cx<'_, Counting>) {
        let row = self.store.read(cx.operation).await.unwrap().unwrap();
        if row.closed.len() < *cx.data as usize {
            self.early.fetch_add(1, Ordering::Relaxed);
        }
    }
}

struct Counting;

impl Operation for Counting {
    const KIND: &'static str = "counting";
    type Input = ();
    type Data = u32;
    type Memory = ();
    type Env = Watch;
}

macro_rules! counts {
    ($($step:ident),+) => {$(
        struct $step;
        impl Step<Counting> for $step {
            const NAME: &'static str = stringify!($step);
            const RETRY: Retry = Retry::every(Duration::from_millis(50));
            async fn run(&self, cx: &mut Cx<'_, Counting>) -> StepResult {
                cx.env.begins(cx).await;
                *cx.data += 1;
                done()
            }
        }
    )+};
}

counts!(One, Two, Three);

fn plan() -> Plan<Counting> {
    Plan::within(Duration::from_secs(600))
        .stage("one")
        .step(One)
        .stage("two")
        .step(Two)
        .stage("three")
        .step(Three)
}

/// The result over a bad link.
struct LinkRun {
    rows: Vec<Snapshot>,
    cuts: u32,
    early: u32,
}

/// Runs operations over a bad link.
async fn run_over_a_bad_link(planted: PlantedBug) -> LinkRun {
    const OPERATIONS: usize = 150;
    let test = TestDatabase::postgres().await;
    let direct = test.database().await;
    direct.migrate(Set::Engine).await.unwrap();
    let sealer = Sealer::generate();
    let watching = EngineStore::new(direct, sealer.clone(), Time::Database, PlantedBug::Nothing);
    let watch = Arc::new(Watch { store: watching.clone(), early: AtomicU32::new(0) });
    let link = Link::to(test.url()).await;
    let linked = Database::open(&Options::new(link.address.as_str())).await.unwrap();
    let store = EngineStore::new(linked, sealer, Time::Database, PlantedBug::Nothing);
    let settings = Settings {
        // So long that no lost lease can heal what a wrong answer broke.
        lease: Duration::from_secs(60),
        scan: Duration::from_millis(100),
        batch: 2,
        planted,
        ..Settings::default()
    };
    let clock = Clock::running();
    let engine = Engine::builder(Arc::new(store), clock.clone(), settings)
        .serve(plan(), watch.clone())
        .unwrap()
        .start();
    engine.alive().wait_for(Option::is_some).await.unwrap();
    link.cutting.store(true, Ordering::Relaxed);

    let mut ids = Vec::new();
    for number in 0..OPERATIONS {
        let id = Uuid::now_v7();
        let order = Order::<Counting> {
            id,
            instance: format!("instance {number}"),
            lane: "tenant".into(),
            input: (),
            data: 0,
            digest: None,
        };
        watching.accept(order.encoded().unwrap(), &queue).await.unwrap();
        ids.push(id);
    }
    let until = clock.monotonic() + Duration::from_secs(90);
    loop {
        let mut rows = Vec::new();
        for id in &ids {
            rows.push(watching.read(*id).await.unwrap().unwrap());
        }
        let ended = rows.iter().all(|row| row.state.is_final());
        if ended || clock.monotonic() > until {
            engine.kill();
            let (cuts, early) = (&link.cuts, &watch.early);
            return LinkRun {
                rows,
                cuts: cuts.load(Ordering::Relaxed),
                early: early.load(Ordering::Relaxed),
            };
        }
        clock.sleep(Duration::from_millis(50)).await;
    }
}

fn is_right(row: &Snapshot) -> bool {
    row.state == State::Succeeded && row.data == b"3"
}

#[tokio::test(flavor = "multi_thread")]
async fn p17_a_commit_whose_answer_was_cut_off_lands_exactly_once() {
    let ran = run_over_a_bad_link(PlantedBug::Nothing).await;

    let wrong: Vec<_> = ran.rows.iter().filter(|row| !is_right(row)).collect();
    assert!(wrong.is_empty(), "after {} cuts: {wrong:#?}", ran.cuts);
    assert_eq!(ran.early, 0, "steps began before the ones before them were stored");
    assert!(ran.cuts > 10, "the link was cut {} times", ran.cuts);
}

#[tokio::test(flavor = "multi_thread")]
async fn p17_is_red_when_a_commit_without_an_answer_counts_as_done() {
    let ran = run_over_a_bad_link(PlantedBug::UnknownIsDone).await;

    assert!(ran.early > 0, "{} cuts harmed nobody", ran.cuts);
}
