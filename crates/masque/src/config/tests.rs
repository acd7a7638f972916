use std::path::Path;

use super::Config;
use crate::failure::Failure;

fn parse(text: &str) -> Config {
    Config::parse(Path::new("config.toml"), text).expect("it is understood")
}

fn refusal(text: &str) -> String {
    match Config::parse(Path::new("config.toml"), text) {
        Err(Failure::Told { message, .. }) => message,
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_is_set_is_read() {
    let config = parse(
        "[env]\nallow = [\"TEAM\", \"USER\"]\n[providers.anthropic]\nkey = \"x\"\n[providers.local]\n\
         [history]\nkeep = 50\n[lint]\npart_tokens = 900\n",
    );
    assert_eq!(config.env_allow.iter().collect::<Vec<_>>(), ["TEAM", "USER"]);
    assert_eq!(config.providers.iter().collect::<Vec<_>>(), ["anthropic", "local"]);
    assert_eq!((config.history_keep, config.lint_part_tokens), (Some(50), Some(900)));
    assert_eq!(config.warnings, [""; 0]);
}

#[test]
fn nothing_needs_to_be_set() {
    assert_eq!(parse(""), Config::default());
    let missing = Config::read(Path::new("/nowhere/at/all/config.toml"));
    assert_eq!(missing.expect("a missing file sets nothing"), Config::default());
}

#[test]
fn what_later_releases_read_is_accepted() {
    let config =
        parse("[server]\naddr = \"127.0.0.1:1\"\n[mcp_servers.git]\ncommand = \"x\"\n[prices]\na = 1\n");
    assert_eq!(config, Config::default());
}

#[test]
fn a_misspelt_key_is_told_with_its_place() {
    assert_eq!(
        parse("[env]\nallow = []\n[providers_.x]\n[histroy]\nkeep = 3\n").warnings,
        [
            "config.toml:4:2: unknown key \"histroy\" has no effect; did you mean \"history\"?",
            "config.toml:3:2: unknown key \"providers_\" has no effect; did you mean \"providers\"?",
        ]
    );
    assert_eq!(
        parse("[env]\nalow = [\"A\"]\n").warnings,
        ["config.toml:2:1: unknown key \"alow\" has no effect; did you mean \"allow\"?"]
    );
    let warnings = parse("zebra = 1\n").warnings;
    assert!(warnings[0].contains("known is env, providers, history"), "{warnings:?}");
}

#[test]
fn a_broken_file_is_refused_with_its_place() {
    let message = refusal("[env]\nallow = [\"A\"\n");
    assert!(message.starts_with("config.toml:"), "{message}");
    let message = refusal("[history]\nkeep = \"many\"\n");
    assert!(message.starts_with("config.toml:2:8: "), "{message}");
    let message = refusal("[history]\nkeep = -1\n");
    assert!(message.starts_with("config.toml:2:8: "), "{message}");
    assert!(refusal("[history]\nkeep = 0\n").contains("at least 1"));
    assert!(refusal("env = 3\n").starts_with("config.toml:1:7: "));
    assert!(refusal("[providers]\nanthropic = 3\n").starts_with("config.toml:2:13: "));
}
