use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use providers::{Kind, ProviderSettings};
use serde::de::DeserializeOwned;
use tools::ServerSettings;

use super::Config;
use crate::failure::Failure;
use crate::output::Warning;

/// The documentation of the file.
const DOCUMENTATION: &str = include_str!("../../../../docs/configuration.md");

fn parse(text: &str) -> Config {
    Config::parse(Path::new("config.toml"), text).expect("it is understood")
}

fn refusal(text: &str) -> String {
    match Config::parse(Path::new("config.toml"), text) {
        Err(Failure::Reported(report)) => report.sentence(crate::wording::remedy),
        other => panic!("{other:?}"),
    }
}

#[test]
fn settings_are_read() {
    let config = parse(
        "[env]\nallow = [\"TEAM\", \"USER\"]\n[providers.anthropic]\nkind = 'anthropic'\n\
         [providers.local]\nkind = 'openai-chat'\nbase_url = 'http://127.0.0.1:1/v1'\n\
         [mcp_servers.git]\ncommand = 'git-mcp'\n[tools.shell]\ntimeout_s = 9\n[tools.fetch]\nenabled = true\n\
         [run]\nmax_tool_rounds = 1000\nescalation_cooldown_s = 0\n\
         [history]\nkeep = 50\n[lint]\npart_tokens = 900\n\
         [telemetry]\nendpoint = 'http://127.0.0.1:4318'\n",
    );
    assert_eq!(config.env_allow.iter().collect::<Vec<_>>(), ["TEAM", "USER"]);
    assert_eq!(config.providers.keys().collect::<Vec<_>>(), ["anthropic", "local"]);
    assert_eq!(config.providers["anthropic"], ProviderSettings::new(Kind::Anthropic));
    assert_eq!(config.mcp_servers.keys().collect::<Vec<_>>(), ["git"]);
    assert_eq!((config.shell.timeout_s, config.fetch.map(|fetch| fetch.enabled)), (Some(9), Some(true)));
    assert_eq!((config.max_tool_rounds, config.escalation_cooldown), (Some(1_000), Some(Duration::ZERO)));
    assert_eq!((config.history_keep, config.lint_part_tokens), (Some(50), Some(900)));
    assert_eq!(config.trace_endpoint.as_deref(), Some("http://127.0.0.1:4318"));
    assert_eq!(config.warnings, []);
}

#[test]
fn prices_are_read_by_model() {
    let config = parse(
        "[prices]\n'anthropic/claude-4.5' = { input = 3, output = 15.5, cache_read = 0.3 }\n\
         'local/x' = { input = 0, output = 0 }\n",
    );
    let cost = |model: &str, output_tokens| {
        let usage = llm::Usage { output_tokens, ..llm::Usage::default() };
        config.prices.cost(&model.parse().expect("a model"), usage)
    };
    assert_eq!(cost("anthropic/claude-4.5", 2_000_000), Some(31.0));
    assert_eq!(cost("local/x", 2_000_000), Some(0.0));
    assert_eq!(cost("local/y", 2_000_000), None);
}

#[test]
fn a_wrong_price_has_its_place() {
    for line in [
        "'gpt-4.1' = { input = 1, output = 1 }",
        "'a/gpt-4.1' = { input = -1, output = 1 }",
        "'a/gpt-4.1' = { input = 1, output = 1, cached = 1 }",
        "'a/gpt-4.1' = { input = 1 }",
    ] {
        let told = refusal(&format!("[prices]\n\n{line}\n"));
        assert!(told.contains("config.toml:3:"), "{line}: {told}");
    }
}

#[test]
fn all_settings_are_optional() {
    assert_eq!(parse(""), Config::default());
    let missing = Config::read(Path::new("/nowhere/at/all/config.toml"));
    assert_eq!(missing.expect("a missing file sets nothing"), Config::default());
}

#[test]
fn a_disabled_tool_is_not_set() {
    assert_eq!(parse("[tools.fetch]\nenabled = false\n"), Config::default());
}

fn texts(text: &str) -> Vec<String> {
    parse(text).warnings.iter().map(Warning::text).collect()
}

