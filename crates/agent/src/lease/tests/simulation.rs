//! Several nodes that run, observe and take one session, while their clocks differ and jump, and they are
//! paused, stalled and killed, and other programs keep them from writing.

use std::time::Duration;

use rand::rngs::StdRng;
use rand::{Rng as _, SeedableRng as _};

use super::{LeaseObserver, LeaseVerdict, SESSION, Sighting, limits};

const NODES: usize = 4;
const TICK_MS: u64 = 50;
const SIMULATED_MS: u64 = 10 * 60 * 1000;
const SEEDS: u64 = 40;
/// A pause that a holder may take and still count as live.
const SHORT_PAUSE_MS: u64 = 1_000;
/// A pause after which another node may have taken the session.
const STALL_MS: u64 = 6_000;
/// The longest pause of all nodes at once, as of a machine that sleeps.
const LONGEST_FREEZE_MS: u64 = 60_000;
/// A dead holder's session is taken within this time, counted while nodes are awake.
const TAKEN_WITHIN_MS: u64 = 6_000;
/// The longest time in which another program keeps all nodes from writing.
const LONGEST_BLOCK_MS: u64 = 20_000;
/// The time between two faults of one kind.
const FAULT_EVERY_MS: u64 = 15_000;
/// The time between two settings of the database's clock.
const CLOCK_SET_EVERY_MS: u64 = 60_000;

/// The way in which a node learns that a lease is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rule {
    /// By its own monotonic clock, as on SQLite, where another writer may block all of them.
    Observation,
    /// The same, but blind to blocked writes.
    BlindObservation,
    /// Also by the clock of the database, as on PostgreSQL.
    DatabaseClock,
    /// The same, with a clock that is set while sessions run.
    JumpingDatabaseClock,
    /// By comparing wall clocks of nodes, as earlier releases did.
    WallClocks,
}

struct Row {
    holder: usize,
    beat: i64,
    until_ms: i64,
}

struct Node {
    /// Monotonic time, from any moment and at a rate of its own.
    offset_ms: f64,
    rate: f64,
    /// The wall clock's error.
    skew_ms: i64,
    paused_until_ms: u64,
    next_beat_ms: u64,
    next_look_ms: u64,
    /// True while it believes that it runs the session.
    runs: bool,
    observer: LeaseObserver,
}

/// The holder's last sign of life, for the judge.
struct Judge {
    died_ms: Option<u64>,
    /// Time since the last beat in which the holder was paused, and in which all nodes were.
    stalled_ms: u64,
    frozen_ms: u64,
    awake_since_death_ms: u64,
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Faults {
    live_taken: usize,
    dead_kept: usize,
    dead_taken: usize,
    stalled_taken: usize,
    stalled_wrote: usize,
    clock_set: usize,
}

struct World {
    rule: Rule,
    random: StdRng,
    now_ms: u64,
    frozen_until_ms: u64,
    blocked_until_ms: u64,
    /// The error of the database's clock.
    database_skew_ms: i64,
    row: Row,
    nodes: Vec<Node>,
    judge: Judge,
    faults: Faults,
}

impl Rule {
    fn reads_database_clock(self) -> bool {
        matches!(self, Self::DatabaseClock | Self::JumpingDatabaseClock)
    }
}

impl World {
    fn new(rule: Rule, seed: u64) -> Self {
        let mut random = StdRng::seed_from_u64(seed);
        let nodes = (0..NODES)
            .map(|_| Node {
                offset_ms: random.random_range(0.0..1e9),
                rate: random.random_range(0.97..1.03),
                skew_ms: random.random_range(-8_000..8_000),
                paused_until_ms: 0,
                next_beat_ms: 0,
                next_look_ms: 0,
                runs: false,
                observer: LeaseObserver::default(),
            })
            .collect();
        let judge = Judge { died_ms: None, stalled_ms: 0, frozen_ms: 0, awake_since_death_ms: 0 };
        let row = Row { holder: 0, beat: 0, until_ms: 0 };
        let faults = Faults::default();
        let mut world = Self {
            rule,
            random,
            now_ms: 0,
            frozen_until_ms: 0,
            blocked_until_ms: 0,
            database_skew_ms: 0,
            row,
            nodes,
            judge,
            faults,
        };
        world.take(0);
        world
    }

    fn run(mut self) -> Faults {
        while self.now_ms < SIMULATED_MS {
            self.now_ms += TICK_MS;
            self.disturb();
            let is_frozen = self.now_ms < self.frozen_until_ms;
            self.keep_time(is_frozen);
            if !is_frozen {
                // Observers first: the worst order.
                (0..NODES).for_each(|at| self.look(at));
                (0..NODES).for_each(|at| self.beat(at));
            }
        }
        self.faults
    }

