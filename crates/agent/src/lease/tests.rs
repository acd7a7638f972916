//! Leases under clocks that differ, jump and stop.

use std::time::Duration;

use uuid::Uuid;

use super::*;

mod simulation;

const SESSION: Uuid = Uuid::from_u128(1);

/// Looks at one lease: `TIME_MS:BEAT` each, with `!` after a beat that the storage knows to be over, and `#`
/// while writes are blocked. Expects the first letter of each verdict.
fn check(looks: &str, expected: &str) {
    let mut observer = LeaseObserver::default();
    let verdicts = looks.split_whitespace().map(|look| {
        let (time_ms, beat) = look.split_once(':').expect("TIME_MS:BEAT");
        let (is_over, is_blocked) = (beat.ends_with('!'), beat.ends_with('#'));
        let beat = beat.trim_end_matches(['!', '#']).parse().expect("a beat");
        let now = Duration::from_millis(time_ms.parse().expect("a time"));
        match observer.look(SESSION, Sighting { beat, is_over, is_blocked }, now) {
            LeaseVerdict::Live => 'L',
            LeaseVerdict::Unknown => 'U',
            LeaseVerdict::Over => 'O',
        }
    });
    assert_eq!(verdicts.collect::<String>(), expected, "{looks}");
}

#[test]
fn a_lease_is_over_once_it_was_seen_unchanged_for_its_time() {
    check("0:1", "U");
    check("0:1 1000:1 2000:1 3000:1 3999:1", "UUUUU");
    check("0:1 1000:1 2000:1 3000:1 4000:1", "UUUUO");
    check("0:1 500:1 1500:1 2500:1 3500:1 4500:1 4600:1", "UUUUUOO");
}

#[test]
fn a_renewal_shows_that_the_holder_lives() {
    check("0:1 900:2 1800:3", "ULL");
    check("0:1 1000:1 2000:1 3000:1 3999:2 4999:2 5999:2 6999:2 7999:2", "UUUULUUUO");
}

#[test]
fn the_storage_may_know_better() {
    check("0:1!", "O");
    check("0:1 10:1! 20:2", "UOU");
}

#[test]
fn time_in_which_the_holder_cannot_write_does_not_count() {
    check("0:1 1000:1# 2000:1# 3000:1# 4000:1# 5000:1# 6000:1", "UUUUUUU");
    check("0:1 1000:1 2000:1 3000:1 4000:1# 5000:1", "UUUUUO");
    check("0:1 1000:1# 2000:2#", "UUL");
}

/// Holder and observer may both have been paused.
#[test]
fn a_gap_counts_little() {
    check("0:1 3900:1", "UU");
    check("0:1 3900:1 7800:1 11700:1 15600:1", "UUUUO");
    // After a longer one, nothing is known: neither that the holder lives, nor that it does not.
    check("0:1 1000:1 2000:1 3000:1 3600000:1 3601000:1", "UUUUUU");
    check("0:1 3600000:900 3600500:900", "UUU");
}

/// A clock that a faulty system sets back adds nothing.
#[test]
fn time_that_runs_backwards_counts_as_none() {
    check("9000:1 0:1 1000:1 2000:1 3000:1 4000:1", "UUUUUO");
}

#[test]
fn sessions_are_observed_apart() {
    let mut observer = LeaseObserver::default();
    let mut look = |session, time| {
        let seen = Sighting { beat: 7, is_over: false, is_blocked: false };
        observer.look(Uuid::from_u128(session), seen, Duration::from_secs(time))
    };
    for time in 0..4 {
        look(1, time);
    }
    assert_eq!(look(2, 4), LeaseVerdict::Unknown);
    assert_eq!(look(1, 4), LeaseVerdict::Over);
}
