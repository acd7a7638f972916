//! Names and placeholders whose meaning changes in a flat persona.
//!
//! The names of a layer resolve from its own scope downwards, and its placeholders count only in a file.
//! In a flat persona, all of them belong to the persona's own scope.

use std::fmt;

use super::fields::{kind_of, speakers};
use super::{Explanation, Holders, Rung, explain, rungs};
use crate::env::placeholders;
use crate::field::ValueView;
use crate::{Bundle, Entity as _, Kind, Name, Scope};

/// A difference between a flat persona and the original.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shift {
    /// A name of a weaker layer that means another piece in the persona's own scope.
    Piece {
        kind: Kind,
        name: Name,
        /// The scope of the piece that the layer means, if it exists.
        was: Option<Scope>,
        /// The persona's own scope, and the scope of the piece that the name means there.
        own: Scope,
        now: Scope,
    },
    /// A placeholder from a text outside of files, where it is not filled in.
    Placeholder { name: String, field: String, from: Scope },
}

pub(super) fn of(bundle: &Bundle, holders: &Holders) -> Vec<Shift> {
    let own = bundle.meta.scope;
    let mut shifts: Vec<Shift> = Vec::new();
    for (kind, name, was) in meant(bundle, holders) {
        let Some(now) = holders.meant(kind, name.as_str(), own).filter(|now| was != Some(*now)) else {
            continue;
        };
        let shift = Shift::Piece { kind, name, was, own, now };
        // A preset may occur twice: also for planning.
        if !shifts.contains(&shift) {
            shifts.push(shift);
        }
    }
    if own.is_file() {
        shifts.extend(woken(&rungs(bundle)));
    }
    shifts
}

/// The references of a flat persona, with the scopes that its layers mean.
fn meant(bundle: &Bundle, holders: &Holders) -> Vec<(Kind, Name, Option<Scope>)> {
    // A flat persona has no stage.
    let bundle = Bundle { stage: None, ..bundle.clone() };
    let Explanation { fields, items, parts, .. } = explain(&bundle, holders);
    let fields = fields.into_iter().filter_map(|field| {
        let name = Name::parse(field.value.as_str()?).ok()?;
        Some((kind_of(&field.field)?, name, field.piece_scope))
    });
    let items = items.into_iter().filter_map(|item| {
        let name = Name::parse(&item.name).ok()?;
        Some((Kind::of_table(&item.list)?, name, item.piece_scope))
    });
    let parts = parts.into_iter().map(|part| (Kind::Part, part.name, part.piece_scope));
    parts.chain(items).chain(fields).collect()
}

/// The placeholders that a file would take over from the database or a builtin.
fn woken(rungs: &[Rung<'_>]) -> Vec<Shift> {
    let prompts = speakers(rungs).heard.into_iter();
    let prompts = prompts.map(|(rung, text)| ("system_prompt".to_owned(), rung, text));
    let mut texts: Vec<(String, &Rung<'_>, &str)> = Vec::new();
    for rung in rungs.iter().rev() {
        rung.persona.walk_values(&mut |path, field, value| {
            let is_known = path == "system_prompt" || texts.iter().any(|(known, ..)| known == path);
            if let (ValueView::Text(text), true, false) = (value, field.is_filled, is_known) {
                texts.push((path.to_owned(), rung, *text));
            }
        });
    }
    let mut woken: Vec<Shift> = Vec::new();
    for (field, rung, text) in prompts.chain(texts).filter(|(_, rung, _)| !rung.found.scope.is_file()) {
        for placeholder in placeholders(text) {
            let (name, from) = (placeholder.name.to_owned(), rung.found.scope);
            let shift = Shift::Placeholder { name, field: field.clone(), from };
            if !woken.contains(&shift) {
                woken.push(shift);
            }
        }
    }
    woken
}

impl fmt::Display for Shift {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Piece { kind, name, was, own, now } => {
                write!(f, "{} {name} ", kind.spoken())?;
                match was {
                    Some(Scope::Builtin) => f.write_str("is a builtin here")?,
                    Some(was) => write!(f, "is {was}'s here")?,
                    None => f.write_str("leads nowhere here")?,
                }
                write!(f, "; in {own} the name means {now}'s")
            }
            Self::Placeholder { name, field, from } => {
                let from = if *from == Scope::Builtin { "a builtin" } else { from.as_str() };
                write!(
                    f,
                    "${{env.{name}}} in {field} came from {from}, where it means nothing; in a file it counts"
                )
            }
        }
    }
}