    fn happens(&mut self, every_ms: u64) -> bool {
        self.random.random_range(0..every_ms / TICK_MS) == 0
    }

    fn is_blocked(&self) -> bool {
        self.now_ms < self.blocked_until_ms
    }

    fn disturb(&mut self) {
        let may_block = matches!(self.rule, Rule::Observation | Rule::BlindObservation);
        if may_block && !self.is_blocked() && self.happens(FAULT_EVERY_MS) {
            self.blocked_until_ms = self.now_ms + self.random.random_range(0..LONGEST_BLOCK_MS);
        }
        if self.rule == Rule::JumpingDatabaseClock && self.happens(CLOCK_SET_EVERY_MS) {
            self.database_skew_ms = self.random.random_range(-3_600_000..3_600_000);
            self.faults.clock_set += 1;
        }
        let quiet = self.now_ms > self.frozen_until_ms + FAULT_EVERY_MS && self.judge.died_ms.is_none();
        if quiet && self.happens(FAULT_EVERY_MS) {
            self.frozen_until_ms = self.now_ms + self.random.random_range(0..LONGEST_FREEZE_MS);
        }
        for at in 0..NODES {
            if self.happens(FAULT_EVERY_MS) {
                // A clock that is set, or a machine whose clock was wrong until now.
                self.nodes[at].skew_ms = self.random.random_range(-3_600_000..3_600_000);
            }
            let is_awake = self.now_ms > self.nodes[at].paused_until_ms + SHORT_PAUSE_MS * 2;
            if at == self.row.holder && self.judge.died_ms.is_none() {
                if is_awake && self.judge.stalled_ms == 0 && self.happens(FAULT_EVERY_MS) {
                    let length_ms = match self.random.random_range(0..4) {
                        0 => self.random.random_range(STALL_MS..STALL_MS * 10),
                        _ => self.random.random_range(0..SHORT_PAUSE_MS),
                    };
                    self.nodes[at].paused_until_ms = self.now_ms + length_ms;
                }
                if self.happens(FAULT_EVERY_MS * 2) {
                    self.judge.died_ms = Some(self.now_ms);
                    self.nodes[at].runs = false;
                }
            } else if is_awake && self.judge.died_ms.is_none() && self.happens(FAULT_EVERY_MS) {
                self.nodes[at].paused_until_ms = self.now_ms + self.random.random_range(0..60_000);
            }
        }
    }

    fn keep_time(&mut self, is_frozen: bool) {
        let Judge { died_ms, stalled_ms, frozen_ms, awake_since_death_ms } = &mut self.judge;
        let is_awake = |node: &Node| node.paused_until_ms < self.now_ms;
        if is_frozen {
            *frozen_ms += TICK_MS;
        } else if !is_awake(&self.nodes[self.row.holder]) {
            *stalled_ms += TICK_MS;
        }
        let others = self.nodes.iter().enumerate().filter(|(at, _)| *at != self.row.holder);
        let is_blocked = self.now_ms < self.blocked_until_ms;
        if died_ms.is_some() && !is_frozen && !is_blocked && others.map(|(_, node)| node).any(is_awake) {
            *awake_since_death_ms += TICK_MS;
            if *awake_since_death_ms == TAKEN_WITHIN_MS {
                self.faults.dead_kept += 1;
            }
        }
    }

    fn monotonic(&self, at: usize) -> Duration {
        let node = &self.nodes[at];
        Duration::from_secs_f64((node.offset_ms + node.rate * self.now_ms as f64) / 1e3)
    }

    /// A clock as the rule reads it at a node.
    fn clock_ms(&self, at: usize) -> i64 {
        let now_ms = i64::try_from(self.now_ms).expect("a short simulation");
        match self.rule {
            Rule::WallClocks => now_ms + self.nodes[at].skew_ms,
            Rule::DatabaseClock | Rule::JumpingDatabaseClock => now_ms + self.database_skew_ms,
            Rule::Observation | Rule::BlindObservation => now_ms,
        }
    }

