use super::{Kind, ProviderSettings};
use crate::Error;

fn read(text: &str) -> Result<ProviderSettings, String> {
    let settings: ProviderSettings = toml::from_str(text).map_err(|error| error.message().to_owned())?;
    settings.check("mine").map_err(|error| error.to_string())?;
    Ok(settings)
}

#[test]
fn the_least_and_the_most_that_can_be_written() {
    assert_eq!(read(r#"kind = "gemini""#), Ok(ProviderSettings::new(Kind::Gemini)));
    let settings = read(
        r#"
        kind = "openai-chat"
        base_url = "https://models.example.org/v1"
        api_key_env = "MY_KEY"
        headers = { x-team = "blue" }
        headers_env = { x-secret = "MY_SECRET" }
        connect_timeout_s = 1
        idle_timeout_s = 2
        timeout_s = 3
        max_concurrent = 4
        context_tokens = 5
        max_output_tokens = 6
        ca_file = "/etc/ca.pem"
        proxy = "http://proxy.example.org:3128"
        models = ["a", "b"]
        "#,
    )
    .expect("settings");
    assert_eq!(settings.models, ["a", "b"]);
    assert_eq!(settings.idle_timeout().as_secs(), 2);
}

/// Invalid lines, each with its field.
const INVALID: [(&str, &str); 14] = [
    ("base_url = \"models.example.org\"", "base_url"),
    ("base_url = \"ftp://models.example.org\"", "base_url"),
    ("base_url = \"http://a:b@models.example.org\"", "base_url"),
    ("base_url = \"http://models.example.org/?key=1\"", "base_url"),
    ("timeout_s = 0", "timeout_s"),
    ("idle_timeout_s = 0", "idle_timeout_s"),
    ("connect_timeout_s = 100000", "connect_timeout_s"),
    ("max_concurrent = 0", "max_concurrent"),
    ("context_tokens = 0", "context_tokens"),
    ("max_output_tokens = 0", "max_output_tokens"),
    ("headers = { \"a b\" = \"c\" }", "headers"),
    ("headers = { a = \"c\\nd\" }", "headers"),
    ("headers_env = { a = \"\" }", "headers_env"),
    ("proxy = \"proxy\"", "proxy"),
];

fn error_of(line: &str) -> Error {
    let settings: ProviderSettings = toml::from_str(&format!("kind = \"gemini\"\n{line}")).expect(line);
    settings.check("mine").expect_err(line)
}

#[test]
fn an_error_names_its_field() {
    for (line, field) in INVALID {
        let Error { place, .. } = error_of(line);
        let rest = place.strip_prefix(&format!("providers.mine.{field}"));
        assert!(rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.')), "{line}: {place}");
    }
    for text in [r#"kind = "claude""#, "kind = \"gemini\"\ncolour = 1"] {
        assert!(read(text).is_err(), "{text}");
    }
}

#[test]
fn sentences() {
    insta::assert_snapshot!(INVALID.map(|(line, _)| format!("{line}\n  {}\n", error_of(line))).concat());
}

#[test]
fn a_key_in_the_wrong_place_is_not_repeated() {
    let error = error_of("api_key_env = \"sk-very-secret\"");
    assert_eq!(error.place, "providers.mine.api_key_env");
    assert!(!error.to_string().contains("very-secret"), "{error}");
}

#[test]
fn names_are_parts_of_a_models_name() {
    for name in ["", " ", "a b", "a/b", "a.b"] {
        assert!(ProviderSettings::new(Kind::Gemini).check(name).is_err(), "{name:?}");
    }
    assert_eq!(ProviderSettings::new(Kind::Gemini).check("a-b_1"), Ok(()));
}

#[test]
fn debug_shows_no_value_of_a_header() {
    let mut settings = ProviderSettings::new(Kind::Gemini);
    settings.headers.insert("x-key".into(), "very-secret".into());
    settings.proxy = Some("http://user:very-secret@proxy.example.org".into());
    let shown = format!("{settings:?}");
    assert!(shown.contains("x-key") && !shown.contains("very-secret"), "{shown}");
}
