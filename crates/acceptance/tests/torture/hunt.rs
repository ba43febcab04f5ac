//! The proof is proven: a planted bug is found, and found as a breach of the promise it breaks.

use std::time::Duration;

use engine::PlantedBug;

use crate::{
    TURN,
    checker::{self, Verdict},
    nemesis::{self, FREEZES, PAUSES, SILENCE, Temper},
    trial::Trial,
};

/// How long each round lasts before everybody is killed and what is left is looked at.
const ROUND: Duration = Duration::from_secs(4);
/// How many rounds there are at most.
const ROUNDS: u64 = 12;

/// Lets replicas with a bug work until it shows as a breach of one of these promises.
async fn finds(planted: PlantedBug, temper: Temper, promises: &[u8]) {
    let _turn = TURN.lock().await;
    let seed = crate::number("KCP_TORTURE_SEED", 1);
    let (mut trial, mut client) = Trial::start(seed, planted).await;
    for round in 1..=ROUNDS {
        tokio::join!(nemesis::rage(&mut trial, temper, ROUND), client.keep_ordering(ROUND));
        client.is_answered().await;
        let history = trial.between_two_lives(async |trial| trial.history(&client).await).await;
        let Verdict { violations, .. } = checker::check_safety(&history);
        let found = violations.iter().find(|violation| promises.contains(&violation.promise));
        if let Some(found) = found {
            println!("{planted:?} is found in round {round}: P{} {}", found.promise, found.text);
            return trial.succeeded();
        }
    }
    panic!("{planted:?} is not found as one of {promises:?}; {}", trial.again());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn p24_is_red_when_a_transaction_is_left_open() {
    let _turn = TURN.lock().await;
    let seed = crate::number("KCP_TORTURE_SEED", 1);
    let (mut trial, mut client) = Trial::start(seed, PlantedBug::TransactionLeftOpen).await;
    for _ in 1..=ROUNDS {
        tokio::join!(nemesis::rage(&mut trial, FREEZES, ROUND), client.keep_ordering(ROUND));
        // Without waiting for answers: some never come, from behind the locks of a transaction that nobody ends.
        if trial.open_transactions().await > 0 {
            return trial.succeeded();
        }
    }
    panic!("no session stays inside of a transaction in spite of the bug; {}", trial.again());
}

macro_rules! planted {
    ($($test:ident: $bug:ident under $temper:ident breaks $($promise:literal)|+;)*) => {$(
        #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
        async fn $test() {
            finds(PlantedBug::$bug, $temper, &[$($promise),+]).await;
        }
    )*};
}

planted! {
    p06_is_red_without_the_fence: NoFence under PAUSES breaks 6;
    p08_is_red_with_a_new_key_per_run: KeyPerRun under PAUSES breaks 8;
    p09_is_red_when_an_unknown_commit_counts_as_done: UnknownIsDone under SILENCE breaks 9;
}
