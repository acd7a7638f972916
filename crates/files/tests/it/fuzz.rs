//! Hostile files: whatever the bytes are, reading and editing never panic, and an edit changes no
//! other entry.
//!
//! Runs for `MASQUE_FUZZ_SECONDS` (2, or 60 where `CI` is set). A failure prints its seed, and
//! `MASQUE_FUZZ_SEED` runs that one input again.

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use files::document::{self, Document, locate};
use files::edit::{Edit, EditError, apply};
use persona::{AnyEntity, Code, Kind, Name};
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use serde_json::json;

/// Pieces that mean something in TOML or in a personas.toml.
const TOKENS: [&str; 48] = [
    "[",
    "]",
    "[[",
    "]]",
    "{",
    "}",
    "=",
    ".",
    ",",
    "#",
    "\"",
    "'",
    "\"\"\"",
    "'''",
    "\n",
    "\r\n",
    "\r",
    " ",
    "\t",
    "\\",
    "\\u",
    "\\\n",
    "\u{feff}",
    "\u{0}",
    "ä",
    "true",
    "-1",
    "0.5",
    "inf",
    "1979-05-27",
    "[personas.a]\n",
    "[[arcs.growth.stages]]\n",
    "personas",
    "skills",
    "parts",
    "summary = \"s\"\n",
    "content_file = \"prompts/a.md\"\n",
    "name = \"a\"\n",
    "tags = []\n",
    "stages",
    "order = 1\n",
    "plan_persona",
    "x = { y = 1 }\n",
    "[skills]\n",
    "a",
    "b.",
    "\n\n# c\n",
    "preferred_models = [",
];

/// How many random changes an input gets at most.
const CHANGES: usize = 6;
/// Inputs grow no larger than this.
const BYTES: usize = 16 * 1024;

/// Prints what was being read when something panics.
struct Witness<'a> {
    seed: u64,
    text: &'a str,
}

impl Drop for Witness<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("MASQUE_FUZZ_SEED={} fails with:\n{:?}", self.seed, self.text);
        }
    }
}

fn corpus() -> Vec<Vec<u8>> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/corpus");
    let mut paths: Vec<PathBuf> = fs::read_dir(directory)
        .expect("the corpus is there")
        .map(|entry| entry.expect("readable").path())
        .collect();
    paths.sort();
    assert!(paths.len() >= 12, "the corpus is there");
    paths.iter().map(|path| fs::read(path).expect("readable")).collect()
}

fn mutated(corpus: &[Vec<u8>], random: &mut StdRng) -> Vec<u8> {
    let mut bytes = corpus.choose(random).expect("there are some").clone();
    for _ in 0..random.random_range(0..=CHANGES) {
        let (mut at, mut to) = (random.random_range(0..=bytes.len()), bytes.len());
        to = to.min(at + random.random_range(0..=64));
        // Whole lines keep a file readable more often than pieces of them.
        if random.random_bool(0.6) {
            (at, to) = (next_line(&bytes, at), next_line(&bytes, to));
        }
        match random.random_range(0..7) {
            0 if at < bytes.len() => bytes[at] ^= 1 << random.random_range(0..8),
            1 => drop(bytes.drain(at..to)),
            2 => {
                let again = bytes[at..to].to_vec();
                bytes.splice(at..at, again);
            }
            3 => {
                let other = corpus.choose(random).expect("there are some");
                let from = random.random_range(0..=other.len());
                let until = random.random_range(from..=other.len().min(from + 256));
                bytes.splice(at..at, other[from..until].iter().copied());
            }
            4 => bytes.truncate(at),
            _ => {
                let token = TOKENS.choose(random).expect("there are some");
                bytes.splice(at..at, token.bytes());
            }
        }
    }
    bytes.truncate(BYTES);
    bytes
}

