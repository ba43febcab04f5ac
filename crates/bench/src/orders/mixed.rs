//! `kcp bench mixed`: orders, changes and removals at once, and many changes of one instance, while replicas are killed.
//!
//! What a reader would get wrong: nothing is judged but the results. Every operation must succeed, every cluster must have been made
//! once, and nothing may be left.

use std::time::{Duration, Instant};

use anyhow::ensure;

use super::{Options, caller::Caller, fleet::Fleet};

/// The measured values.
#[derive(Debug, Clone)]
pub struct Figures {
    /// How many orders, changes and removals there were at once, each.
    pub each: usize,
    /// How many changes of one instance there were.
    pub updates: usize,
    /// How many replicas took them.
    pub replicas: usize,
    /// From the first of the mixed requests until the last operation had succeeded.
    pub mixed_in: Duration,
    /// From the first change of the one instance until the last one had succeeded.
    pub updated_in: Duration,
    /// How many replicas were killed meanwhile.
    pub kills: usize,
    /// How many requests were made again, because nobody answered.
    pub again: usize,
}

/// Prepares `orders` instances to change and as many to remove, then does everything at once, then changes one of them `updates` times.
pub async fn run(options: Options, updates: usize) -> anyhow::Result<Figures> {
    ensure!(options.orders > 0 && options.replicas > 0, "there must be orders and replicas");
    let fleet = Fleet::start(&options).await?;
    let caller = Caller::new(&fleet)?;
    let killing = fleet.kill_now_and_then(options.kill_every);
    let done = tokio::select! {
        done = work(&caller, options.orders, updates) => done,
        died = killing => Err(died),
    };
    let (mixed_in, updated_in) = match done {
        Ok(done) => done,
        Err(error) => return Err(error.context(fleet.last_words())),
    };
    let left = caller.clusters_left().await?;
    ensure!(left == 0, "{left} clusters are left");
    let made = caller.clusters_made().await?;
    ensure!(
        made == 3 * options.orders,
        "{made} clusters were made for {} orders",
        3 * options.orders
    );
    Ok(Figures {
        each: options.orders,
        updates,
        replicas: options.replicas,
        mixed_in,
        updated_in,
        kills: fleet.kills(),
        again: caller.again(),
    })
}

async fn work(
    caller: &Caller,
    each: usize,
    updates: usize,
) -> anyhow::Result<(Duration, Duration)> {
    caller.order(0..2 * each).await?;
    caller.all_succeed(0..2 * each).await?;
    let began = Instant::now();
    let (orders, changes, removals) = tokio::join!(
        caller.order(2 * each..3 * each),
        caller.update(0..each),
        caller.remove(each..2 * each),
    );
    orders.map(drop).and(changes).and(removals)?;
    caller.all_succeed(0..3 * each).await?;
    let mixed_in = began.elapsed();
    let began = Instant::now();
    caller.update_one(0, updates).await?;
    let updated_in = began.elapsed();
    caller.remove(0..each).await?;
    caller.remove(2 * each..3 * each).await?;
    caller.all_succeed(0..3 * each).await?;
    Ok((mixed_in, updated_in))
}

impl Figures {
    /// The figures, for people.
    pub fn text(&self) -> String {
        let Self { each, updates, replicas, mixed_in, updated_in, kills, again } = self;
        format!(
            "{each} orders, {each} changes and {each} removals at once to {replicas} replicas, {kills} of them killed meanwhile:\n  \
             all succeeded after {:.1} s; {again} requests made again\n  \
             {updates} changes of one instance: all succeeded after {:.1} s\n",
            mixed_in.as_secs_f64(),
            updated_in.as_secs_f64(),
        )
    }
}
