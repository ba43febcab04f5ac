//! `kcp bench orders`: many orders at once, to replicas of the broker that are killed while they work.
//!
//! What a reader would get wrong: everything is a process of its own (landscape, provisioner, each broker) on one
//! PostgreSQL, as in production. Figures are not judged, but every order must succeed, every cluster must have been
//! made once, and nothing may be left.

mod caller;
pub(crate) mod fleet;
pub mod mixed;
pub mod upgrades;

use std::{
    path::PathBuf,
    time::{Duration, Instant},
};

use anyhow::ensure;

use caller::Caller;
use fleet::{Fleet, Usage};

/// Options of the benchmark.
#[derive(Debug, Clone)]
pub struct Options {
    /// How many orders.
    pub orders: usize,
    /// How many replicas of the broker.
    pub replicas: usize,
    /// How often one of them is killed; never when absent.
    pub kill_every: Option<Duration>,
    /// The folder of initdb, postgres and pgbench.
    pub postgres_bin: Option<PathBuf>,
    /// The program that serves; this one when absent.
    pub program: Option<PathBuf>,
}

/// The measured values.
#[derive(Debug, Clone)]
pub struct Figures {
    /// How many orders there were.
    pub orders: usize,
    /// How many replicas took them.
    pub replicas: usize,
    /// How long the answers to the orders took, in the middle.
    pub accepted_median: Duration,
    /// How long the answers to the orders took, all but the slowest hundredth.
    pub accepted_p99: Duration,
    /// From the first order until the last one had succeeded.
    pub made_in: Duration,
    /// From the first removal until the last one had succeeded.
    pub removed_in: Duration,
    /// How many replicas were killed meanwhile.
    pub kills: usize,
    /// How many requests were made again, because nobody answered.
    pub again: usize,
    /// Milliseconds of one core that all replicas of the broker used for an order.
    pub broker_cpu: f64,
    /// Milliseconds of one core that the provisioner used for an order.
    pub provisioner_cpu: f64,
    /// How many transactions both committed for an order.
    pub commits: f64,
    /// The most memory that a replica of the broker had, in MiB.
    pub broker_memory: f64,
    /// The most memory that the provisioner had, in MiB.
    pub provisioner_memory: f64,
    /// The most memory that the landscape had, in MiB.
    pub landscape_memory: f64,
}

/// Sends all orders, waits until all have succeeded, removes everything again.
pub async fn run(options: Options) -> anyhow::Result<Figures> {
    ensure!(options.orders > 0 && options.replicas > 0, "there must be orders and replicas");
    let fleet = Fleet::start(&options).await?;
    let caller = Caller::new(&fleet)?;
    let killing = fleet.kill_now_and_then(options.kill_every);
    let done = tokio::select! {
        done = orders(&fleet, &caller, &options) => done,
        died = killing => Err(died),
    };
    let Done { mut took, made_in, removed_in, usage } = match done {
        Ok(done) => done,
        Err(error) => return Err(error.context(fleet.last_words())),
    };
    let left = caller.clusters_left().await?;
    ensure!(left == 0, "{left} clusters are left");
    let made = caller.clusters_made().await?;
    ensure!(made == options.orders, "{made} clusters were made for {} orders", options.orders);
    took.sort();
    let count = took.len();
    let at = |part: usize| took[((count * part).div_ceil(100)).clamp(1, count) - 1];
    let memory = fleet.memory();
    #[expect(clippy::cast_precision_loss, reason = "a count of orders is small")]
    let each = |all: f64| all / options.orders as f64;
    Ok(Figures {
        orders: options.orders,
        replicas: options.replicas,
        accepted_median: at(50),
        accepted_p99: at(99),
        made_in,
        removed_in,
        kills: fleet.kills(),
        again: caller.again(),
        broker_cpu: each(usage.broker * 1e3),
        provisioner_cpu: each(usage.provisioner * 1e3),
        commits: each(usage.commits),
        broker_memory: memory.broker,
        provisioner_memory: memory.provisioner,
        landscape_memory: memory.landscape,
    })
}

/// Measurements while instances were created and removed.
struct Done {
    took: Vec<Duration>,
    made_in: Duration,
    removed_in: Duration,
    /// Resources used until all orders had succeeded.
    usage: Usage,
}

async fn orders(fleet: &Fleet, caller: &Caller, options: &Options) -> anyhow::Result<Done> {
    let before = fleet.usage().await?;
    let began = Instant::now();
    let took = caller.order(0..options.orders).await?;
    caller.all_succeed(0..options.orders).await?;
    let made_in = began.elapsed();
    let after = fleet.usage().await?;
    let usage = Usage {
        broker: after.broker - before.broker,
        provisioner: after.provisioner - before.provisioner,
        commits: after.commits - before.commits,
    };
    let began = Instant::now();
    caller.remove(0..options.orders).await?;
    caller.all_succeed(0..options.orders).await?;
    Ok(Done { took, made_in, removed_in: began.elapsed(), usage })
}

impl Figures {
    /// The figures, for people.
    pub fn text(&self) -> String {
        #[expect(clippy::cast_precision_loss, reason = "a count of orders is small")]
        let rate = |time: Duration| self.orders as f64 / time.as_secs_f64();
        let ms = |time: Duration| time.as_secs_f64() * 1e3;
        format!(
            "{} orders at once to {} replicas, {} of them killed meanwhile:\n  \
             accepted in {:.1} ms (median), {:.1} ms (p99); {} requests made again\n  \
             all succeeded after {:.1} s ({:.1} per second); all removed after {:.1} s ({:.1} per second)\n  \
             for an order: broker {:.1} ms of a core, provisioner {:.1} ms, {:.0} commits\n  \
             memory: broker {:.0} MiB, provisioner {:.0} MiB, landscape {:.0} MiB\n",
            self.orders,
            self.replicas,
            self.kills,
            ms(self.accepted_median),
            ms(self.accepted_p99),
            self.again,
            self.made_in.as_secs_f64(),
            rate(self.made_in),
            self.removed_in.as_secs_f64(),
            rate(self.removed_in),
            self.broker_cpu,
            self.provisioner_cpu,
            self.commits,
            self.broker_memory,
            self.provisioner_memory,
            self.landscape_memory,
        )
    }
}
