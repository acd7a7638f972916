use super::{Kind, Settings};

fn read(text: &str) -> Result<Settings, String> {
    let settings: Settings = toml::from_str(text).map_err(|error| error.message().to_owned())?;
    settings.check("mine").map_err(|error| error.to_string())?;
    Ok(settings)
}

fn check_problem(text: &str, problem: &str) {
    let error = read(text).expect_err(text);
    assert!(error.contains(problem), "{text}: {error}");
}

#[test]
fn the_least_and_the_most_that_can_be_written() {
    assert_eq!(read(r#"kind = "gemini""#), Ok(Settings::new(Kind::Gemini)));
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

#[test]
fn problems_say_what_to_write() {
    check_problem(r#"kind = "claude""#, r#"one of "anthropic", "openai-responses", "openai-chat", "gemini""#);
    check_problem("kind = \"gemini\"\ncolour = 1", "unknown field `colour`");
    for (line, problem) in [
        ("base_url = \"models.example.org\"", "providers.mine.base_url: invalid URL"),
        ("base_url = \"ftp://models.example.org\"", "http:// or https://"),
        ("base_url = \"http://a:b@models.example.org\"", "api_key_env"),
        ("base_url = \"http://models.example.org/?key=1\"", "no ? and no #"),
        ("timeout_s = 0", "providers.mine.timeout_s: write seconds from 1"),
        ("idle_timeout_s = 0", "providers.mine.idle_timeout_s"),
        ("connect_timeout_s = 100000", "to 86400"),
        ("max_concurrent = 0", "from 1 to 10000"),
        ("context_tokens = 0", "above 0"),
        ("max_output_tokens = 0", "above 0"),
        ("headers = { \"a b\" = \"c\" }", "invalid header name"),
        ("headers = { a = \"c\\nd\" }", "characters that no header can carry"),
        ("headers_env = { a = \"\" }", "name of an environment variable"),
        ("proxy = \"proxy\"", "this is no proxy"),
    ] {
        check_problem(&format!("kind = \"gemini\"\n{line}"), problem);
    }
}

#[test]
fn a_key_in_the_wrong_place_is_not_repeated() {
    let error = read("kind = \"gemini\"\napi_key_env = \"sk-very-secret\"").expect_err("a key");
    assert!(error.contains("name of an environment variable") && !error.contains("very-secret"), "{error}");
}

#[test]
fn names_are_parts_of_a_models_name() {
    for name in ["", " ", "a b", "a/b", "a.b"] {
        assert!(Settings::new(Kind::Gemini).check(name).is_err(), "{name:?}");
    }
    assert_eq!(Settings::new(Kind::Gemini).check("a-b_1"), Ok(()));
}

#[test]
fn debug_shows_no_value_of_a_header() {
    let mut settings = Settings::new(Kind::Gemini);
    settings.headers.insert("x-key".into(), "very-secret".into());
    settings.proxy = Some("http://user:very-secret@proxy.example.org".into());
    let shown = format!("{settings:?}");
    assert!(shown.contains("x-key") && !shown.contains("very-secret"), "{shown}");
}
