//! Values that were filled in, to conceal them in other texts.

use std::collections::BTreeMap;
use std::fmt;

/// Shorter values are not concealed: they reveal nothing and occur everywhere.
const LEAST_CHARS: usize = 4;
/// Shorter values match whole words only: `core` does not match in `score`.
const WORD_CHARS: usize = 8;

/// The values of the placeholders that were filled in, by their names.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Values(BTreeMap<String, String>);

impl fmt::Debug for Values {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

/// A form in which a value may be quoted.
struct Quoted<'a> {
    name: &'a str,
    form: String,
    is_word: bool,
}

impl Values {
    pub(crate) fn add(&mut self, name: &str, value: &str) {
        if !self.0.contains_key(name) {
            self.0.insert(name.to_owned(), value.to_owned());
        }
    }

    pub(crate) fn extend(&mut self, others: Self) {
        self.0.extend(others.0);
    }

    /// The text with values replaced by their placeholders: whole, line by line, escaped as JSON, or cut off
    /// at the end of the text.
    pub fn conceal(&self, text: &str) -> String {
        let forms = self.forms();
        let mut concealed = String::with_capacity(text.len());
        let mut at = 0;
        while at < text.len() {
            let rest = &text[at..];
            let before = text[..at].chars().next_back();
            if let Some((quoted, length)) =
                forms.iter().find_map(|quoted| Some((quoted, quoted.length(before, rest)?)))
            {
                concealed.push_str(&format!("${{env.{}}}", quoted.name));
                at += length;
            } else {
                let next = rest.chars().next().map_or(1, char::len_utf8);
                concealed.push_str(&rest[..next]);
                at += next;
            }
        }
        concealed
    }

    /// Every form of every value, the longest first.
    fn forms(&self) -> Vec<Quoted<'_>> {
        let mut forms = Vec::new();
        for (name, value) in &self.0 {
            for text in std::iter::once(value.trim()).chain(value.lines().map(str::trim)) {
                let json = serde_json::Value::from(text).to_string();
                // Without its quotes.
                let json = json[1..json.len() - 1].to_owned();
                for form in [text.to_owned(), json] {
                    let chars = form.chars().count();
                    if chars >= LEAST_CHARS {
                        forms.push(Quoted { name, form, is_word: chars < WORD_CHARS });
                    }
                }
            }
        }
        forms.sort_by_key(|quoted| std::cmp::Reverse(quoted.form.len()));
        forms
    }
}

impl Quoted<'_> {
    /// The length of this form at the start of a text, or of its beginning if the text ends in it.
    fn length(&self, before: Option<char>, rest: &str) -> Option<usize> {
        let in_word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
        if let Some(after) = rest.strip_prefix(self.form.as_str()) {
            let inside = in_word(before) || in_word(after.chars().next());
            return (!self.is_word || !inside).then_some(self.form.len());
        }
        let left = rest.trim_end_matches(['…', '.', '"']);
        let may_be_cut = left.len() < self.form.len() && left.chars().count() >= WORD_CHARS;
        (may_be_cut && self.form.starts_with(left)).then_some(left.len())
    }
}

#[cfg(test)]
mod tests {
    use super::Values;

    fn values(pairs: &[(&str, &str)]) -> Values {
        let mut values = Values::default();
        pairs.iter().for_each(|(name, value)| values.add(name, value));
        values
    }

    #[test]
    fn quoted_values_become_placeholders_again() {
        let known = values(&[
            ("KEY", "hunter2-and-then-some"),
            ("TEAM", "core"),
            ("PEM", "first line of it\nsecond \"line\"\n"),
            ("NO", "a"),
            ("EMPTY", ""),
        ]);
        for (said, expected) in [
            ("HTTP 400: 'hunter2-and-then-some' is bad", "HTTP 400: '${env.KEY}' is bad"),
            ("xhunter2-and-then-somex", "x${env.KEY}x"),
            ("the core, a score", "the ${env.TEAM}, a score"),
            ("see first line of it\nsecond \"line\"", "see ${env.PEM}"),
            (r#"{"system":"first line of it\nsecond \"line\""}"#, r#"{"system":"${env.PEM}"}"#),
            ("line 2: second \"line\"", "line 2: ${env.PEM}"),
            ("messages: hunter2-and…", "messages: ${env.KEY}…"),
            ("messages: hunter2", "messages: hunter2"),
            ("nothing of it", "nothing of it"),
            ("", ""),
        ] {
            assert_eq!(known.conceal(said), expected);
        }
        assert_eq!(Values::default().conceal("as it is"), "as it is");
    }

    #[test]
    fn the_longest_value_counts() {
        let known = values(&[("HOST", "db.internal"), ("URL", "https://db.internal/app")]);
        assert_eq!(
            known.conceal("GET https://db.internal/app at db.internal"),
            "GET ${env.URL} at ${env.HOST}"
        );
    }

    #[test]
    fn a_value_is_not_shown_by_accident() {
        assert_eq!(format!("{:?}", values(&[("KEY", "hunter2-and-then-some")])), r#"{"KEY"}"#);
    }
}
