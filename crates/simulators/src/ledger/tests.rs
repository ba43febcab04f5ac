use super::*;

const SMALL: LedgerLimits = LedgerLimits { file: 2_000, older: 6_000 };

fn line(about: &About) -> call::Line<'_> {
    call::Line { phase: Phase::Received, about, object: None, status: None, trouble: None }
}

fn write(ledger: &Ledger, count: u64) {
    let about = About { system: "edp".into(), route: "/x".into(), ..About::default() };
    for _ in 0..count {
        ledger.write(0, &line(&about)).unwrap();
    }
}

fn open(folder: &Path) -> Ledger {
    Ledger::with_room(&folder.join("ledger.log"), Clock::running(), SMALL).unwrap()
}

fn bytes(folder: &Path) -> u64 {
    let files = std::fs::read_dir(folder).unwrap();
    files.map(|file| file.unwrap().metadata().unwrap().len()).sum()
}

fn sequences(ledger: &Ledger) -> Vec<u64> {
    ledger.all(&Filter::default()).unwrap().iter().map(|entry| entry.sequence).collect()
}

#[test]
fn a_ledger_takes_no_more_room_than_it_may_and_keeps_the_newest_lines() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = open(folder.path());

    write(&ledger, 1_000);

    assert!(bytes(folder.path()) < SMALL.older + 2 * SMALL.file, "{}", bytes(folder.path()));
    let kept = sequences(&ledger);
    assert_eq!(kept.last(), Some(&1_000));
    assert!(kept.windows(2).all(|pair| pair[0] + 1 == pair[1]), "{kept:?}");
    assert!((20..500).contains(&kept.len()), "{}", kept.len());
}

#[test]
fn counting_and_sums_go_on_after_a_restart_though_the_lines_are_gone() {
    let folder = tempfile::tempdir().unwrap();

    for round in 1..=20 {
        let ledger = open(folder.path());
        write(&ledger, 37);
        assert_eq!(ledger.sums("edp").received, round * 37);
        assert_eq!(sequences(&ledger).last(), Some(&(round * 37)));
    }
}

#[test]
fn pages_of_older_files_are_found_after_a_restart_too() {
    let folder = tempfile::tempdir().unwrap();
    write(&open(folder.path()), 1_000);
    let ledger = open(folder.path());
    let kept = sequences(&ledger);

    for after in kept.iter().copied() {
        let page = ledger.page(after, &Filter::default(), 5).unwrap();
        let found: Vec<u64> = page.entries.iter().map(|entry| entry.sequence).collect();
        let wanted: Vec<u64> = (after + 1..=1_000).take(5).collect();
        assert_eq!(found, wanted, "after {after}");
        assert_eq!(page.more, after + 5 < 1_000, "after {after}");
    }
}
