//! The seats that a speech names.
//!
//! `@name` addresses a seat; a plain name only mentions it. Names are matched as words: "Will" is not in
//! "willing". Scripts without spaces between words have no such edges, so names of two or more of their
//! characters match anywhere.

use crate::{SeatId, Seats};

/// A seat that a text names, at its first occurrence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mention {
    pub seat: SeatId,
    /// True for `@name`.
    pub addressed: bool,
}

/// The mentions of a text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Mentions {
    /// Each seat once, in the order of the text. A seat that is addressed anywhere counts as addressed.
    pub seats: Vec<Mention>,
    /// True if the text has `@all` or `@everyone`.
    pub everyone: bool,
}

impl Mentions {
    pub fn addressed(&self) -> impl Iterator<Item = SeatId> {
        self.seats.iter().filter(|mention| mention.addressed).map(|mention| mention.seat)
    }

    pub fn includes(&self, seat: SeatId) -> bool {
        self.seats.iter().any(|mention| mention.seat == seat)
    }
}

/// Names that are also common English words. As plain names they need their capital letter.
const WORDS: [&str; 24] = [
    "will", "mark", "rose", "grace", "hope", "may", "art", "bill", "frank", "june", "april", "dawn", "joy",
    "jack", "pat", "rob", "sue", "faith", "summer", "chase", "drew", "gene", "critic", "optimist",
];

/// Finds the seats that a text names.
pub fn mentions(text: &str, seats: &Seats) -> Mentions {
    let forms = forms(seats);
    let mut found = Mentions::default();
    let mut at = 0;
    while let Some(char) = text[at..].chars().next() {
        let is_edge = is_edge_before(text, at);
        if char == '@' && is_edge {
            let rest = at + 1;
            if ["all", "everyone"].iter().any(|word| match_end(text, rest, word, false).is_some()) {
                found.everyone = true;
            } else if let Some((seat, end)) = longest(text, rest, &forms, true) {
                add(&mut found, seat, true);
                at = end;
                continue;
            }
        } else if let Some((seat, end)) =
            longest(text, at, &forms, false).filter(|_| !text[..at].ends_with('@'))
        {
            add(&mut found, seat, false);
            at = end;
            continue;
        }
        at += char.len_utf8();
    }
    found
}

fn add(found: &mut Mentions, seat: SeatId, addressed: bool) {
    match found.seats.iter_mut().find(|mention| mention.seat == seat) {
        Some(mention) => mention.addressed |= addressed,
        None => found.seats.push(Mention { seat, addressed }),
    }
}

/// The names of present seats, and each word of them that names only one seat.
fn forms(seats: &Seats) -> Vec<(String, SeatId)> {
    let mut forms: Vec<(String, SeatId)> = seats.present().map(|seat| (seat.name.clone(), seat.id)).collect();
    let words: Vec<(String, SeatId)> = forms
        .iter()
        .filter(|(name, _)| name.contains(' '))
        .flat_map(|(name, seat)| name.split(' ').map(|word| (word.to_owned(), *seat)))
        .filter(|(word, _)| word.chars().count() > 1 && word.chars().any(char::is_alphabetic))
        .collect();
    let is_own = |word: &str, seat: SeatId, (other, owner): &(String, SeatId)| {
        *owner == seat || other.to_lowercase() != word.to_lowercase()
    };
    for (word, seat) in &words {
        let is_short =
            ["the", "von", "van", "de", "of", "dr", "mr", "mrs"].contains(&word.to_lowercase().as_str());
        let is_unique = words.iter().chain(&forms).all(|other| is_own(word, *seat, other));
        if is_unique && !is_short {
            forms.push((word.clone(), *seat));
        }
    }
    forms
}

/// The longest name at this place.
fn longest(text: &str, at: usize, forms: &[(String, SeatId)], addressed: bool) -> Option<(SeatId, usize)> {
    let ends = forms.iter().filter_map(|(name, seat)| {
        let is_word = WORDS.contains(&name.to_lowercase().as_str());
        let end = match_end(text, at, name, is_word && !addressed)?;
        let is_whole = addressed || is_edge_before(text, at) || is_unspaced_name(name);
        is_whole.then_some((*seat, end))
    });
    // Of equal ends the first one: full names come before words of names.
    ends.reduce(|best, next| if next.1 > best.1 { next } else { best })
}

/// The end of the name if the text has it here, up to the edge of a word.
fn match_end(text: &str, at: usize, name: &str, with_case: bool) -> Option<usize> {
    let mut rest = text[at..].char_indices();
    let mut end = at;
    for wanted in name.chars() {
        let (offset, found) = rest.next()?;
        let is_same = found == wanted || (!with_case && found.to_lowercase().eq(wanted.to_lowercase()));
        let is_gap = wanted == ' ' && found.is_whitespace();
        if !is_same && !is_gap {
            return None;
        }
        end = at + offset + found.len_utf8();
    }
    let last = name.chars().next_back()?;
    let mut after = text[end..].chars();
    let continues = match after.next() {
        Some('-' | '_') => after.next().is_some_and(char::is_alphanumeric),
        Some(next) => {
            next.is_alphanumeric() && is_unspaced(last) == is_unspaced(next) && !is_unspaced_name(name)
        }
        None => false,
    };
    (!continues).then_some(end)
}

/// True if no word goes on across this place.
fn is_edge_before(text: &str, at: usize) -> bool {
    let mut before = text[..at].chars().rev();
    match before.next() {
        Some('-') => !before.next().is_some_and(char::is_alphanumeric),
        Some(char) => {
            let next = text[at..].chars().next();
            let differ = is_unspaced(char) && next.is_some_and(|next| !is_unspaced(next));
            differ || !(char.is_alphanumeric() || char == '_')
        }
        None => true,
    }
}

/// True for scripts that write words without spaces.
fn is_unspaced(char: char) -> bool {
    matches!(u32::from(char), 0xe00..=0xeff | 0x1000..=0x109f | 0x1780..=0x17ff | 0x3040..=0x30ff | 0x3400..=0x9fff
        | 0xf900..=0xfaff | 0x20000..=0x3ffff)
}

fn is_unspaced_name(name: &str) -> bool {
    name.chars().count() > 1 && name.chars().all(is_unspaced)
}

#[cfg(test)]
mod tests;
