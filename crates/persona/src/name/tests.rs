use super::*;

#[test]
fn names_are_ascii_keys() {
    for text in ["a", "code_reviewer", "9-lives", &"x".repeat(64)] {
        assert_eq!(Name::parse(text).map(|name| name.to_string()), Ok(text.to_owned()));
    }
    let start = |name: &str, first| NameError::BadStart { name: name.to_owned(), first };
    let character = |name: &str, bad| NameError::BadCharacter { name: name.to_owned(), bad };
    for (text, error) in [
        ("", NameError::Empty),
        (&*"x".repeat(65), NameError::TooLong(65)),
        ("-a", start("-a", '-')),
        ("_a", start("_a", '_')),
        ("a b", character("a b", ' ')),
        ("../etc", character("../etc", '.')),
        ("é", character("é", 'é')),
        ("a\0", character("a\0", '\0')),
    ] {
        assert_eq!(error.code(), Code::InvalidName);
        assert_eq!(Name::parse(text), Err(error));
    }
}

/// A parser passes on nothing but the message, so the message says what a name is.
#[test]
fn serde_and_parse_agree() {
    assert!(serde_json::from_str::<Name>("\"calm-tone\"").is_ok());
    let error = serde_json::from_str::<Name>("\"calm tone\"").expect_err("has a space");
    assert!(error.to_string().contains(r#"(expected letters, digits, "_" and "-")"#));
}
