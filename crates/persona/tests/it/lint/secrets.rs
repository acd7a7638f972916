//! Secrets by their shape. None of these was ever valid: they are made up here, in pieces, so
//! that no scanner takes this file for a leak.

use persona::lint::{LintSettings, Rule};
use serde_json::json;

use super::{Shelf, check_text, in_text, of_rule};

/// Letters and digits without order, as many as asked for.
fn random(length: usize) -> String {
    const LETTERS: &[u8] = b"k7Qz2LmXw9RbT4vNc8Yd1HsJ6gPf3UaE5tKo0iBqZxWyGhVjSr";
    (0..length).map(|at| char::from(LETTERS[(at * 17 + at / 50 * 7) % LETTERS.len()])).collect()
}

fn hexadecimal(length: usize) -> String {
    const DIGITS: &[u8] = b"3f9a01c7e5d2b846";
    (0..length).map(|at| char::from(DIGITS[(at * 5 + at / 16 * 3) % DIGITS.len()])).collect()
}

/// Asserts that something is found as one secret, and that no message gives it away.
#[track_caller]
fn check_secret(text: &str, what: &str) {
    let found = of_rule(Rule::Secret, text);
    assert_eq!(found.len(), 1, "{text:?}: {found:?}");
    assert!(found[0].message.contains(what), "{text:?}: {}", found[0]);
    for finding in in_text(text) {
        let line = finding.to_string();
        let longest =
            text.split(|c: char| !c.is_ascii_alphanumeric()).max_by_key(|run| run.len()).unwrap_or_default();
        assert!(!line.contains(&longest[..longest.len().min(8)]) || longest.len() < 8, "{line}");
    }
}

#[track_caller]
fn check_none(text: &str) {
    check_text(Rule::Secret, text, &[]);
}

#[test]
fn keys_of_known_services_are_found() {
    for (key, what) in [
        (format!("sk-ant-api03-{}", random(90)), "an Anthropic key"),
        (format!("sk-or-v1-{}", hexadecimal(64)), "an OpenRouter key"),
        (format!("sk-{}", random(48)), "an OpenAI key"),
        (format!("sk-proj-{}", random(100)), "an OpenAI key"),
        (format!("sk_live_{}", random(24)), "a Stripe key"),
        (format!("gsk_{}", random(52)), "a Groq key"),
        (format!("AIza{}", random(35)), "a Google key"),
        (format!("ghp_{}", random(36)), "a GitHub token"),
        (format!("github_pat_{}_{}", random(22), random(59)), "a GitHub token"),
        (format!("glpat-{}", random(20)), "a GitLab token"),
        (format!("xoxb-{}-{}", "2140583976021", random(24)), "a Slack token"),
        (format!("xoxp-{}-{}", "2140583976021", random(24)), "a Slack token"),
        (format!("xoxb-123456789012-{}", random(24)), "a Slack token"),
        (format!("xoxa-{}", random(30)), "a Slack token"),
        (format!("AKIA{}", random(16).to_uppercase()), "an AWS key"),
        (format!("npm_{}", random(36)), "an npm token"),
        (format!("hf_{}", random(34)), "a Hugging Face token"),
        (format!("dop_v1_{}", hexadecimal(64)), "a DigitalOcean token"),
        (format!("GOCSPX-{}", random(28)), "a Google client secret"),
        (format!("xapp-1-A02-{}-{}", "2140583976021", hexadecimal(64)), "a Slack token"),
        (format!("hvs.{}", random(90)), "a Vault token"),
    ] {
        check_secret(&key, what);
        check_secret(&format!("Use {key}, please."), what);
        check_secret(&format!("key=\"{key}\"\n"), what);
        check_secret(&format!("`{key}`"), what);
    }
}

#[test]
fn keys_without_digits_or_runs_are_found() {
    let letters: String = random(80).chars().filter(char::is_ascii_alphabetic).collect();
    check_secret(&format!("AKIA{}", letters[..16].to_uppercase()), "an AWS key");
    check_secret(&format!("hf_{}", &letters[..34]), "a Hugging Face token");
    let hyphens: Vec<String> =
        random(90).as_bytes().chunks(9).map(|it| String::from_utf8_lossy(it).into()).collect();
    check_secret(&format!("sk-ant-api03-{}", hyphens.join("-")), "an Anthropic key");
    let hook = format!("https://hooks.slack.com/services/T02ABCDEF/B02GHIJKL/{}", random(24));
    assert_eq!(of_rule(Rule::Secret, &hook).len(), 1);
}

#[test]
fn tokens_keys_and_passwords_are_found_by_their_form() {
    let web_token = format!("eyJ{}.eyJ{}.{}", random(30), random(60), random(43));
    check_secret(&web_token, "a JSON web token");
    check_secret(&format!("Authorization: Bearer {web_token}"), "a JSON web token");
    check_secret(&format!("Authorization: Bearer {}", random(32)), "a credential");
    check_secret(&format!("curl -H 'authorization: token {}'", random(32)), "a credential");
    check_secret(&format!("\"Authorization\": \"Basic {}\"", random(24)), "a credential");
    let body = [random(64), random(64), random(20)].join("\n");
    for title in ["PRIVATE KEY", "RSA PRIVATE KEY", "OPENSSH PRIVATE KEY", "ENCRYPTED PRIVATE KEY"] {
        let block = format!("-----BEGIN {title}-----\n{body}\n-----END {title}-----\n");
        check_secret(&block, "a private key");
        check_secret(&block.replace('\n', "\\n"), "a private key");
    }
    check_secret("postgres://app:hunter2@db.internal/app", "a password in an address");
    check_secret("redis://:s3cr3t@localhost:6379", "a password in an address");
}

