//! `[mcp_servers.NAME]` of the user's settings.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use http::{HeaderName, HeaderValue};
use serde::Deserialize;

use crate::limits;

/// The connection to a server, and the tools to use.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Raw")]
pub struct ServerSettings {
    pub transport: Transport,
    pub startup_timeout: Duration,
    pub call_timeout: Duration,
    pub enabled: bool,
    /// Patterns with `*` for the server's own tool names. Empty: all.
    pub allow_tools: Vec<String>,
    /// Beats `allow_tools`.
    pub deny_tools: Vec<String>,
    /// True if a tool that the server marks as read-only runs unasked.
    pub trust_hints: bool,
}

#[derive(Clone, PartialEq, Eq)]
pub enum Transport {
    /// A program that speaks over its standard input and output.
    Stdio {
        command: String,
        args: Vec<String>,
        env: BTreeMap<String, String>,
        /// Names of our own variables that it gets, in addition to harmless ones.
        env_pass: Vec<String>,
        cwd: Option<PathBuf>,
    },
    /// A server that is already running.
    Http {
        url: String,
        headers: BTreeMap<String, String>,
        /// Header → name of the variable that holds its value.
        headers_env: BTreeMap<String, String>,
    },
}

/// Values may be secrets; their names are not.
impl fmt::Debug for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stdio { command, env, env_pass, cwd, .. } => f
                .debug_struct("Stdio")
                .field("command", command)
                .field("env", &env.keys())
                .field("env_pass", env_pass)
                .field("cwd", cwd)
                .finish_non_exhaustive(),
            Self::Http { headers, headers_env, .. } => f
                .debug_struct("Http")
                .field("headers", &headers.keys())
                .field("headers_env", headers_env)
                .finish_non_exhaustive(),
        }
    }
}

impl ServerSettings {
    pub fn new(transport: Transport) -> Self {
        Self {
            transport,
            startup_timeout: limits::SERVER_START_TIME,
            call_timeout: limits::SERVER_CALL_TIME,
            enabled: true,
            allow_tools: Vec::new(),
            deny_tools: Vec::new(),
            trust_hints: false,
        }
    }

    pub(crate) fn admits(&self, tool: &str) -> bool {
        let named = |patterns: &[String]| patterns.iter().any(|pattern| matches(pattern, tool));
        !named(&self.deny_tools) && (self.allow_tools.is_empty() || named(&self.allow_tools))
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    command: Option<String>,
    args: Option<Vec<String>>,
    env: Option<BTreeMap<String, String>>,
    env_pass: Option<Vec<String>>,
    cwd: Option<PathBuf>,
    url: Option<String>,
    headers: Option<BTreeMap<String, String>>,
    headers_env: Option<BTreeMap<String, String>>,
    startup_timeout_s: Option<u64>,
    call_timeout_s: Option<u64>,
    #[serde(default = "yes")]
    enabled: bool,
    #[serde(default)]
    allow_tools: Vec<String>,
    #[serde(default)]
    deny_tools: Vec<String>,
    #[serde(default)]
    trust_hints: bool,
}

fn yes() -> bool {
    true
}

impl TryFrom<Raw> for ServerSettings {
    type Error = String;

