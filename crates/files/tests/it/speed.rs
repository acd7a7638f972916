//! What reading and editing cost beside a bare parse of the same bytes.

use std::fmt::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use files::document;
use files::edit::{Edit, apply};
use persona::{AnyEntity, Kind};

fn many_personas(count: usize) -> String {
    let mut text = String::from("# A library of personas.\n");
    for index in 0..count {
        let _ = write!(
            text,
            r#"
# Number {index}.
[personas.worker-{index}]
display_name = "Worker {index}"
summary = "Does the work that nobody else wants to do, and says so in report {index}."
preferred_models = [
  {{ provider = "anthropic", model = "large-{index}", temperature = 0.2 }},
  {{ provider = "openai", model = "small", max_output_tokens = 4096 }},
]
system_prompt = """
You do the work of desk {index}. Read what lies on it before you write.
Say what you did, what you did not do, and what you could not find out.
Stop when it is done."""
tool_preset = "read_only"
parts = ["plain-tone", "evidence-soul", {{ name = "desk-{index}", priority = 5 }}]
traits = ["skeptical", "methodical"]
tags = ["work", "desk"]
"#
        );
    }
    text
}

/// Whether `ours` takes at most `bar` times as long as `bare`: the best of either counts, tried in
/// turn, because other tests run at the same time.
fn stays_within(bar: f64, mut bare: impl FnMut(), mut ours: impl FnMut()) {
    let timed = |run: &mut dyn FnMut()| {
        let start = Instant::now();
        run();
        start.elapsed()
    };
    let (mut best_bare, mut best_ours) = (Duration::MAX, Duration::MAX);
    let mut ratio = f64::INFINITY;
    for _ in 0..20 {
        best_bare = best_bare.min(timed(&mut bare));
        best_ours = best_ours.min(timed(&mut ours));
        ratio = best_ours.as_secs_f64() / best_bare.as_secs_f64();
        if ratio <= bar {
            return;
        }
    }
    panic!("{best_ours:?} beside {best_bare:?} is {ratio:.2} times as long, at most {bar} are allowed");
}

#[test]
fn reading_stays_near_a_bare_parse() {
    let text = many_personas(1000);
    let path = Path::new("personas.toml");
    stays_within(
        2.0,
        || drop(text.parse::<toml_edit::DocumentMut>().expect("it is TOML")),
        || {
            let document = document::read(path, &text).expect("it is TOML");
            assert!(document.problems.is_empty() && document.all().count() == 1000);
        },
    );
}

#[test]
fn editing_one_entry_costs_less_than_a_parse() {
    let text = many_personas(1000);
    let current = document::read(Path::new("personas.toml"), &text).expect("it is TOML");
    let mut entity = current.get(Kind::Persona, "worker-500").expect("it is there").entity.clone();
    let AnyEntity::Persona(persona) = &mut entity else { panic!("it is a persona") };
    persona.summary = Some("Another.".into());
    stays_within(
        0.5,
        || drop(text.parse::<toml_edit::DocumentMut>().expect("it is TOML")),
        || {
            let edited = apply(&text, &[Edit::Put { entity: &entity }], &current).expect("it can be put");
            assert!(edited.document.is_some() && edited.text.len() < text.len());
        },
    );
}
