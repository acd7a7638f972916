//! Calls to the system that fail while Masque writes: every acknowledged write is there afterwards, and no
//! write is half done.
//!
//! strace lets one call after the other fail: the first `fsync` of each thread, the second, and so on. `cargo
//! xtask test` tries a few of each kind; `cargo xtask faults` tries them all.

use std::collections::BTreeMap;

use crate::strace::{Call, Tracer};

mod commands;
mod full_disk;
pub(crate) mod library;
pub(crate) mod one_process;
pub(crate) mod steps;
pub(crate) mod turns;

/// Walks over every call, or every Nth: `cargo xtask faults` sets it.
pub(crate) const EVERY: &str = "MASQUE_TEST_FAULTS_EVERY";

/// The calls by which files change. `write` is not among them: the runtime's own signals use it. A full
/// disk makes it fail instead.
const CALLS: [&str; 15] = [
    "pwrite64",
    "fsync",
    "fdatasync",
    "ftruncate",
    "fallocate",
    "openat",
    "rename",
    "renameat",
    "renameat2",
    "link",
    "linkat",
    "unlink",
    "unlinkat",
    "mkdir",
    "fchmod",
];

/// Calls that also fail for good: a disk that is full or gone stays so.
const FAIL_FOR_GOOD: [&str; 3] = ["pwrite64", "fsync", "ftruncate"];

/// The faults of a kind that the short walk tries.
const FEW: usize = 3;

/// A series of writes, and the check of their outcome.
trait Workload {
    /// Restores the files, writes under the tracer, and checks the files with a process without faults.
    /// Returns the outcome of each traced process.
    fn run(&self, tracer: &Tracer) -> Vec<Ended>;

    /// The directory of the files that belong to the workload.
    fn directory(&self) -> String;
}

/// A traced process after its end.
#[derive(Debug)]
pub(crate) struct Ended {
    /// True if every write of the process was acknowledged.
    pub(crate) acknowledged: bool,
    errors: String,
}

/// A call that fails.
#[derive(Debug, Clone, Copy)]
struct Fault {
    call: &'static str,
    error: &'static str,
    /// The number of the call in its thread.
    number: usize,
    /// True if all later ones fail too.
    for_good: bool,
}

impl Fault {
    fn options(self) -> Vec<String> {
        let Self { call, error, number, for_good } = self;
        let plus = if for_good { "+" } else { "" };
        vec![format!("--trace=?{call}"), format!("--inject=?{call}:error={error}:when={number}{plus}")]
    }
}

/// Lets the calls of a workload fail, one after the other.
fn walk(name: &str, workload: &dyn Workload) {
    let Some(tracer) =
        Tracer::with(vec![format!("--trace={}", CALLS.map(|call| format!("?{call}")).join(","))])
    else {
        return;
    };
    let ended = workload.run(&tracer);
    assert!(ended.iter().all(|ended| ended.acknowledged), "{name} fails without a fault: {ended:#?}");
    let most = most_in_a_thread(&tracer, &workload.directory());
    let every = std::env::var(EVERY).ok().map(|every| every.parse().expect("a number"));
    let (mut tried, mut failed) = (0, 0);
    for (call, most) in most {
        for (error, for_good) in [("EIO", false), ("ENOSPC", true)] {
            if for_good && !FAIL_FOR_GOOD.contains(&call) {
                continue;
            }
            let mut injected = 0;
            for number in numbers(most, every) {
                let hits = try_fault(name, workload, Fault { call, error, number, for_good });
                injected += hits;
                failed += hits;
                tried += 1;
                // Threads share the calls differently each time, so some have more calls than were counted.
                if number > most && hits == 0 {
                    break;
                }
            }
            assert!(injected > 0, "{name}: no {call} failed with {error}");
        }
    }
    eprintln!("{name}: {failed} calls failed in {tried} runs; every acknowledged write was there");
}

/// The numbers of the calls that fail.
fn numbers(most: usize, every: Option<usize>) -> Box<dyn Iterator<Item = usize>> {
    match every {
        Some(every) => Box::new((1..).step_by(every.max(1))),
        None => {
            let few = FEW.min(most);
            Box::new((1..=few).map(move |at| (at * most).div_ceil(few + 1).max(1)))
        }
    }
}

/// The largest number of calls in one thread, for each kind of calls in the directory.
fn most_in_a_thread(tracer: &Tracer, directory: &str) -> BTreeMap<&'static str, usize> {
    let mut most = BTreeMap::new();
    for calls in tracer.calls() {
        for name in CALLS {
            let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
            let named = calls.iter().filter(|call| call.name == name);
            named.clone().for_each(|call| *counts.entry(&call.thread).or_default() += 1);
            if named.into_iter().any(|call| call.is_in(directory)) {
                let known = most.entry(name).or_default();
                *known = counts.into_values().fold(*known, usize::max);
            }
        }
    }
    most
}

/// Runs the workload with a fault. Returns the number of calls in its directory that failed.
fn try_fault(name: &str, workload: &dyn Workload, fault: Fault) -> usize {
    let tracer = Tracer::with(fault.options()).expect("it was there before");
    let _context = Context(format!("{name}, {fault:?}"));
    let ended = workload.run(&tracer);
    let mut hits = 0;
    for (ended, calls) in ended.iter().zip(tracer.calls()) {
        let injected: Vec<&Call> = calls.iter().filter(|call| call.is_injected()).collect();
        let directory = workload.directory();
        let ours = injected.iter().filter(|call| call.is_in(&directory)).count();
        hits += ours;
        assert!(!injected.is_empty() || ended.acknowledged, "it fails without a fault: {ended:#?}");
        // A process may need the files of the system.
        if ours == injected.len() {
            assert!(!ended.errors.contains("panicked"), "{injected:#?}\n{ended:#?}");
        }
    }
    hits
}

/// Names the fault on standard error if the check of its outcome fails.
pub(crate) struct Context(pub(crate) String);

impl Drop for Context {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("this was: {}", self.0);
        }
    }
}
