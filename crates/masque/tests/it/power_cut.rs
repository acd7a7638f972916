//! Loss of power: the files are rebuilt from recorded calls as a cut would leave them, and read.
//!
//! No file system that drops unsynced data is at hand, so a model replaces it: see [`disk`].

use std::path::Path;

use rand::SeedableRng as _;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom as _;

use crate::failing_calls::Context;
use crate::failing_calls::library::read;
use crate::failing_calls::one_process::{OneProcess, steps};
use crate::failing_calls::steps::{Answer, check};
use crate::failing_calls::turns::{Turns, printed, session, stored};
use crate::strace::{Call, Tracer};

mod disk;
use disk::{CALLS, Disk, Survivors, decode_bytes};

const SEED: u64 = 0x6461_726b;

/// The cuts that a short test tries, beside those at answers. `cargo xtask faults` tries every one.
const CUTS: usize = 40;

/// The pages of the log after which SQLite syncs it. Masque leaves this at the default.
const CHECKPOINT_BYTES: usize = 1000 * 4096;

fn recorder() -> Option<Tracer> {
    Tracer::with(vec![
        format!("--trace={CALLS}"),
        "--strings-in-hex=all".to_owned(),
        "--string-limit=100000000".to_owned(),
    ])
}

/// The successful calls of one process, in the order of their ends.
struct Recording {
    /// The disk, which follows the calls.
    disk: Disk,
    calls: Vec<Call>,
}

/// A cut after so many calls.
#[derive(Debug, Clone, Copy)]
struct Cut {
    calls: usize,
    survivors: Survivors,
}

impl Recording {
    /// Cuts at each answer with nothing unsafe surviving, and others at random. All, if asked.
    fn cuts(&self, answers: &[usize]) -> Vec<Cut> {
        let every = [Survivors::None, Survivors::Some, Survivors::All];
        let all = (0..=self.calls.len())
            .flat_map(|calls| every.map(|survivors| Cut { calls, survivors }))
            .collect::<Vec<_>>();
        if std::env::var_os(crate::failing_calls::EVERY).is_some() {
            return all;
        }
        let at_answers = answers.iter().map(|line| {
            let sent = self.calls.iter().position(|call| call.began == *line).expect("an answer");
            Cut { calls: sent + 1, survivors: Survivors::None }
        });
        let mut random = StdRng::seed_from_u64(SEED);
        let mut cuts: Vec<Cut> = all.choose_multiple(&mut random, CUTS).copied().chain(at_answers).collect();
        cuts.sort_by_key(|cut| cut.calls);
        cuts
    }

    /// Rebuilds the files for each cut. The check gets the line of the log at which the cut is.
    fn cut_everywhere(mut self, cuts: &[Cut], root: &Path, check: impl Fn(Cut, usize)) {
        let mut random = StdRng::seed_from_u64(SEED);
        let mut followed = 0;
        for cut in cuts {
            for call in &self.calls[followed..cut.calls] {
                self.disk.follow(call);
            }
            followed = cut.calls;
            self.disk.cut_power(cut.survivors, &mut random, root);
            // The cut comes right before the end of the next call.
            let line = self.calls.get(followed).map_or(usize::MAX, |call| call.ended);
            check(*cut, line);
        }
    }
}

/// The lines at which the answers were sent: the first calls that write a text.
fn lines_with(calls: &[Call], texts: impl Iterator<Item = String>) -> Vec<usize> {
    let written: Vec<(usize, Vec<u8>)> = calls
        .iter()
        .filter(|call| matches!(call.name.as_str(), "write" | "writev"))
        .map(|call| (call.began, decode_bytes(&call.arguments)))
        .collect();
    let contains = |bytes: &[u8], text: &str| bytes.windows(text.len()).any(|part| part == text.as_bytes());
    let line = |text: String| {
        let found = written.iter().find(|(_, bytes)| contains(bytes, &text));
        found.unwrap_or_else(|| panic!("{text} was not written")).0
    };
    texts.map(line).collect()
}

