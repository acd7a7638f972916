use std::ffi::OsString;

use super::{for_commands, harmless, is_telling};

fn names(variables: Vec<(OsString, OsString)>) -> String {
    let names: Vec<String> =
        variables.into_iter().map(|(name, _)| name.into_string().expect("text")).collect();
    names.join(" ")
}

fn some(variables: &[(&str, &str)]) -> Vec<(OsString, OsString)> {
    variables.iter().map(|(name, value)| (name.into(), value.into())).collect()
}

#[test]
fn only_listed_or_named_variables_pass() {
    let all = some(&[
        ("PATH", "/bin"),
        ("LC_ALL", "C"),
        ("EDITOR", "vi"),
        ("OPENAI_API_KEY", "sk-1"),
        ("RUST_LOG", "x"),
    ]);
    assert_eq!(names(harmless(all.clone().into_iter())), "PATH LC_ALL");
    let pass = ["EDITOR".to_owned(), "RUST_*".to_owned()];
    assert_eq!(names(for_commands(all.into_iter(), &pass)), "PATH LC_ALL EDITOR");
}

#[test]
fn a_key_is_never_passed_to_commands_even_where_it_is_named() {
    let all = some(&[("GITHUB_TOKEN", "x"), ("DATABASE_URL", "y"), ("MIRROR", "https://me:pw@host/")]);
    let pass = ["GITHUB_TOKEN", "DATABASE_URL", "MIRROR"].map(str::to_owned);
    assert_eq!(names(for_commands(all.into_iter(), &pass)), "");
}

#[test]
fn a_proxy_with_a_password_is_not_passed() {
    let all = some(&[("HTTP_PROXY", "http://me:pw@proxy:3128"), ("HTTPS_PROXY", "http://proxy:3128/a@b:c")]);
    assert_eq!(names(harmless(all.into_iter())), "HTTPS_PROXY");
}

#[test]
fn names_that_tell_of_a_secret() {
    for name in [
        "OPENAI_API_KEY",
        "apikey",
        "GH_PAT",
        "DB_PASS",
        "AWS_SECRET_ACCESS_KEY",
        "SSH_AUTH_SOCK",
        "npm_token",
    ] {
        assert!(is_telling(name), "{name}");
    }
    for name in ["PATH", "COMPASS", "EDITOR", "PATTERN", "RUST_LOG"] {
        assert!(!is_telling(name), "{name}");
    }
}