#[test]
fn an_unknown_key_is_a_warning_with_its_place() {
    assert_eq!(
        texts("[env]\nallow = []\n[providers_.x]\n[histroy]\nkeep = 3\n"),
        [
            "config.toml:4:2: unknown key \"histroy\" has no effect; did you mean \"history\"?",
            "config.toml:3:2: unknown key \"providers_\" has no effect; did you mean \"providers\"?",
        ]
    );
    assert_eq!(
        texts("[tools.shel]\n[run]\nmax_rounds = 3\n"),
        [
            "config.toml:3:1: unknown key \"max_rounds\" has no effect; did you mean \"max_tool_rounds\"?",
            "config.toml:1:8: unknown key \"shel\" has no effect; did you mean \"shell\"?",
        ]
    );
    assert_eq!(
        texts("[env]\nalow = [\"A\"]\n"),
        ["config.toml:2:1: unknown key \"alow\" has no effect; did you mean \"allow\"?"]
    );
    for (unread, hint) in [
        ("zebra = 1\n", "expected one of env, providers, prices"),
        ("[zebras]\na = 1\n", "expected one of env, providers, prices"),
        ("[server]\naddr = '127.0.0.1:1'\n", "did you mean \"mcp_servers\"?"),
    ] {
        let warnings = texts(unread);
        assert!(warnings[0].contains(hint), "{warnings:?}");
    }
}

#[test]
fn a_broken_file_is_an_error_with_its_place() {
    let message = refusal("[env]\nallow = [\"A\"\n");
    assert!(message.starts_with("config.toml:"), "{message}");
    let message = refusal("[history]\nkeep = \"many\"\n");
    assert!(message.starts_with("config.toml:2:8: "), "{message}");
    let message = refusal("[history]\nkeep = -1\n");
    assert!(message.starts_with("config.toml:2:8: "), "{message}");
    assert!(refusal("[history]\nkeep = 0\n").starts_with("config.toml:2:8: history.keep must be at least 1"));
    assert!(refusal("env = 3\n").starts_with("config.toml:1:7: "));
    assert!(refusal("[providers]\nanthropic = 3\n").starts_with("config.toml:2:13: "));
}

#[test]
fn an_error_has_its_line_and_a_hint() {
    for (text, expected) in [
        (
            "[env]\nallow = \"TEAM\"\n",
            "config.toml:2:9: expected a list, found a text\n  2 | allow = …\n    |         ^ put it in brackets: [\"…\"]",
        ),
        (
            "[history]\nkeep = \"3\"\n",
            "config.toml:2:8: expected a whole number, 0 or more, found a text\n  2 | keep = …\n    \
             |        ^ write it without quotes",
        ),
        (
            "[history]\nkeep = -1\n",
            "config.toml:2:8: expected a whole number, 0 or more, found -1\n  2 | keep = -1\n    |        ^",
        ),
        (
            "[mcp_servers.git]\ncommand = 3\n",
            "config.toml:2:11: expected a text, found 3\n  2 | command = 3\n    |           ^ put it in quotes",
        ),
        (
            "[providers.far]\nkind = 'gemini'\nheaders = []\n",
            "config.toml:3:11: expected a table, found a list\n  3 | headers = …\n    \
             |           ^ put it in braces: { key = \"…\" }",
        ),
        (
            "[tools.fetch]\nenable = true\n",
            "config.toml:2:1: unknown key \"enable\"\n  2 | enable = true\n    | ^ did you mean \"enabled\"?",
        ),
        (
            "[providers.far]\nmodels = []\n",
            "config.toml:1:1: kind is missing\n  1 | [providers.far]\n    | ^ add kind = …",
        ),
        (
            "[history\nkeep = 3\n",
            "config.toml:1:9: not valid TOML: unclosed table, expected `]`\n  1 | [history\n    |         ^",
        ),
    ] {
        assert_eq!(refusal(text), expected);
    }
}