#[test]
fn a_power_cut_loses_no_acknowledged_write() {
    let Some(tracer) = recorder() else { return };
    let workload = OneProcess::new();
    workload.restore();
    let root = workload.home.path("");
    let disk = Disk::of(&root);
    let ended = workload.run_restored(&tracer);
    assert!(ended.acknowledged, "{ended:?}");
    let calls: Vec<Call> = tracer.calls().concat().into_iter().filter(Call::succeeded).collect();
    // The first request is the handshake.
    let answers = lines_with(&calls, (0..steps().len()).map(|step| format!("\"id\":{},", step + 2)));
    let recording = Recording { disk, calls };
    let cuts = recording.cuts(&answers);
    recording.cut_everywhere(&cuts, &root, |cut, line| {
        let acknowledged = answers.iter().filter(|answer| **answer < line).count();
        let mut outcome: Vec<_> =
            steps().into_iter().take(acknowledged + 1).map(|step| (step, Answer::Acknowledged)).collect();
        if let Some((_, last)) = outcome.get_mut(acknowledged) {
            *last = Answer::Unknown;
        }
        let _context = Context(format!("{cut:?} after {acknowledged} answers"));
        check(&workload.before, &outcome, &read(&root));
    });
    eprintln!("{} power cuts; every acknowledged write was there", cuts.len());
}

#[test]
fn a_power_cut_loses_the_last_turns_only() {
    let Some(tracer) = recorder() else { return };
    let workload = Turns::new();
    let home = &workload.rehearsed.home;
    workload.kept.restore(home);
    let root = home.path("");
    let disk = Disk::of(&root);
    let output = workload.run_restored(&tracer);
    assert_eq!(output.code, 0, "{output:#?}");
    let session = session(&output.stdout).expect("a session");
    let turns = printed(&output.stdout);
    let calls: Vec<Call> = tracer.calls().concat().into_iter().filter(Call::succeeded).collect();
    let lines = lines_with(&calls, turns.keys().map(|id| format!("\"id\":\"{id}\"")));
    let log_bytes: usize = calls
        .iter()
        .filter(|call| {
            call.name == "pwrite64" && decode_bytes(&call.arguments).windows(4).any(|part| part == b"-wal")
        })
        .filter_map(|call| call.result.parse::<usize>().ok())
        .sum();
    let recording = Recording { disk, calls };
    let mut cuts = recording.cuts(&lines);
    // After the end of the process.
    cuts.push(Cut { calls: recording.calls.len(), survivors: Survivors::None });
    let most_lost = std::cell::Cell::new(0);
    recording.cut_everywhere(&cuts, &root, |cut, line| {
        let held = stored(home, &session);
        let seen: Vec<_> = turns.iter().zip(&lines).filter(|(_, sent)| **sent < line).collect();
        let lost = seen.iter().filter(|((id, turn), _)| held.get(*id) != Some(*turn)).count();
        // Ids grow with time: after a lost turn, no later one is there.
        let kept = turns.iter().take_while(|(id, turn)| held.get(*id) == Some(*turn)).count();
        assert!(turns.keys().skip(kept).all(|id| !held.contains_key(id)), "{cut:?}: {held:#?}");
        most_lost.set(most_lost.get().max(lost));
        if cut.calls == cuts[cuts.len() - 1].calls {
            assert_eq!(lost, 0, "the process had ended: {cut:?}");
        }
    });
    let turn_bytes = log_bytes / (turns.len() + 1);
    eprintln!(
        "{} power cuts lost at most {} of {} turns; a turn takes about {turn_bytes} bytes of the log, so at most {} turns wait for a sync",
        cuts.len(),
        most_lost.get(),
        turns.len(),
        CHECKPOINT_BYTES / turn_bytes.max(1),
    );
}