#[test]
fn values_that_are_called_secrets_are_found() {
    let value = random(24);
    for text in [
        format!("password = {value}"),
        format!("PASSWORD: \"{value}\""),
        format!("db_password={value}"),
        format!("api_key = '{value}'"),
        format!("API-KEY: {value},"),
        format!("apiKey: `{value}`"),
        format!("\"client_secret\": \"{value}\""),
        format!("access_token={value}&x=1"),
        format!("secret := {value}"),
        format!("token => {value}"),
    ] {
        check_secret(&text, "a password or token");
    }
    check_secret("password: Tr0ub4dor&3", "a password or token");
    check_secret(&format!("token={}", hexadecimal(32)), "a password or token");
}

#[test]
fn placeholders_are_no_secrets() {
    for text in [
        "sk-...",
        "sk-…",
        "sk-ant-...",
        "sk-ant-api03-...",
        "sk-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "sk-YOUR_KEY_HERE_0123456789abc",
        "sk-0000000000000000000000000000",
        "sk-abcdefghijklmnopqrstuvwxyz123456",
        "xoxb-123456789012-1234567890123-abcdefghijklmnopqrstuvwx",
        "xoxb-not-a-real-token-of-2024",
        "hf_PutTheTokenOfYourAccountHereInstead",
        "hf_putthetokenofthataccounthereinstead",
        "https://hooks.slack.com/services/T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX",
        "sk-<your key>",
        "AKIAIOSFODNN7EXAMPLE",
        "AKIA[0-9A-Z]{16}",
        "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "password = ${env.DB_PASSWORD}",
        "password: ${DB_PASSWORD1}",
        "token: {{ token_1 }}",
        "password=<Password1!>",
        "api_key = YOUR_API_KEY_1",
        "password: ********",
        "password = changeme123A",
        "Authorization: Bearer <token>",
        "Authorization: Bearer ${env.TOKEN}",
        "Authorization: Bearer YOUR_TOKEN_GOES_HERE_1",
        "https://user:password@host/",
        "https://user:${env.PASS}@host/",
        "https://user:<pass>@host/",
        "postgres://user:secret@localhost",
        "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----",
    ] {
        check_none(text);
    }
}

#[test]
fn text_about_secrets_is_not_a_secret() {
    for text in [
        "Never print a password, a token: or a secret.",
        "Refuse anything that begins with -----BEGIN RSA PRIVATE KEY----- or AKIA.",
        "password: at least 12 characters, one digit",
        "token: o200k_base",
        "token: gpt-4o-mini",
        "token=claude-3-5-sonnet-20241022",
        "max_tokens: 4096",
        "tokens: 128000",
        "token: 2024-01-01T00:00:00Z",
        "secret: see https://example.com/Vault2",
        "password = getPassword1()",
        "password = config[\"Key1\"]",
        "sk-learn-from-zero-to-hero-in-3-days-and-more",
        "task-force-alpha-2024-planning-meeting",
        "disk-usage-report-2024-11-05-final",
        "https://example.com:8080/a@b",
        "https://user@host/",
        "mailto:a@b.c",
        "ssh://git@host:22/x",
        "eyJhbGciOiJIUzI1NiJ9",
        "a1b2c3d4e5f60718293a4b5c6d7e8f90",
        "commit 3f9a01c7e5d2b8463f9a01c7e5d2b8463f9a01c7",
    ] {
        check_none(text);
    }
}

#[test]
fn a_message_has_four_characters_at_most() {
    let key = format!("ghp_{}", random(36));
    check_text(Rule::Secret, &format!("see\n  {key}"), &["2:3 | a GitHub token | (ghp_…, 40 characters)"]);
    // A message shows no character of a short secret.
    check_text(Rule::Secret, "password: Tr0ub4dor&3", &["1:11 | a password or token | (…, 11 characters)"]);
}

#[test]
fn two_secrets_are_two_findings() {
    let text = format!("ghp_{} and AIza{}", random(36), random(35));
    assert_eq!(of_rule(Rule::Secret, &text).len(), 2);
}

#[test]
fn expectations_of_a_test_are_searched_too() {
    let input = json!({ "content": "c", "expectations": ["fine", format!("says ghp_{}", random(36))] });
    let found = Shelf::read(&[("project test_input t", input)]).lint(&LintSettings::default());
    let found: Vec<_> = found.iter().map(|it| (it.rule, it.field.as_deref())).collect();
    assert_eq!(found, [(Rule::Secret, Some("expectations[1]"))]);
}

#[test]
fn a_text_full_of_beginnings_is_read_in_time() {
    for piece in [
        "sk-",
        "eyJ-",
        "-----BEGIN PRIVATE KEY-----",
        "-----BEGIN ",
        "password=",
        "a:",
        "=",
        "://a:",
        "${env.",
        "\u{200F}a",
        "а",
    ] {
        // Work that grows with the square of the length would take this test minutes.
        let found = in_text(&piece.repeat(128 * 1024 / piece.len()));
        assert!(found.iter().all(|it| it.rule != Rule::Secret), "{piece:?}: {found:?}");
        assert!(found.len() <= 6, "{piece:?}: {} findings", found.len());
    }
}
