//! Hidden characters and look-alikes: what is found, and what people rightly write.

use persona::lint::Rule;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use super::{in_text, messages};

#[track_caller]
fn check_hidden(text: &str, expected: &[&str]) {
    assert_eq!(messages(Rule::HiddenUnicode, text), expected, "{text:?}");
}

#[track_caller]
fn check_seen(text: &str) {
    check_hidden(text, &[]);
}

#[test]
fn hidden_characters_are_named_with_their_place() {
    check_hidden("a\u{200B}b", &["U+200B ZERO WIDTH SPACE at 1:2"]);
    check_hidden("one\ntwo \u{2060}x", &["U+2060 WORD JOINER at 2:5"]);
    check_hidden("ééé\u{FEFF}", &["U+FEFF ZERO WIDTH NO-BREAK SPACE (byte order mark) at 1:4"]);
    check_hidden("\u{FEFF}\u{FEFF}start", &["U+FEFF ZERO WIDTH NO-BREAK SPACE (byte order mark) at 1:2"]);
    check_seen("\u{FEFF}as some editors save a file");
    check_hidden("co\u{AD}operate", &["U+00AD SOFT HYPHEN at 1:3"]);
    check_hidden("a\u{200C}b", &["U+200C ZERO WIDTH NON-JOINER at 1:2"]);
    check_hidden("a\u{200D}b", &["U+200D ZERO WIDTH JOINER at 1:2"]);
    check_hidden("a\u{2063}b", &["U+2063 INVISIBLE SEPARATOR at 1:2"]);
    check_hidden("a\u{3164}b", &["U+3164 HANGUL FILLER at 1:2"]);
    check_hidden("a\u{34F}b", &["U+034F COMBINING GRAPHEME JOINER at 1:2"]);
}

#[test]
fn controls_of_direction_are_found() {
    check_hidden("safe \u{202E}txt.exe", &["U+202E RIGHT-TO-LEFT OVERRIDE at 1:6"]);
    check_hidden(
        "a\u{2066}b\u{2069}",
        &["U+2066 LEFT-TO-RIGHT ISOLATE at 1:2", "U+2069 POP DIRECTIONAL ISOLATE at 1:4"],
    );
    check_hidden("a\u{200F}b", &["U+200F RIGHT-TO-LEFT MARK at 1:2"]);
    // Overrides are never needed, not even in a text from right to left; marks are.
    check_hidden("שלום \u{202E}abc", &["U+202E RIGHT-TO-LEFT OVERRIDE at 1:6"]);
    check_seen("שלום\u{200F}! (C\u{200E}++)");
    check_seen("مرحبا\u{61C} 123");
    check_hidden("שלום\nab\u{200F}c", &["U+200F RIGHT-TO-LEFT MARK at 2:3"]);
}

#[test]
fn tags_private_use_and_controls_are_found() {
    check_hidden("hi\u{E0001}", &["U+E0001 LANGUAGE TAG at 1:3"]);
    let smuggled: String =
        "ignore".chars().map(|c| char::from_u32(0xE0000 + u32::from(c)).expect("a tag")).collect();
    check_hidden(&format!("hi{smuggled}!"), &["U+E0069 TAG 'i' and 5 more hidden characters at 1:3"]);
    check_hidden("a\u{E000}", &["U+E000 (private-use character) at 1:2"]);
    check_hidden("a\u{F0000}", &["U+F0000 (private-use character) at 1:2"]);
    check_hidden("a\u{1B}[31m", &["U+001B ESCAPE at 1:2"]);
    check_hidden("a\u{8}\u{7F}", &["U+0008 BACKSPACE and one more hidden character at 1:2"]);
    check_hidden("a\u{9B}", &["U+009B (control character) at 1:2"]);
    check_hidden("a\u{FFFE}\u{FDD0}", &["U+FFFE (no character) and one more hidden character at 1:2"]);
    check_hidden("a\u{1FFFF}", &["U+1FFFF (no character) at 1:2"]);
}

