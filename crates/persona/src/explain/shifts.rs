//! What a flat persona means otherwise than the layers that it is made of.
//!
//! A layer's names are looked up from that layer's own scope downwards, and its placeholders count
//! only if it stands in a file. Written out, all of it stands where the persona itself does.

use std::fmt;

use super::fields::{kind_of, speakers};
use super::{Explanation, Holders, Rung, explain, rungs};
use crate::env::placeholders;
use crate::field::View;
use crate::{Bundle, Entity as _, Kind, Name, Scope};

/// Something that would not be the same, if a flat persona stood in place of the one that it is of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shift {
    /// A name that a weaker layer looked up, and by which the persona's own scope means another piece.
    Piece {
        kind: Kind,
        name: Name,
        /// Where the piece is that the layer means, if there is one.
        was: Option<Scope>,
        /// The persona's own scope, and where the piece is that the name means there.
        own: Scope,
        now: Scope,
    },
    /// A placeholder of a text that did not stand in a file, where none is filled in.
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
        // One preset may be named twice: for planning too.
        if !shifts.contains(&shift) {
            shifts.push(shift);
        }
    }
    if own.is_file() {
        shifts.extend(woken(&rungs(bundle)));
    }
    shifts
}

/// What a flat persona names, and where its layers have each.
fn meant(bundle: &Bundle, holders: &Holders) -> Vec<(Kind, Name, Option<Scope>)> {
    // A stage is not written into it.
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

/// The placeholders that come out of the database or a builtin into a file.
fn woken(rungs: &[Rung<'_>]) -> Vec<Shift> {
    let prompts = speakers(rungs).heard.into_iter();
    let prompts = prompts.map(|(rung, text)| ("system_prompt".to_owned(), rung, text));
    let mut texts: Vec<(String, &Rung<'_>, &str)> = Vec::new();
    for rung in rungs.iter().rev() {
        rung.persona.walk_values(&mut |path, field, value| {
            let is_known = path == "system_prompt" || texts.iter().any(|(known, ..)| known == path);
            if let (View::Text(text), true, false) = (value, field.is_filled, is_known) {
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
