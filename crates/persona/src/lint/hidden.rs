//! Characters that a reader does not see and a model does, and the places where they belong.

use std::borrow::Cow;

use unicode_script::{Script, UnicodeScript};

use super::texts::Hit;
use crate::env::Place;

/// A run of hidden characters.
pub(super) struct Hidden {
    at: usize,
    first: char,
    /// The number of characters that directly follow the first one.
    more: usize,
}

impl Hit for Hidden {
    fn at(&self) -> usize {
        self.at
    }

    fn describe(&self, place: Place) -> (String, Option<String>) {
        let first = format!("U+{:04X} {}", u32::from(self.first), name(self.first));
        let message = match self.more {
            0 => format!("{first} at {place}"),
            1 => format!("{first} and one more hidden character at {place}"),
            more => format!("{first} and {more} more hidden characters at {place}"),
        };
        (message, Some("remove it, or write it in plain words".to_owned()))
    }
}

pub(super) fn find(text: &str) -> Vec<Hidden> {
    let plain = |byte: u8| matches!(byte, b' '..=b'~' | b'\t' | b'\n' | b'\r');
    if text.bytes().all(plain) {
        return Vec::new();
    }
    let mut runs: Vec<Hidden> = Vec::new();
    let mut before = Before { last: None, right_to_left: None };
    let mut run_ends = None;
    let mut skip_to = 0;
    for (at, c) in text.char_indices() {
        let after = at + c.len_utf8();
        if at < skip_to {
            continue;
        }
        if is_hidden(c) && !before.admits(c, text, after) {
            match runs.last_mut() {
                Some(run) if run_ends == Some(at) => run.more += 1,
                _ => runs.push(Hidden { at, first: c, more: 0 }),
            }
            run_ends = Some(after);
        }
        skip_to = after + flag_tags(c, &text[after..]);
        before.last = Some(c);
        if c == '\n' {
            before.right_to_left = None;
        }
    }
    runs
}

/// The context before a character, which decides if it is allowed.
struct Before {
    last: Option<char>,
    /// True if the line has letters that are written from right to left; computed once.
    right_to_left: Option<bool>,
}

impl Before {
    /// True if a script or an emoji needs this hidden character here.
    fn admits(&mut self, c: char, text: &str, after: usize) -> bool {
        // Some editors save a byte order mark at the start.
        let Some(last) = self.last else { return c == BYTE_ORDER_MARK };
        let next = text[after..].chars().next();
        match c {
            ZERO_WIDTH_JOINER if is_emoji_end(last) && next.is_some_and(is_pictograph) => true,
            ZERO_WIDTH_JOINER | ZERO_WIDTH_NON_JOINER => is_joined_script(last),
            '\u{200B}' => is_unspaced_script(last) && next.is_some_and(is_unspaced_script),
            '\u{061C}' | '\u{200E}' | '\u{200F}' => *self.right_to_left.get_or_insert_with(|| {
                let start = text[..after].rfind('\n').map_or(0, |newline| newline + 1);
                let end = text[after..].find('\n').map_or(text.len(), |newline| after + newline);
                text[start..end].chars().any(is_right_to_left)
            }),
            // A digit with a selector must be a keycap.
            EMOJI_STYLE if matches!(last, '0'..='9' | '#' | '*') => next == Some('\u{20E3}'),
            TEXT_STYLE | EMOJI_STYLE => is_pictograph(last),
            '\u{FE00}'..='\u{FE0D}' => is_varied_script(last),
            '\u{E0100}'..='\u{E01EF}' => last.script() == Script::Han,
            '\u{180B}'..='\u{180F}' => last.script() == Script::Mongolian,
            _ => false,
        }
    }
}

const BYTE_ORDER_MARK: char = '\u{FEFF}';
const ZERO_WIDTH_NON_JOINER: char = '\u{200C}';
const ZERO_WIDTH_JOINER: char = '\u{200D}';
const TEXT_STYLE: char = '\u{FE0E}';
const EMOJI_STYLE: char = '\u{FE0F}';

/// The number of bytes of tags after a black flag, for the flags of England, Scotland and Wales.
fn flag_tags(c: char, rest: &str) -> usize {
    const FLAGS: [&str; 3] = ["gbeng", "gbsct", "gbwls"];
    if c != '\u{1F3F4}' {
        return 0;
    }
    let spells = |flag: &&str| {
        let tags = flag.chars().map(|letter| char::from_u32(0xE0000 + u32::from(letter)));
        tags.chain([Some('\u{E007F}')]).map(Option::unwrap_or_default).eq(rest.chars().take(flag.len() + 1))
    };
    // Each tag takes four bytes.
    FLAGS.iter().find(|flag| spells(flag)).map_or(0, |flag| (flag.len() + 1) * 4)
}