/// The start of the line after an offset.
fn next_line(bytes: &[u8], offset: usize) -> usize {
    let end = bytes[offset..].iter().position(|byte| *byte == b'\n');
    end.map_or(bytes.len(), |at| offset + at + 1)
}

/// The text of an input: as it is where it is UTF-8, otherwise mended.
fn text_of(path: &Path, bytes: &[u8]) -> String {
    match document::text_of(path, bytes.to_vec()) {
        Ok(text) => text,
        Err(problem) => {
            assert_eq!(problem.cause, Code::NotUtf8);
            assert!(problem.line > 0 && problem.column > 0);
            String::from_utf8_lossy(bytes).into_owned()
        }
    }
}

type Id = (Kind, Name);

fn ids(document: &Document) -> Vec<Id> {
    let good = document.all().map(|entry| (entry.entity.kind(), entry.entity.name().clone()));
    good.chain(document.broken.iter().cloned()).collect()
}

/// A change of a random entry, and what the file should hold for it afterwards; whether it could
/// be made.
fn one_edit(path: &Path, text: &str, before: &Document, random: &mut StdRng) -> bool {
    let known = ids(before);
    let fresh: Name = "fresh".parse().expect("a name");
    let (kind, name) = match known.choose(random) {
        Some(id) if random.random_bool(0.9) => id.clone(),
        _ => (*Kind::ALL.choose(random).expect("there are some"), fresh.clone()),
    };
    let entity = changed(before, kind, &name, random);
    let there = known.contains(&(kind, name.clone()));
    let (edit, touched, wanted) = match random.random_range(0..4) {
        0 => (Edit::Remove { kind, name: &name }, vec![name.clone()], None),
        1 if there && !known.contains(&(kind, fresh.clone())) => {
            let renamed = before.get(kind, name.as_str()).map(|entry| {
                let mut entity = entry.entity.clone();
                entity.set_name(fresh.clone());
                entity
            });
            (Edit::Rename { kind, old: &name, new: &fresh }, vec![name.clone(), fresh.clone()], renamed)
        }
        _ => (Edit::Put { entity: &entity }, vec![name.clone()], Some(entity.clone())),
    };
    let edited = match apply(text, &[edit], before) {
        Ok(edited) => edited,
        // It may be written in a way that needs a hand, and then nothing happens.
        Err(EditError::ByHand { .. } | EditError::Invalid { .. }) => return false,
        Err(other) => panic!("{other}"),
    };
    let after = document::read(path, &edited.text)
        .unwrap_or_else(|problem| panic!("{edit:?} broke the file: {problem}\n{}", edited.text));
    for entry in before.all() {
        let (other, key) = (entry.entity.kind(), entry.entity.name());
        if other != kind || !touched.contains(key) {
            assert_eq!(
                after.get(other, key.as_str()),
                Some(entry),
                "{edit:?} changed another entry:\n{}",
                edited.text
            );
        }
    }
    let others = |document: &Document| -> BTreeSet<Id> {
        ids(document).into_iter().filter(|(other, key)| *other != kind || !touched.contains(key)).collect()
    };
    assert_eq!(others(&after), others(before), "{edit:?}:\n{}", edited.text);
    match (&edit, wanted) {
        (Edit::Remove { .. }, _) => assert!(!after.has(kind, name.as_str())),
        (_, Some(wanted)) if edited.files.is_empty() => {
            let found = after.get(kind, wanted.name().as_str()).map(|entry| &entry.entity);
            assert_eq!(found, Some(&wanted), "{edit:?}:\n{}", edited.text);
        }
        _ => {}
    }
    true
}

