//! Secrets that were pasted into a text, found by their shape.
//!
//! A placeholder is not a secret: `${env.KEY}`, `sk-...`, `YOUR_KEY`, a row of equal characters.
//! No message repeats what was found.

use super::texts::Hit;
use crate::env::Place;

mod shapes;
use shapes::{Alphabet, LONGEST, SHAPES, Shape};

/// Characters of a secret that a message shows.
const SHOWN_CHARS: usize = 4;
/// The least bytes of a value after `password =` and its like.
const VALUE_LEAST: usize = 8;
/// The least bytes of a credential after `Authorization:`.
const CREDENTIAL_LEAST: usize = 16;
/// The length from which a run of letters and digits is not a word.
const RUN_CHARS: usize = 16;
/// The length after a prefix from which a text is a key, despite hyphens.
const CERTAIN: usize = 80;
/// The most bytes of a key's name, or of a private key's title.
const NAME_BYTES: usize = 64;
/// The most bytes of a private key, or of a run of a JSON web token.
const BODY_BYTES: usize = 8 * 1024;
/// The most bytes after `password =` and its like.
const VALUE_BYTES: usize = 256;

#[derive(Debug)]
pub(super) struct Secret<'a> {
    at: usize,
    what: &'static str,
    text: &'a str,
}

impl Hit for Secret<'_> {
    fn at(&self) -> usize {
        self.at
    }

    fn describe(&self, place: Place) -> (String, Option<String>) {
        let length = self.text.chars().count();
        // Four characters would be half of a short one.
        let shown: String = match length {
            0..16 => String::new(),
            _ => self.text.chars().take(SHOWN_CHARS).filter(char::is_ascii_graphic).collect(),
        };
        let message = format!("what looks like {} at {place} ({shown}…, {length} characters)", self.what);
        let hint = "take it out and revoke it, since it has been written down; a personas.toml may name a variable instead, as ${env.NAME}";
        (message, Some(hint.to_owned()))
    }
}

/// The secrets of a text, in order. A secret inside another one is dropped.
pub(super) fn find(text: &str) -> Vec<Secret<'_>> {
    let mut found = Vec::new();
    keys(text, &mut found);
    private_keys(text, &mut found);
    in_urls(text, &mut found);
    values(text, &mut found);
    found.sort_by_key(|secret| (secret.at, std::cmp::Reverse(secret.text.len())));
    let mut covered = 0;
    found.retain(|secret| {
        let inside = secret.at < covered;
        covered = covered.max(secret.at + secret.text.len());
        !inside
    });
    found
}

/// Keys with known prefixes.
fn keys<'a>(text: &'a str, found: &mut Vec<Secret<'a>>) {
    const STARTS: [bool; 256] = shapes::first_bytes();
    let bytes = text.as_bytes();
    let starts_word = |at: usize| at == 0 || !Alphabet::UrlSafe.has(bytes[at - 1]);
    // Only where an ASCII character begins, so that every slice is at a boundary.
    for at in (0..bytes.len()).filter(|at| STARTS[usize::from(bytes[*at])] && starts_word(*at)) {
        let rest = &text[at..];
        let key = SHAPES.iter().find_map(|shape| Some((shape.what, key_length(shape, rest)?)));
        let token = || Some(("a JSON web token", json_web_token_length(rest)?));
        found.extend(key.or_else(token).map(|(what, length)| Secret { at, what, text: &rest[..length] }));
    }
}

/// The length of a key of a shape at the start of a text.
fn key_length(shape: &Shape, text: &str) -> Option<usize> {
    let rest = text.strip_prefix(shape.prefix)?;
    let length = rest.bytes().take(LONGEST + 1).take_while(|byte| shape.alphabet.has(*byte)).count();
    let body = rest[..length].trim_end_matches(['.', '-']);
    let fits = (shape.least..=shape.most).contains(&body.len());
    let is_drawn = match shape.alphabet {
        // One in thirty keys of AWS has no digit, and nothing else looks like them.
        Alphabet::Capitals => true,
        Alphabet::Letters => is_mixed(body) || is_of_both_cases(body),
        Alphabet::UrlSafeWithRun => is_mixed(body) && (has_run(body) || body.len() >= CERTAIN),
        _ => is_mixed(body),
    };
    (fits && is_drawn && !is_placeholder(body)).then_some(shape.prefix.len() + body.len())
}