    fn try_from(mut raw: Raw) -> Result<Self, String> {
        let startup_timeout = time("startup_timeout_s", raw.startup_timeout_s, limits::SERVER_START_TIME)?;
        let call_timeout = time("call_timeout_s", raw.call_timeout_s, limits::SERVER_CALL_TIME)?;
        let (enabled, allow_tools, deny_tools) =
            (raw.enabled, std::mem::take(&mut raw.allow_tools), std::mem::take(&mut raw.deny_tools));
        let trust_hints = raw.trust_hints;
        let transport = match (raw.command.take(), raw.url.take()) {
            (Some(command), None) => stdio(command, raw)?,
            (None, Some(url)) => http(url, raw)?,
            (Some(_), Some(_)) => return Err("a server has either command or url, not both".to_owned()),
            (None, None) => return Err("a server needs command or url".to_owned()),
        };
        Ok(Self { transport, startup_timeout, call_timeout, enabled, allow_tools, deny_tools, trust_hints })
    }
}

fn stdio(command: String, raw: Raw) -> Result<Transport, String> {
    if raw.headers.is_some() || raw.headers_env.is_some() {
        return Err("headers and headers_env belong to a server with url".to_owned());
    }
    if command.trim().is_empty() {
        return Err("command is empty".to_owned());
    }
    let env = raw.env.unwrap_or_default();
    if let Some(name) = env.keys().find(|name| name.is_empty() || name.contains(['=', '\0'])) {
        return Err(format!("invalid variable name {name:?} in env"));
    }
    Ok(Transport::Stdio {
        command,
        args: raw.args.unwrap_or_default(),
        env,
        env_pass: raw.env_pass.unwrap_or_default(),
        cwd: raw.cwd,
    })
}

fn http(url: String, raw: Raw) -> Result<Transport, String> {
    if raw.args.is_some() || raw.env.is_some() || raw.env_pass.is_some() || raw.cwd.is_some() {
        return Err("args, env, env_pass and cwd belong to a server with command".to_owned());
    }
    let parsed = reqwest::Url::parse(&url).map_err(|error| format!("url cannot be read: {error}"))?;
    if !matches!(parsed.scheme(), "http" | "https") {
        return Err("url must begin with https:// or http://".to_owned());
    }
    let (headers, headers_env) = (raw.headers.unwrap_or_default(), raw.headers_env.unwrap_or_default());
    for name in headers.keys().chain(headers_env.keys()) {
        HeaderName::try_from(name).map_err(|_| format!("invalid header name {name:?}"))?;
    }
    for (name, value) in &headers {
        HeaderValue::try_from(value)
            .map_err(|_| format!("the value of header {name} has characters that none may have"))?;
    }
    Ok(Transport::Http { url, headers, headers_env })
}

fn time(name: &str, seconds: Option<u64>, default: Duration) -> Result<Duration, String> {
    let Some(seconds) = seconds else { return Ok(default) };
    let most = limits::MOST_SERVER_TIME.as_secs();
    if seconds == 0 || seconds > most {
        return Err(format!("{name} must be between 1 and {most}"));
    }
    Ok(Duration::from_secs(seconds))
}

/// True if a pattern matches a whole name. `*` matches anything.
pub(crate) fn matches(pattern: &str, name: &str) -> bool {
    let mut pieces = pattern.split('*');
    let first = pieces.next().unwrap_or_default();
    let Some(mut rest) = name.strip_prefix(first) else { return false };
    let mut pieces: Vec<&str> = pieces.collect();
    let Some(last) = pieces.pop() else { return rest.is_empty() };
    for piece in pieces {
        match rest.find(piece) {
            Some(at) => rest = &rest[at + piece.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{ServerSettings, matches};

    fn parsed(value: Value) -> Result<ServerSettings, String> {
        serde_json::from_value(value).map_err(|error| error.to_string())
    }

    #[test]
    fn either_a_command_or_an_address() {
        let settings =
            parsed(json!({ "command": "npx", "args": ["-y", "x"], "call_timeout_s": 5 })).expect("valid");
        assert_eq!((settings.call_timeout.as_secs(), settings.startup_timeout.as_secs()), (5, 30));
        assert!(settings.enabled);
        parsed(json!({ "url": "http://localhost:1/mcp", "headers_env": { "Authorization": "X" } }))
            .expect("valid");
        for (value, expected) in [
            (json!({}), "a server needs command or url"),
            (json!({ "command": "a", "url": "http://b" }), "not both"),
            (json!({ "command": "a", "headers": {} }), "belong to a server with url"),
            (json!({ "url": "http://b", "env": {} }), "belong to a server with command"),
            (json!({ "url": "file:///etc" }), "must begin with https://"),
            (json!({ "url": "nowhere" }), "url cannot be read"),
            (json!({ "command": " " }), "command is empty"),
            (json!({ "command": "a", "startup_timeout_s": 0 }), "between 1 and 3600"),
            (json!({ "command": "a", "comand": "b" }), "unknown field `comand`"),
            (json!({ "url": "http://b", "headers": { "a b": "c" } }), "invalid header name"),
        ] {
            let error = parsed(value).expect_err(expected);
            assert!(error.contains(expected), "{error}");
        }
    }

    #[test]
    fn values_that_may_be_secret_are_not_shown() {
        let settings = parsed(json!({ "command": "a", "args": ["--key=s3cret"], "env": { "K": "s3cret" } }));
        assert!(!format!("{settings:?}").contains("s3cret"));
        let settings = parsed(json!({ "url": "http://u:s3cret@b", "headers": { "k": "s3cret" } }));
        assert!(!format!("{settings:?}").contains("s3cret"));
    }

    #[test]
    fn patterns() {
        for (pattern, name, expected) in [
            ("read", "read", true),
            ("read", "reads", false),
            ("*", "", true),
            ("get_*", "get_issue", true),
            ("*_issue", "get_issue", true),
            ("*a*a", "a", false),
            ("*a*a", "aa", true),
            ("a*b*c", "a-b-b-c", true),
            ("a*b*c", "a-c-b", false),
        ] {
            assert_eq!(matches(pattern, name), expected, "{pattern} {name}");
        }
    }
}