/// The entry with another description, or the least that can stand in its place.
fn changed(before: &Document, kind: Kind, name: &Name, random: &mut StdRng) -> AnyEntity {
    let mut value = match before.get(kind, name.as_str()) {
        Some(entry) => entry.entity.to_json(),
        None => json!({ "name": name, "part_type": "tone", "trait_type": "social", "content": "c" }),
    };
    let fields = value.as_object_mut().expect("an object");
    if before.get(kind, name.as_str()).is_none() {
        fields.retain(|key, _| match key.as_str() {
            "part_type" => kind == Kind::Part,
            "trait_type" => kind == Kind::Trait,
            "content" => matches!(kind, Kind::Part | Kind::Skill | Kind::Guardrail | Kind::TestInput),
            _ => true,
        });
    }
    let token = |random: &mut StdRng| TOKENS.choose(random).expect("there are some").replace('\0', "");
    match random.random_range(0..3) {
        0 => drop(fields.insert("description".into(), json!(token(random) + &token(random)))),
        1 => drop(fields.insert("tags".into(), json!(["one", "two words"]))),
        _ => {
            let keys: Vec<String> =
                fields.keys().filter(|key| *key != "name" && !key.ends_with("_type")).cloned().collect();
            if let Some(key) = keys.choose(random) {
                fields.remove(key);
            }
        }
    }
    AnyEntity::from_json(kind, value).expect("an entity")
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Refused,
    Read,
    Edited,
}

fn run(path: &Path, corpus: &[Vec<u8>], seed: u64) -> Outcome {
    let mut random = StdRng::seed_from_u64(seed);
    let bytes = mutated(corpus, &mut random);
    let text = text_of(path, &bytes);
    let _witness = Witness { seed, text: &text };
    let first = document::read(path, &text);
    let second = document::read(path, &text);
    match (first, second) {
        (Ok(first), Ok(second)) => {
            assert_eq!(first.entries, second.entries);
            assert_eq!(
                (&first.problems, &first.broken, &first.hash),
                (&second.problems, &second.broken, &second.hash)
            );
            for (kind, name) in ids(&first) {
                assert!(
                    locate(&text, kind, name.as_str(), Some("summary")).is_some(),
                    "{kind} {name} has a place"
                );
            }
            if one_edit(path, &text, &first, &mut random) { Outcome::Edited } else { Outcome::Read }
        }
        (Err(first), Err(second)) => {
            assert_eq!(first, second);
            assert!(!first.to_string().is_empty());
            let nothing = apply(&text, &[], &Document::empty(path));
            assert!(matches!(nothing, Err(EditError::Stale)), "what does not parse is never written to");
            Outcome::Refused
        }
        _ => panic!("reading the same text twice gives two answers"),
    }
}

#[test]
fn hostile_files_do_no_harm() {
    let directory = tempfile::tempdir().expect("a directory");
    fs::create_dir(directory.path().join("prompts")).expect("a directory");
    fs::write(directory.path().join("prompts/a.md"), "included\n").expect("written");
    let path = directory.path().join("personas.toml");
    let corpus = corpus();
    if let Ok(seed) = env::var("MASQUE_FUZZ_SEED") {
        run(&path, &corpus, seed.parse().expect("MASQUE_FUZZ_SEED is a number"));
        return;
    }
    let seconds = match env::var("MASQUE_FUZZ_SECONDS") {
        Ok(seconds) => seconds.parse().expect("MASQUE_FUZZ_SECONDS is a number"),
        Err(_) if env::var_os("CI").is_some() => 60,
        Err(_) => 2,
    };
    let until = Instant::now() + Duration::from_secs(seconds);
    let first: u64 = rand::random();
    let (mut inputs, mut refused, mut edited) = (0_u64, 0_u64, 0_u64);
    while Instant::now() < until || edited < 10 && inputs < 10_000 {
        let outcome = run(&path, &corpus, first.wrapping_add(inputs));
        inputs += 1;
        refused += u64::from(outcome == Outcome::Refused);
        edited += u64::from(outcome == Outcome::Edited);
    }
    eprintln!("{inputs} inputs from seed {first}: {refused} refused, {edited} edited");
    assert!(edited >= 10, "hardly anything that was tried could be edited");
}