/// True if at least a quarter of the letters are capitals and a quarter are not. Words have fewer.
fn is_of_both_cases(text: &str) -> bool {
    let capitals = text.bytes().filter(u8::is_ascii_uppercase).count();
    let small = text.bytes().filter(u8::is_ascii_lowercase).count();
    4 * capitals.min(small) >= text.len()
}

/// True if a text has digits and letters, as most keys and few words do.
fn is_mixed(text: &str) -> bool {
    let has = |test: fn(&u8) -> bool| text.as_bytes().iter().any(test);
    has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic)
}

fn has_run(text: &str) -> bool {
    text.split(|c: char| !c.is_ascii_alphanumeric()).any(|run| run.len() >= RUN_CHARS && is_mixed(run))
}

/// Three runs of base64 with dots between them, of which the first two are objects.
fn json_web_token_length(text: &str) -> Option<usize> {
    const LEAST: usize = 10;
    let run = |text: &str| {
        let length = text.bytes().take(BODY_BYTES).take_while(|byte| Alphabet::UrlSafe.has(*byte)).count();
        (length >= LEAST).then_some(length)
    };
    let object = |text: &str| if text.starts_with("eyJ") { run(text) } else { None };
    let header = object(text)?;
    let rest = text[header..].strip_prefix('.')?;
    let payload = object(rest)?;
    let signature = run(rest[payload..].strip_prefix('.')?)?;
    let length = header + payload + signature + 2;
    (!is_placeholder(&text[..length])).then_some(length)
}

/// The block of a private key, if there is a key in it.
fn private_keys<'a>(text: &'a str, found: &mut Vec<Secret<'a>>) {
    const LEAST: usize = 32;
    let up_to = |from: usize, most: usize| &text[from..text.floor_char_boundary(from.saturating_add(most))];
    for (at, begin) in text.match_indices("-----BEGIN ") {
        let title_at = at + begin.len();
        let Some((title, _)) = up_to(title_at, NAME_BYTES).split_once("-----") else { continue };
        if !title.ends_with("PRIVATE KEY") && !title.ends_with("PRIVATE KEY BLOCK") {
            continue;
        }
        let body_at = title_at + title.len() + 5;
        let body = up_to(body_at, BODY_BYTES).split("-----").next().unwrap_or_default();
        let is_base64 = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
        if body.as_bytes().split(|byte| !is_base64(byte)).any(|run| run.len() >= LEAST) {
            found.push(Secret {
                at,
                what: "a private key",
                text: &text[at..body_at + body.trim_end().len()],
            });
        }
    }
}

/// Passwords in addresses: `scheme://user:password@host`.
fn in_urls<'a>(text: &'a str, found: &mut Vec<Secret<'a>>) {
    let ends = |c: char| c.is_whitespace() || matches!(c, '/' | '?' | '#' | '"' | '\'' | '`' | '<' | '>');
    for (at, slashes) in text.match_indices("://") {
        let from = at + slashes.len();
        let rest = &text[from..];
        let authority = &rest[..rest.find(ends).unwrap_or(rest.len())];
        let Some((user, _)) = authority.rsplit_once('@') else { continue };
        let Some((name, password)) = user.split_once(':') else { continue };
        let has_scheme = text[..at].ends_with(|c: char| c.is_ascii_alphanumeric());
        if has_scheme && !is_placeholder(password) && !is_example(password) {
            let at = from + name.len() + 1;
            found.push(Secret { at, what: "a password in an address", text: password });
        }
    }
}

/// True if a password is empty, or an example as in `user:password@host`.
fn is_example(password: &str) -> bool {
    const WORDS: [&str; 8] = ["password", "passwd", "pass", "pwd", "pw", "secret", "token", "key"];
    let word = password.trim_matches(|c: char| !c.is_ascii_alphanumeric()).to_ascii_lowercase();
    word.is_empty() || WORDS.contains(&word.as_str())
}

