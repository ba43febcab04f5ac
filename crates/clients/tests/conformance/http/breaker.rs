//! Systems that are down or ask for time: left alone, and probed until they are back.

use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use clients::{CallLimits, Gate, Http, Kind};

use super::answer;
use crate::support::{CallLog, EDP, answering, http, noon};

#[tokio::test]
async fn a_broken_system_is_left_alone_and_probed_until_it_is_back() {
    let well = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let state = well.clone();
    let (url, heard) = answering(move |_, _| {
        let status = if state.load(Ordering::SeqCst) { 200 } else { 500 };
        answer(status, None, "")
    })
    .await;
    let clock = noon();
    let told = CallLog::default();
    let gate = Gate::observed(EDP, CallLimits::DEFAULT, clock.clone(), Arc::new(told.clone()));
    let http = Http::through(gate, url).unwrap();
    let kind = async || http.send_to("a", "trying it", http.get("/a")).await.err().map(|e| e.kind);

    for _ in 0..5 {
        assert_eq!(kind().await, Some(Kind::Unavailable));
    }
    let paused = Kind::Paused { retry_after: Duration::from_secs(1) };
    let error = http.send_to("a", "trying it", http.get("/a")).await.unwrap_err();
    assert_eq!(error.kind, paused);
    assert!(error.to_string().contains("edp: trying it: unavailable"), "{error}");
    assert_eq!(heard.len(), 5);

    clock.advance(Duration::from_secs(1));
    assert_eq!(kind().await, Some(Kind::Unavailable));
    assert_eq!(heard.len(), 6);

    well.store(true, Ordering::SeqCst);
    clock.advance(Duration::from_secs(2));
    assert_eq!(kind().await, None);
    assert_eq!(kind().await, None);
    assert_eq!(told.all()[4..7], ["edp a unavailable", "edp a paused", "edp a unavailable"]);
    assert_eq!(told.all().last().unwrap(), "edp a ok");
}

#[tokio::test]
async fn a_system_that_asks_for_time_is_left_alone_for_as_long_by_everybody() {
    let (url, heard) = answering(|_, _| answer(429, Some("20"), "")).await;
    let clock = noon();
    let http = http(url, CallLimits::DEFAULT, &clock);
    let kind = async || http.send("trying it", http.get("/a")).await.unwrap_err().kind;
    let wish = Duration::from_secs(20);
    for _ in 0..5 {
        assert_eq!(kind().await, Kind::Throttled { retry_after: Some(wish) });
    }

    assert_eq!(kind().await, Kind::Paused { retry_after: wish });
    clock.advance(wish.saturating_sub(Duration::from_millis(1)));
    assert!(matches!(kind().await, Kind::Paused { .. }));
    assert_eq!(heard.len(), 5);

    clock.advance(Duration::from_millis(1));
    assert!(matches!(kind().await, Kind::Throttled { .. }));
}

#[tokio::test]
async fn an_outage_is_heard_at_most_twice_a_second_after_five_seconds() {
    let (url, heard) = answering(|_, _| answer(503, None, "")).await;
    let clock = noon();
    let http = http(url, CallLimits::DEFAULT, &clock);
    let mut seconds = Vec::new();

    for _ in 0..60 {
        let before = heard.len();
        for _ in 0..10 {
            let calls = (0..5).map(|_| http.send("trying it", http.get("/a")));
            assert!(futures::future::join_all(calls).await.iter().all(Result::is_err));
            clock.advance(Duration::from_millis(100));
        }
        seconds.push(heard.len() - before);
    }

    assert!(seconds[5..].iter().all(|calls| *calls <= 2), "{seconds:?}");
    assert!(seconds[30..].iter().sum::<usize>() >= 3, "it is still probed: {seconds:?}");
}