    fn look(&mut self, at: usize) {
        let is_due = self.nodes[at].next_look_ms <= self.now_ms;
        let is_dead = at == self.row.holder && self.judge.died_ms.is_some();
        if self.nodes[at].runs || is_dead || self.nodes[at].paused_until_ms >= self.now_ms || !is_due {
            return;
        }
        let pause_ms = self.random.random_range(TICK_MS..2 * limits::LOOK_AGAIN.as_millis() as u64);
        self.nodes[at].next_look_ms = self.now_ms + pause_ms;
        let is_late = self.row.until_ms <= self.clock_ms(at);
        let lease = Sighting {
            beat: self.row.beat,
            is_over: self.rule.reads_database_clock() && is_late,
            is_blocked: self.rule == Rule::Observation && self.is_blocked(),
        };
        let now = self.monotonic(at);
        let is_over = match self.rule {
            Rule::WallClocks => is_late,
            _ => self.nodes[at].observer.look(SESSION, lease, now) == LeaseVerdict::Over,
        };
        // A takeover is a write: until the block ends, the node only knows that it may.
        if is_over && !self.is_blocked() {
            self.judge_takeover();
            self.take(at);
        }
    }

    fn judge_takeover(&mut self) {
        let Judge { died_ms, stalled_ms, frozen_ms, .. } = self.judge;
        // The clock of a database goes on while its nodes are frozen.
        let stalled_ms = stalled_ms + if self.rule.reads_database_clock() { frozen_ms } else { 0 };
        match died_ms {
            Some(_) => self.faults.dead_taken += 1,
            None if stalled_ms > SHORT_PAUSE_MS => self.faults.stalled_taken += 1,
            None => self.faults.live_taken += 1,
        }
    }

    fn take(&mut self, at: usize) {
        self.row.holder = at;
        self.nodes[at].runs = true;
        self.renew(at);
    }

    fn renew(&mut self, at: usize) {
        self.row.beat += 1;
        self.row.until_ms = self.clock_ms(at) + limits::LEASE.as_millis() as i64;
        self.nodes[at].next_beat_ms =
            self.now_ms + (limits::HEARTBEAT.as_millis() as f64 / self.nodes[at].rate) as u64;
        self.judge = Judge { died_ms: None, stalled_ms: 0, frozen_ms: 0, awake_since_death_ms: 0 };
    }

    /// Renews the lease of a node that believes to hold it. One that was paused too long finds out.
    fn beat(&mut self, at: usize) {
        if self.is_blocked() {
            return;
        }
        let node = &mut self.nodes[at];
        if !node.runs || node.paused_until_ms >= self.now_ms || node.next_beat_ms > self.now_ms {
            return;
        }
        if self.row.holder == at {
            self.renew(at);
        } else {
            node.runs = false;
            self.faults.stalled_wrote += 1;
        }
    }
}

fn simulate(rule: Rule) -> Faults {
    let mut sum = Faults::default();
    for seed in 0..SEEDS {
        let found = World::new(rule, seed).run();
        if matches!(rule, Rule::Observation | Rule::DatabaseClock) {
            assert_eq!((found.live_taken, found.dead_kept), (0, 0), "{rule:?}, seed {seed}: {found:?}");
        }
        sum.live_taken += found.live_taken;
        sum.dead_kept += found.dead_kept;
        sum.dead_taken += found.dead_taken;
        sum.stalled_taken += found.stalled_taken;
        sum.stalled_wrote += found.stalled_wrote;
        sum.clock_set += found.clock_set;
    }
    sum
}

#[test]
fn a_live_run_is_never_taken_and_a_dead_one_always_is() {
    for rule in [Rule::Observation, Rule::DatabaseClock] {
        let found = simulate(rule);
        assert!(found.dead_taken > 100 && found.stalled_taken > 50, "{rule:?}: {found:?}");
        assert!(found.stalled_wrote > 50, "a node that lost its session finds out: {found:?}");
    }
}

/// A limit that decision 0060 accepts: a database whose clock is set ahead may end one live run each time. One
/// that is set back keeps no dead session, as observers wait by their own time then.
#[test]
fn a_clock_of_the_database_that_is_set_ends_at_most_one_run_and_keeps_none() {
    let found = simulate(Rule::JumpingDatabaseClock);
    assert_eq!(found.dead_kept, 0, "{found:?}");
    assert!(found.dead_taken > 100 && found.clock_set > 100, "{found:?}");
    assert!(found.live_taken > 0 && found.live_taken <= found.clock_set, "{found:?}");
}

/// The simulation finds the runs that a long write of another program would end.
#[test]
fn observers_that_ignore_blocked_writes_take_live_runs() {
    let found = simulate(Rule::BlindObservation);
    assert!(found.live_taken > 20, "{found:?}");
}

/// The simulation finds the defects of earlier releases.
#[test]
fn wall_clocks_fail_in_both_ways() {
    let found = simulate(Rule::WallClocks);
    assert!(found.live_taken > 100 && found.dead_kept > 100, "{found:?}");
}