/// Values after telling words: `password = …`, `api_key: "…"`, `Authorization: …`.
fn values<'a>(text: &'a str, found: &mut Vec<Secret<'a>>) {
    const WORDS: [&str; 12] = [
        "password",
        "passwd",
        "pwd",
        "passphrase",
        "secret",
        "token",
        "apikey",
        "accesskey",
        "accountkey",
        "secretkey",
        "privatekey",
        "authkey",
    ];
    for (at, sign) in text.match_indices(['=', ':']) {
        let key = key_before(text, at);
        let is_header = key.ends_with("authorization");
        if !is_header && !WORDS.iter().any(|word| key.ends_with(word)) {
            continue;
        }
        let (first, second) = words_after(text, at + sign.len());
        let is_scheme =
            |word: &str| ["bearer", "basic", "token"].iter().any(|it| word.eq_ignore_ascii_case(it));
        let (value_at, value) = if is_header && is_scheme(first.1) { second } else { first };
        let (what, least) = match is_header {
            true => ("a credential", CREDENTIAL_LEAST),
            false => ("a password or token", VALUE_LEAST),
        };
        if value.len() >= least && is_chosen_at_random(value) && !is_placeholder(value) {
            found.push(Secret { at: value_at, what, text: value });
        }
    }
}

/// The name of the key before a sign, reduced to small letters and digits.
fn key_before(text: &str, at: usize) -> String {
    let before = &text[text.floor_char_boundary(at.saturating_sub(NAME_BYTES))..at];
    let key = before.trim_end_matches(['"', '\'', '`', ' ', '\t', ':', ']']);
    let is_key = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let mut letters: Vec<char> = key.chars().rev().take_while(is_key).collect();
    letters.reverse();
    letters.retain(char::is_ascii_alphanumeric);
    letters.into_iter().map(|c| c.to_ascii_lowercase()).collect()
}

/// The first two words after a sign with their first bytes, without quotes and punctuation.
fn words_after(text: &str, from: usize) -> ((usize, &str), (usize, &str)) {
    let rest = &text[from..text.floor_char_boundary(from.saturating_add(VALUE_BYTES))];
    let rest = rest.trim_start_matches(['=', '>', ' ', '\t', '"', '\'', '`']);
    let rest = rest.split(['\n', '\r']).next().unwrap_or_default();
    let mut words = rest.split([' ', '\t', '"', '\'', '`']).map(|word| {
        let word = word.trim_end_matches([',', ';', '.', ')', '}', ']']);
        (word.as_ptr() as usize - text.as_ptr() as usize, word)
    });
    let mut next = || words.next().unwrap_or((from, ""));
    (next(), next())
}

/// True if a value looks random: it has three kinds of characters, or a long run of letters and digits.
/// Names such as `o200k_base` or `gpt-4o-mini` do not, and code that reads the value from elsewhere is
/// skipped.
fn is_chosen_at_random(value: &str) -> bool {
    let is_code = |value: &str| value.contains(['(', '[', '{', '<', '$', '%']) || value.contains("://");
    if !is_mixed(value) || is_code(value) {
        return false;
    }
    let kinds: [fn(char) -> bool; 4] = [
        |c| c.is_ascii_lowercase(),
        |c| c.is_ascii_uppercase(),
        |c| c.is_ascii_digit(),
        |c| c.is_ascii_punctuation() && !matches!(c, '-' | '_' | '.' | ':' | '/' | ',' | '\\' | '='),
    ];
    let used = kinds.iter().filter(|kind| value.chars().any(**kind)).count();
    used >= 3 || has_run(value)
}

/// True if a text is a placeholder for a secret.
fn is_placeholder(text: &str) -> bool {
    const WORDS: [&str; 17] = [
        "${",
        "{{",
        "<",
        "...",
        "…",
        "***",
        "xxxx",
        "your",
        "example",
        "placeholder",
        "changeme",
        "redacted",
        "dummy",
        "sample",
        "fake",
        "insert",
        "replace",
    ];
    let folded = text.to_ascii_lowercase();
    WORDS.iter().any(|word| folded.contains(word)) || is_filled_in(folded.as_bytes())
}

/// True if at least half of a text is equal or ascending characters, in runs that no random text has.
fn is_filled_in(text: &[u8]) -> bool {
    const IN_A_ROW: usize = 6;
    let follows = |row: fn(u8) -> Option<u8>| {
        let rows = text.chunk_by(move |one, next| row(*one) == Some(*next));
        rows.map(<[u8]>::len).filter(|length| *length >= IN_A_ROW).sum::<usize>()
    };
    2 * (follows(Some) + follows(|byte| byte.checked_add(1))) >= text.len()
}