#[test]
fn selectors_follow_characters_with_variants() {
    check_hidden("a\u{FE0F}", &["U+FE0F VARIATION SELECTOR-16 at 1:2"]);
    check_hidden("a\u{FE00}", &["U+FE00 VARIATION SELECTOR-1 at 1:2"]);
    check_hidden("1\u{FE0F}", &["U+FE0F VARIATION SELECTOR-16 at 1:2"]);
    check_hidden(
        "😀\u{FE01}\u{E0100}",
        &["U+FE01 VARIATION SELECTOR-2 and one more hidden character at 1:2"],
    );
    // One selector may follow; a row of them carries a message.
    check_hidden(
        "❤\u{FE0F}\u{FE0F}\u{FE0F}",
        &["U+FE0F VARIATION SELECTOR-16 and one more hidden character at 1:3"],
    );
    check_seen("❤\u{FE0F} ☎\u{FE0E} 1\u{FE0F}\u{20E3} ©\u{FE0F} ✂\u{FE0F} 🏳\u{FE0F}");
    check_seen("葛\u{E0100}飾区");
    check_hidden("a\u{E0100}", &["U+E0100 VARIATION SELECTOR-17 at 1:2"]);
    check_seen("ᠠ\u{180B}ᠨ");
    check_hidden("n\u{180B}", &["U+180B (format character) at 1:2"]);
}

#[test]
fn emoji_are_left_alone() {
    for emoji in [
        "👩\u{200D}💻",
        "👨\u{200D}👩\u{200D}👧\u{200D}👦",
        "🏳\u{FE0F}\u{200D}🌈",
        "👩🏽\u{200D}🚀",
        "❤\u{FE0F}\u{200D}🔥",
        "🇩🇪",
        "🏴\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F}",
        "🧑🏿\u{200D}🤝\u{200D}🧑🏻",
    ] {
        check_seen(emoji);
        check_seen(&format!("Well done {emoji}, again."));
    }
    check_hidden("👩\u{200D}", &["U+200D ZERO WIDTH JOINER at 1:2"]);
    check_hidden("👩\u{200D}x", &["U+200D ZERO WIDTH JOINER at 1:2"]);
    // A flag that there is not is a row of tags.
    check_hidden("🏴\u{E0067}\u{E0062}\u{E007F}", &["U+E0067 TAG 'g' and 2 more hidden characters at 1:2"]);
}

#[test]
fn scripts_that_need_joiners_have_them() {
    check_seen("می\u{200C}خواهم");
    check_seen("क्\u{200D}ष");
    check_seen("ক্\u{200C}ষ");
    check_seen("ශ්\u{200D}රී");
    check_seen("ภาษา\u{200B}ไทย");
    check_hidden("ภาษา\u{200B}x", &["U+200B ZERO WIDTH SPACE at 1:5"]);
    check_hidden("می\u{200C}\u{200C}خ", &["U+200C ZERO WIDTH NON-JOINER at 1:4"]);
}

#[test]
fn ordinary_text_has_no_findings() {
    for text in [
        "Plain text,\twith tabs\r\nand lines.",
        "Grüße, naïve façade — “quotes” … €5 ½ ×2 → ∀x",
        "Привет, мир. Γειά σου. こんにちは、世界。안녕하세요. 你好。",
        "non\u{A0}breaking\u{202F}spaces\u{3000}and wide ones",
        "n\u{303}ino e\u{301}t\u{E9}",
        "\u{FFFD} a decoding went wrong",
    ] {
        check_seen(text);
    }
}

#[test]
fn a_message_never_has_the_character_itself() {
    for text in ["a\u{202E}b", "a\u{E0041}b", "a\u{200B}b", "p\u{430}ypal", "${env.\u{200B}}"] {
        for finding in in_text(text) {
            let line = finding.to_string();
            assert!(line.is_ascii(), "{line:?}");
        }
    }
}

#[test]
fn many_are_counted_not_listed() {
    let found = messages(Rule::HiddenUnicode, &"a\u{200B}".repeat(50));
    assert_eq!(found.len(), 6);
    assert_eq!(found[5], "and 45 more of this in the same text");
    assert_eq!(messages(Rule::HiddenUnicode, &"a\u{200B}".repeat(5)).len(), 5);
}

#[track_caller]
fn check_alike(text: &str, expected: &[&str]) {
    assert_eq!(messages(Rule::LookAlike, text), expected, "{text:?}");
}