/// True if a reader sees a character.
pub fn is_visible(c: char) -> bool {
    // A braille pattern without dots is a symbol, and empty.
    !c.is_whitespace() && c != '\u{2800}' && !is_hidden(c)
}

/// True if a character is invisible, or looks different to each reader.
pub(super) fn is_hidden(c: char) -> bool {
    match c {
        '\t' | '\n' | '\r' => false,
        // Default-ignorable characters.
        '\u{00AD}' | '\u{034F}' | '\u{061C}' | '\u{115F}'..='\u{1160}' | '\u{17B4}'..='\u{17B5}' => true,
        '\u{180B}'..='\u{180F}' | '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' => true,
        '\u{2060}'..='\u{206F}' | '\u{3164}' | '\u{FE00}'..='\u{FE0F}' | '\u{FEFF}' | '\u{FFA0}' => true,
        '\u{1BCA0}'..='\u{1BCA3}' | '\u{1D173}'..='\u{1D17A}' | '\u{E0000}'..='\u{E0FFF}' => true,
        // Specials, including interlinear annotations; U+FFFC and U+FFFD are visible.
        '\u{FFF0}'..='\u{FFFB}' => true,
        // Private use.
        '\u{E000}'..='\u{F8FF}' | '\u{F0000}'..='\u{10FFFF}' => true,
        // Noncharacters.
        '\u{FDD0}'..='\u{FDEF}' => true,
        c => c.is_control() || u32::from(c) & 0xFFFE == 0xFFFE,
    }
}

/// True if a character is part of emoji, or a symbol that may be shown as one.
fn is_pictograph(c: char) -> bool {
    matches!(c,
        '\u{00A9}' | '\u{00AE}' | '\u{203C}' | '\u{2049}' | '\u{2122}' | '\u{2139}'
        | '\u{2190}'..='\u{21FF}' | '\u{2300}'..='\u{23FF}' | '\u{24C2}' | '\u{25A0}'..='\u{27BF}'
        | '\u{2900}'..='\u{297F}' | '\u{2B00}'..='\u{2BFF}' | '\u{3030}' | '\u{303D}' | '\u{3297}'
        | '\u{3299}' | '\u{1F000}'..='\u{1FAFF}')
}

/// True if one part of a joined emoji may end here, also with a style.
fn is_emoji_end(c: char) -> bool {
    is_pictograph(c) || c == EMOJI_STYLE
}

/// True if a character's script uses joiners.
fn is_joined_script(c: char) -> bool {
    // Vowel signs that several scripts share.
    if matches!(c, '\u{064B}'..='\u{0655}' | '\u{0670}') {
        return true;
    }
    matches!(
        c.script(),
        Script::Arabic
            | Script::Syriac
            | Script::Mandaic
            | Script::Nko
            | Script::Mongolian
            | Script::Phags_Pa
            | Script::Devanagari
            | Script::Bengali
            | Script::Gurmukhi
            | Script::Gujarati
            | Script::Oriya
            | Script::Tamil
            | Script::Telugu
            | Script::Kannada
            | Script::Malayalam
            | Script::Sinhala
            | Script::Khmer
            | Script::Myanmar
            | Script::Tibetan
            | Script::Balinese
            | Script::Javanese
    )
}

/// True if a character's script separates words with zero-width spaces.
fn is_unspaced_script(c: char) -> bool {
    use Script::{Javanese, Khmer, Lao, Myanmar, Tai_Le, Tai_Tham, Thai, Tibetan};
    matches!(c.script(), Thai | Lao | Khmer | Myanmar | Tibetan | Javanese | Tai_Le | Tai_Tham)
}

/// True if a character has standardised variants other than styles of emoji.
fn is_varied_script(c: char) -> bool {
    let symbols = matches!(c, '\u{2200}'..='\u{22FF}' | '\u{2A00}'..='\u{2AFF}' | '\u{3000}'..='\u{303F}'
        | '\u{FF00}'..='\u{FF65}');
    symbols || matches!(c.script(), Script::Han | Script::Myanmar | Script::Phags_Pa | Script::Manichaean)
}

