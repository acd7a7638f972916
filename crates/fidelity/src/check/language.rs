//! The language of a text: its script, and for Latin and Cyrillic letters its most common words.

use persona::Language;

use super::{Finding, Verdict};
use crate::text::{lines, words};

/// Common words that tell languages apart. No word is in two lists unless all of them need it.
const COMMON: &[(Language, &[&str])] = &[
    (
        Language::English,
        &["the", "and", "of", "to", "is", "that", "you", "it", "with", "this", "are", "what", "have", "your"],
    ),
    (
        Language::German,
        &["der", "die", "das", "und", "ist", "nicht", "ein", "eine", "ich", "sie", "mit", "wir", "auf", "zu"],
    ),
    (
        Language::French,
        &["le", "les", "des", "et", "est", "une", "vous", "je", "pour", "dans", "pas", "qui", "nous", "ce"],
    ),
    (
        Language::Spanish,
        &["el", "los", "las", "y", "es", "una", "por", "con", "para", "usted", "como", "pero", "está", "qué"],
    ),
    (
        Language::Italian,
        &[
            "il", "gli", "di", "è", "che", "non", "per", "sono", "della", "questo", "ma", "più", "anche",
            "cosa",
        ],
    ),
    (
        Language::Portuguese,
        &["o", "os", "não", "uma", "você", "com", "mais", "isso", "são", "ao", "também", "do", "da", "em"],
    ),
    (
        Language::Dutch,
        &["het", "een", "en", "van", "ik", "niet", "dat", "voor", "je", "zijn", "maar", "ook", "wat", "wij"],
    ),
    (
        Language::Swedish,
        &["och", "att", "det", "är", "inte", "jag", "som", "på", "för", "du", "har", "ett", "vi", "vad"],
    ),
    (
        Language::Danish,
        &["og", "at", "er", "ikke", "jeg", "det", "som", "på", "af", "du", "har", "et", "vi", "hvad"],
    ),
    (
        Language::Polish,
        &["nie", "jest", "się", "na", "że", "jak", "czy", "to", "ale", "co", "dla", "przez", "oraz", "są"],
    ),
    (
        Language::Turkish,
        &[
            "bir", "ve", "bu", "için", "değil", "ne", "çok", "daha", "ben", "sen", "mi", "ile", "var",
            "olarak",
        ],
    ),
    (
        Language::Russian,
        &["и", "не", "что", "это", "на", "вы", "как", "для", "мы", "или", "есть", "если", "был", "вас"],
    ),
    (
        Language::Ukrainian,
        &["і", "не", "що", "це", "на", "ви", "як", "для", "ми", "або", "є", "якщо", "та", "вас"],
    ),
];

pub(super) fn check(reply: &str, wanted: Language) -> Finding {
    match detect(&lines(reply).prose.join("\n")) {
        None => Finding::new(Verdict::NotShown, "there is too little text to tell its language"),
        Some(found) if found == wanted => Finding::new(Verdict::Held, format!("the language is {found}")),
        Some(found) => Finding::new(Verdict::Broken, format!("the language is {found}, expected {wanted}")),
    }
}

/// The language of a text, if there is enough of it to tell.
fn detect(text: &str) -> Option<Language> {
    let (script, letters) = main_script(text)?;
    match script {
        Script::Only(language) => Some(language).filter(|_| letters >= 2),
        Script::Han => {
            let is_kana = |c: char| matches!(c, '\u{3040}'..='\u{30ff}');
            let kana = text.chars().filter(|c| is_kana(*c)).count();
            Some(if kana * 10 >= letters { Language::Japanese } else { Language::Chinese })
        }
        Script::Latin | Script::Cyrillic => by_words(text, script),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Script {
    Latin,
    Cyrillic,
    Han,
    Only(Language),
}

fn script_of(c: char) -> Option<Script> {
    Some(match c {
        'a'..='z' | 'A'..='Z' | '\u{00c0}'..='\u{024f}' | '\u{1e00}'..='\u{1eff}' => Script::Latin,
        '\u{0400}'..='\u{052f}' => Script::Cyrillic,
        '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' => Script::Han,
        '\u{0370}'..='\u{03ff}' => Script::Only(Language::Greek),
        '\u{0590}'..='\u{05ff}' => Script::Only(Language::Hebrew),
        '\u{0600}'..='\u{06ff}' => Script::Only(Language::Arabic),
        '\u{0900}'..='\u{097f}' => Script::Only(Language::Hindi),
        '\u{0e00}'..='\u{0e7f}' => Script::Only(Language::Thai),
        '\u{ac00}'..='\u{d7af}' => Script::Only(Language::Korean),
        _ => return None,
    })
}

/// The script of most letters, and their number.
fn main_script(text: &str) -> Option<(Script, usize)> {
    let mut counts: Vec<(Script, usize)> = Vec::new();
    for script in text.chars().filter_map(script_of) {
        match counts.iter_mut().find(|(known, _)| *known == script) {
            Some((_, count)) => *count += 1,
            None => counts.push((script, 1)),
        }
    }
    counts.into_iter().max_by_key(|(_, count)| *count)
}

fn by_words(text: &str, script: Script) -> Option<Language> {
    let words = words(text);
    let is_cyrillic = |language: Language| matches!(language, Language::Russian | Language::Ukrainian);
    let candidates =
        COMMON.iter().filter(|(language, _)| is_cyrillic(*language) == (script == Script::Cyrillic));
    let hits = |common: &[&str]| words.iter().filter(|word| common.contains(&word.as_str())).count();
    let mut scored: Vec<(usize, Language)> =
        candidates.map(|(language, common)| (hits(common), *language)).collect();
    scored.sort_by_key(|(hits, _)| std::cmp::Reverse(*hits));
    match scored.as_slice() {
        // A clear lead, so that a short reply is not guessed at.
        [(first, language), (second, _), ..] if *first >= 2 && first > second => Some(*language),
        _ => None,
    }
}