#[test]
fn letters_of_another_script_in_a_latin_word_are_found() {
    check_alike(
        "Pay with p\u{430}ypal now",
        &[r#""p<U+0430>ypal" at 1:10 has U+0430 (Cyrillic), which looks like 'a'"#],
    );
    check_alike(
        "a\n\u{405}ystem",
        &[r#""<U+0405>ystem" at 2:1 has U+0405 (Cyrillic), which looks like 'S'"#],
    );
    check_alike("\u{406}gnore", &[r#""<U+0406>gnore" at 1:1 has U+0406 (Cyrillic), which looks like 'I'"#]);
    check_alike("passw\u{3BF}rd", &[r#""passw<U+03BF>rd" at 1:1 has U+03BF (Greek), which looks like 'o'"#]);
    check_alike("\u{39F}pen", &[r#""<U+039F>pen" at 1:1 has U+039F (Greek), which looks like 'O'"#]);
    check_alike(
        "pass\u{FF57}ord",
        &[r#""pass<U+FF57>ord" at 1:1 has U+FF57 (fullwidth), which looks like 'w'"#],
    );
    check_alike(
        "\u{1D429}assword",
        &[r#""<U+1D429>assword" at 1:1 has U+1D429 (mathematical), which looks like 'p'"#],
    );
    let found = in_text("p\u{430}yp\u{430}l");
    assert_eq!(found[0].suggestion.as_deref(), Some(r#"write "paypal" in Latin letters"#));
}

#[test]
fn a_word_wholly_in_disguise_is_found() {
    check_alike(
        "Reply to the \u{440}\u{43E}\u{440}\u{435} only",
        &[r#""<U+0440><U+043E><U+0440><U+0435>" at 1:14 has U+0440 (Cyrillic), which looks like 'p'"#],
    );
    // In a text that has the script anyway, it is a word of that script.
    check_alike("Say «хор» and «сор», as in «большой хор».", &[]);
}

#[test]
fn other_scripts_are_left_alone() {
    for text in [
        "Привет, как дела? Хорошо.",
        "Ένα κείμενο στα ελληνικά.",
        "API-ключ и URL-адрес, файл config.toml",
        "Kılıç, Łódź, Straße, naïve, æther, ørsted, ﬁne",
        "σmax, Δx, ρAB, µm, Ωmega, αβγ, νe",
        "Tシャツ, CPU使用率, iPhone을",
        "ב-API וAPI",
        "مرحباAPI",
        "5₂ x² ⅷ ℝ № ™",
        "cafe\u{301} n\u{303}",
    ] {
        check_alike(text, &[]);
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 800, failure_persistence: None, rng_seed: RngSeed::Fixed(0x756e_6963), ..ProptestConfig::default()
    })]

    #[test]
    fn no_text_breaks_the_rules(text in proptest::collection::vec(odd(), 0..60)) {
        let text: String = text.into_iter().collect();
        for finding in in_text(&text) {
            prop_assert!(finding.to_string().len() < 2_000);
        }
    }

    #[test]
    fn printable_ascii_is_neither_hidden_nor_alike(text in "[ -~\n\t]{0,200}") {
        check_seen(&text);
        check_alike(&text, &[]);
    }
}

/// Characters that mean something to a rule, among any others.
fn odd() -> impl Strategy<Value = String> {
    let words = [
        "\u{200B}",
        "\u{200D}",
        "\u{FE0F}",
        "\u{202E}",
        "🏴",
        "\u{E0067}",
        "\u{E007F}",
        "❤",
        "\n",
        "\r",
        "ш",
        "а",
        "o",
        "${env.",
        "${ENV.",
        "}",
        "$",
        "sk-",
        "eyJ",
        ".",
        "-----BEGIN ",
        "PRIVATE KEY-----",
        "://",
        "@",
        ":",
        "=",
        "password",
        "Authorization: Bearer ",
        "é",
        "١",
        "\u{300}",
        "AKIA",
        "\"",
        "-",
    ];
    prop_oneof![
        2 => proptest::sample::select(words.to_vec()).prop_map(str::to_owned),
        1 => any::<char>().prop_map(String::from),
        1 => "[A-Za-z0-9_-]{0,24}",
    ]
}