fn is_right_to_left(c: char) -> bool {
    let blocks = matches!(c, '\u{0590}'..='\u{08FF}' | '\u{FB1D}'..='\u{FDCF}' | '\u{FDF0}'..='\u{FDFF}'
        | '\u{FE70}'..='\u{FEFC}' | '\u{10800}'..='\u{10FFF}' | '\u{1E800}'..='\u{1EFFF}');
    blocks && c.is_alphabetic()
}

/// The character's name, or that of its kind.
fn name(c: char) -> Cow<'static, str> {
    let name = match c {
        '\0' => "NULL",
        '\u{0007}' => "BELL",
        '\u{0008}' => "BACKSPACE",
        '\u{000B}' => "LINE TABULATION",
        '\u{000C}' => "FORM FEED",
        '\u{001B}' => "ESCAPE",
        '\u{007F}' => "DELETE",
        '\u{0085}' => "NEXT LINE",
        '\u{00AD}' => "SOFT HYPHEN",
        '\u{034F}' => "COMBINING GRAPHEME JOINER",
        '\u{061C}' => "ARABIC LETTER MARK",
        '\u{115F}' => "HANGUL CHOSEONG FILLER",
        '\u{1160}' => "HANGUL JUNGSEONG FILLER",
        '\u{180E}' => "MONGOLIAN VOWEL SEPARATOR",
        '\u{200B}' => "ZERO WIDTH SPACE",
        ZERO_WIDTH_NON_JOINER => "ZERO WIDTH NON-JOINER",
        ZERO_WIDTH_JOINER => "ZERO WIDTH JOINER",
        '\u{200E}' => "LEFT-TO-RIGHT MARK",
        '\u{200F}' => "RIGHT-TO-LEFT MARK",
        '\u{202A}' => "LEFT-TO-RIGHT EMBEDDING",
        '\u{202B}' => "RIGHT-TO-LEFT EMBEDDING",
        '\u{202C}' => "POP DIRECTIONAL FORMATTING",
        '\u{202D}' => "LEFT-TO-RIGHT OVERRIDE",
        '\u{202E}' => "RIGHT-TO-LEFT OVERRIDE",
        '\u{2060}' => "WORD JOINER",
        '\u{2061}' => "FUNCTION APPLICATION",
        '\u{2062}' => "INVISIBLE TIMES",
        '\u{2063}' => "INVISIBLE SEPARATOR",
        '\u{2064}' => "INVISIBLE PLUS",
        '\u{2066}' => "LEFT-TO-RIGHT ISOLATE",
        '\u{2067}' => "RIGHT-TO-LEFT ISOLATE",
        '\u{2068}' => "FIRST STRONG ISOLATE",
        '\u{2069}' => "POP DIRECTIONAL ISOLATE",
        '\u{3164}' => "HANGUL FILLER",
        BYTE_ORDER_MARK => "ZERO WIDTH NO-BREAK SPACE (byte order mark)",
        '\u{FFA0}' => "HALFWIDTH HANGUL FILLER",
        '\u{FFF9}' => "INTERLINEAR ANNOTATION ANCHOR",
        '\u{FFFA}' => "INTERLINEAR ANNOTATION SEPARATOR",
        '\u{FFFB}' => "INTERLINEAR ANNOTATION TERMINATOR",
        '\u{E0001}' => "LANGUAGE TAG",
        '\u{E007F}' => "CANCEL TAG",
        '\u{E0020}'..='\u{E007E}' => return tag_name(c),
        '\u{FE00}'..='\u{FE0F}' => return format!("VARIATION SELECTOR-{}", u32::from(c) - 0xFE00 + 1).into(),
        '\u{E0100}'..='\u{E01EF}' => {
            return format!("VARIATION SELECTOR-{}", u32::from(c) - 0xE0100 + 17).into();
        }
        '\u{E000}'..='\u{F8FF}' | '\u{F0000}'..='\u{FFFFD}' | '\u{100000}'..='\u{10FFFD}' => {
            "(private-use character)"
        }
        c if c.is_control() => "(control character)",
        c if u32::from(c) & 0xFFFE == 0xFFFE || matches!(c, '\u{FDD0}'..='\u{FDEF}') => "(no character)",
        _ => "(format character)",
    };
    name.into()
}

/// The ASCII character of a tag character, which shows what was smuggled in.
fn tag_name(c: char) -> Cow<'static, str> {
    match char::from_u32(u32::from(c) - 0xE0000) {
        Some(ascii) => format!("TAG {ascii:?}").into(),
        None => "(tag character)".into(),
    }
}
