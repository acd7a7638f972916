//! Large libraries in little time: what the store would have written, in bulk and past the store.

use database::Location;
use persona::Kind;
use store::Store;
use tokio::sync::mpsc;

use crate::generate::{Generated, generate};

mod rows;
use rows::{Engine, Rows};

mod target;
use target::Target;

/// Entities whose rows are written together.
const BATCH: u64 = 2_000;
/// Batches that are made ahead while others are written.
const AHEAD: usize = 4;

/// Fills an empty or absent library with generated personas, their pieces, history and search
/// index: personas `p0000000` and on, each with six parts, two traits, a skill and a guardrail.
///
/// Fast rather than safe: a SQLite file is written without a journal, so a run that is interrupted
/// leaves a file that is worth nothing.
pub async fn fill(location: &str, personas: u64, seed: u64) {
    let location = Location::parse(location).expect("a location that the store knows");
    make_schema(&location).await;
    let mut target = Target::open(&location).await;
    let engine = target.engine();
    let (sender, mut batches) = mpsc::channel(AHEAD);
    let maker = tokio::task::spawn_blocking(move || make_batches(generate(seed, personas), engine, &sender));
    while let Some(batch) = batches.recv().await {
        for rows in batch {
            target.write(rows).await;
        }
    }
    maker.await.expect("the generator ends well");
    target.finish().await;
}

/// Lets the store make its tables, and makes sure that they are empty: ids are counted from one.
async fn make_schema(location: &Location) {
    let store = Store::open(location.clone(), true).await.expect("the library opens");
    let counts = store.info().await.expect("the library answers").counts;
    assert!(counts.iter().all(|(_, count)| *count == 0), "{location} is not empty; fill a new library");
    store.close().await;
}

fn make_batches(library: Generated, engine: Engine, sender: &mpsc::Sender<Vec<Rows>>) {
    let mut revisions = 0;
    for (kind, count) in [
        (Kind::Part, library.part_count()),
        (Kind::Trait, library.piece_count()),
        (Kind::Skill, library.piece_count()),
        (Kind::Guardrail, library.piece_count()),
        (Kind::Persona, library.persona_count()),
    ] {
        for start in (0..count).step_by(BATCH as usize) {
            let mut batch = rows::Batch::new(engine, revisions);
            for index in start..count.min(start + BATCH) {
                match kind {
                    Kind::Part => batch.add(index, &library.part(index)),
                    Kind::Trait => batch.add(index, &library.trait_(index)),
                    Kind::Skill => batch.add(index, &library.skill(index)),
                    Kind::Guardrail => batch.add(index, &library.guardrail(index)),
                    Kind::Persona => {
                        let persona = library.persona(index);
                        batch.add(index, &persona);
                        batch.add_links(index, &persona);
                    }
                    other => unreachable!("no {other} is generated"),
                }
            }
            revisions += count.min(start + BATCH) - start;
            if sender.blocking_send(batch.into_rows()).is_err() {
                // The writer failed and reports its own error.
                return;
            }
        }
    }
}
