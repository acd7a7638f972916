//! Any sequence of edits leaves every byte of the other entries alone, whatever the file looks like,
//! and reads back as intended.

use std::collections::BTreeMap;

use files::edit::{Edit, EditError, apply};
use persona::{AnyEntity, Kind, Name};
use proptest::prelude::*;

use super::editing::{name, read};
use file::{Chunk, File, Owner, file};
use operation::{Operation, operation};

mod file;
mod operation;

/// The expected entries of the file, after each edit.
type Model = BTreeMap<(Kind, Name), AnyEntity>;

fn model(text: &str) -> Model {
    let document = read(text);
    assert!(document.broken.is_empty(), "{:?}\n{text}", document.problems);
    document
        .all()
        .map(|entry| ((entry.entity.kind(), entry.entity.name().clone()), entry.entity.clone()))
        .collect()
}

/// The text has the chunks of entries that no edit touched, byte for byte and in order.
fn untouched_stand(
    text: &str,
    chunks: &[Chunk],
    touched: &[String],
    gaps_stay: bool,
) -> Result<(), TestCaseError> {
    let mut at = 0;
    for chunk in chunks {
        let stays = match &chunk.owner {
            Owner::Nobody => true,
            Owner::Entry(name) => !touched.contains(name),
            Owner::Gap => gaps_stay,
        };
        if !stays {
            continue;
        }
        match text[at..].find(&chunk.text) {
            Some(found) => at += found + chunk.text.len(),
            None => prop_assert!(false, "this is gone or has moved:\n{:?}\nin\n{text}", chunk.text),
        }
    }
    Ok(())
}

fn run(file: &File, operations: &[Operation]) -> Result<(), TestCaseError> {
    let chunks = file.chunks();
    let mut text: String = file.text();
    let mut model = model(&text);
    let mut touched: Vec<String> = Vec::new();
    let mut gaps_stay = true;
    for operation in operations {
        let current = read(&text);
        let keys: Vec<(Kind, Name)> = model.keys().cloned().collect();
        let pick =
            |index: &prop::sample::Index| (!keys.is_empty()).then(|| keys[index.index(keys.len())].clone());
        let edited = match operation {
            Operation::Put { target, seed } => {
                let Some(key) = pick(target) else { continue };
                let entity = operation::changed(&model[&key], *seed);
                let edited = apply(&text, &[Edit::Put { entity: &entity }], &current);
                if model[&key] == entity {
                    prop_assert_eq!(&edited.as_ref().map(|edited| edited.text.clone()), &Ok(text.clone()));
                }
                touched.push(key.1.to_string());
                model.insert(key, entity);
                edited
            }
            Operation::Add { kind, number, seed } => {
                let new = name(&format!("added-{number}"));
                let key = (Kind::ALL[*kind % Kind::ALL.len()], new.clone());
                let entity = operation::changed(&operation::blank(key.0, &new), *seed);
                touched.push(new.to_string());
                model.insert(key, entity.clone());
                apply(&text, &[Edit::Put { entity: &entity }], &current)
            }
            Operation::Remove { target } => {
                let Some(key) = pick(target) else { continue };
                model.remove(&key);
                touched.push(key.1.to_string());
                apply(&text, &[Edit::Remove { kind: key.0, name: &key.1 }], &current)
            }
            Operation::Rename { target, number } => {
                let Some(key) = pick(target) else { continue };
                let new = name(&format!("renamed-{number}"));
                let edits = [Edit::Rename { kind: key.0, old: &key.1, new: &new }];
                touched.extend([key.1.to_string(), new.to_string()]);
                if key.1 == new {
                    prop_assert_eq!(
                        apply(&text, &edits, &current).map(|edited| edited.text),
                        Ok(text.clone())
                    );
                    continue;
                }
                if model.contains_key(&(key.0, new.clone())) {
                    let clash = apply(&text, &edits, &current).err();
                    prop_assert_eq!(clash, Some(EditError::Exists { kind: key.0, name: new }));
                    continue;
                }
                let mut entity = model.remove(&key).expect("it was picked");
                entity.set_name(new.clone());
                model.insert((key.0, new.clone()), entity);
                apply(&text, &edits, &current)
            }
        };
        let edited = match edited {
            Ok(edited) => edited,
            Err(error) => return Err(TestCaseError::fail(format!("{operation:?}: {error}\n{text}"))),
        };
        prop_assert_eq!(&self::model(&edited.text), &model, "{:?}\n{}\n->\n{}", operation, text, edited.text);
        gaps_stay &= matches!(operation, Operation::Add { .. } | Operation::Rename { .. });
        untouched_stand(&edited.text, &chunks, &touched, gaps_stay)?;
        file.style_stays(&edited.text)?;
        text = edited.text;
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn edits_touch_nothing_else(file in file(), operations in prop::collection::vec(operation(), 1..8)) {
        run(&file, &operations)?;
    }

    /// Many edits at once come to the same entities as one after the other.
    #[test]
    fn edits_at_once_are_edits_in_turn(file in file(), operations in prop::collection::vec(operation(), 1..8)) {
        let text = file.text();
        let current = read(&text);
        let mut entities: Vec<AnyEntity> = Vec::new();
        let mut model = model(&text);
        for operation in &operations {
            let keys: Vec<(Kind, Name)> = model.keys().cloned().collect();
            if let (Operation::Put { target, seed }, false) = (operation, keys.is_empty()) {
                let key = keys[target.index(keys.len())].clone();
                let entity = operation::changed(&model[&key], *seed);
                model.insert(key, entity.clone());
                entities.push(entity);
            }
        }
        let edits: Vec<Edit<'_>> = entities.iter().map(|entity| Edit::Put { entity }).collect();
        let edited = apply(&text, &edits, &current).map_err(|error| TestCaseError::fail(format!("{error}\n{text}")))?;
        prop_assert_eq!(&self::model(&edited.text), &model);
        let touched: Vec<String> = entities.iter().map(|entity| entity.name().to_string()).collect();
        untouched_stand(&edited.text, &file.chunks(), &touched, false)?;
    }
}
