use super::*;

fn check(text: &str, expected: Result<(), &str>) {
    let parsed = Name::parse(text);
    match (parsed, expected) {
        (Ok(name), Ok(())) => assert_eq!(name.as_str(), text),
        (Err(error), Err(part)) => {
            let message = error.to_string();
            assert!(message.contains(part), "{text:?}: {message}");
        }
        (parsed, expected) => panic!("{text:?}: {parsed:?}, expected {expected:?}"),
    }
}

#[test]
fn names_are_ascii_keys() {
    check("a", Ok(()));
    check("code_reviewer", Ok(()));
    check("9-lives", Ok(()));
    check(&"x".repeat(64), Ok(()));
    check("", Err("must not be empty"));
    check(&"x".repeat(65), Err("at most 64 characters, this one has 65"));
    check("-a", Err("must start with a letter"));
    check("_a", Err("must start with a letter"));
    check("a b", Err("contains ' '"));
    check("../etc", Err("contains '.'"));
    check("é", Err("contains 'é'"));
    check("a\0", Err("contains '\\0'"));
}

#[test]
fn serde_refuses_what_parse_refuses() {
    assert!(serde_json::from_str::<Name>("\"calm-tone\"").is_ok());
    let error = serde_json::from_str::<Name>("\"calm tone\"").expect_err("has a space");
    assert!(error.to_string().contains("display_name takes free text"));
}