#[test]
fn an_invalid_setting_is_an_error_with_its_place() {
    for (text, start) in [
        ("[providers.far]\nkind = 'claude'\n", "config.toml:2:8: unknown kind \"claude\""),
        ("[providers.far]\nkind = 'gemini'\ncolour = 1\n", "config.toml:3:1: unknown key \"colour\""),
        ("[providers.far]\nbase_url = 'x'\n", "config.toml:1:1: kind is missing"),
        (
            "[providers.far]\nkind = 'gemini'\n  base_url = 'ftp://x'\n",
            "config.toml:3:3: providers.far.base_url: the URL must begin with",
        ),
        ("[mcp_servers.git]\ncommand = 'x'\nurl = 'http://x'\n", "config.toml:1:1: a server has either"),
        ("[mcp_servers.git]\ncomand = 'x'\n", "config.toml:2:1: unknown key \"comand\""),
        (
            "[tools.shell]\ntimeout_s = 601\n",
            "config.toml:2:13: tools.shell.timeout_s must be a number from 1 to 600",
        ),
        ("[tools.fetch]\nenable = true\n", "config.toml:2:1: unknown key \"enable\""),
        (
            "[run]\nmax_tool_rounds = 0\n",
            "config.toml:2:19: run.max_tool_rounds must be a number from 1 to 1000",
        ),
        ("[run]\nmax_tool_rounds = 1001\n", "config.toml:2:19: run.max_tool_rounds"),
        ("[run]\nescalation_cooldown_s = 86401\n", "config.toml:2:25: run.escalation_cooldown_s"),
        ("[lint]\npart_tokens = 0\n", "config.toml:2:15: lint.part_tokens must be at least 1"),
        (
            "[telemetry]\nendpoint = 'localhost:4318'\n",
            "config.toml:2:12: telemetry.endpoint: expected an address",
        ),
    ] {
        let message = refusal(text);
        assert!(message.starts_with(start), "{text}\n{message}");
    }
}

#[test]
fn a_secret_is_neither_shown_nor_repeated() {
    let config = parse(
        "[providers.far]\nkind = 'gemini'\nheaders = { x-key = 's3cret' }\nproxy = 'http://me:s3cret@x'\n\
         [mcp_servers.git]\ncommand = 'x'\nargs = ['s3cret']\nenv = { KEY = 's3cret' }\n",
    );
    assert!(!format!("{config:?}").contains("s3cret"));
    for text in [
        "[providers.far]\nkind = 'gemini'\nheaders = 's3cret'\n",
        "[providers.far]\nkind = 'gemini'\napi_key_env = 'sk-s3cret'\n",
        "[mcp_servers.git]\ncommand = 'x'\nenv = 's3cret\", expected '\n",
    ] {
        let message = refusal(text);
        assert!(message.starts_with("config.toml:3:") && !message.contains("s3cret"), "{message}");
    }
}

/// The blocks of TOML in the documentation.
fn documented() -> impl Iterator<Item = &'static str> {
    let blocks = DOCUMENTATION.split("\n```").skip(1).step_by(2);
    blocks.filter_map(|block| block.strip_prefix("toml\n"))
}

#[test]
fn every_example_of_the_documentation_is_understood() {
    let whole = documented().next().expect("the first example is the whole file");
    for example in documented() {
        assert_eq!(parse(example).warnings, []);
    }
    // The commented settings are valid too.
    let lines = whole.lines().map(|line| match line.strip_prefix("#") {
        Some(setting) if !setting.starts_with(' ') => setting,
        _ => line,
    });
    let uncommented = lines.collect::<Vec<_>>().join("\n");
    let config = parse(&uncommented);
    assert_eq!(config.warnings, []);
    for (table, known) in super::KNOWN {
        assert!(uncommented.contains(&format!("[{table}")), "the example has no [{table}]");
        for key in known.unwrap_or_default() {
            assert!(uncommented.contains(key), "the example has no {key}");
        }
    }
}

/// The fields that a type reads, as it says itself.
fn fields_of<T: DeserializeOwned>() -> BTreeSet<String> {
    let said = match toml::from_str::<T>("no_such_field = 1") {
        Err(error) => error.message().to_owned(),
        Ok(_) => panic!("every field is taken"),
    };
    said.split('`').skip(1).step_by(2).filter(|field| *field != "no_such_field").map(str::to_owned).collect()
}

#[test]
fn the_documentation_and_the_schema_of_files_have_every_field() {
    let schema = app::json_schema();
    for (table, fields) in
        [("providers", fields_of::<ProviderSettings>()), ("mcp_servers", fields_of::<ServerSettings>())]
    {
        let entry = &schema["properties"][table]["additionalProperties"]["properties"];
        let known: BTreeSet<String> = entry.as_object().expect("fields").keys().cloned().collect();
        assert_eq!(known, fields, "{table}");
        for field in fields {
            assert!(DOCUMENTATION.contains(&format!("`{field}`")), "{table}: {field} is not documented");
        }
    }
}

#[test]
fn personas_and_settings_agree_about_rounds() {
    assert_eq!(persona::limits::TOOL_ROUNDS, agent::limits::MOST_TOOL_ROUNDS);
}
