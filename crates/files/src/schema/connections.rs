//! The tables that name MCP servers and providers. Other crates read them, so their fields are listed
//! here; a test beside those readers compares the two.

use serde_json::{Map, Value, json};

type Field = (&'static str, fn() -> Value, &'static str);

const SERVER: &[Field] = &[
    ("command", text, "The program to start, which speaks MCP over its standard input and output."),
    ("args", texts, "The program's arguments."),
    ("env", text_by_name, "Variables that the program gets, with their values."),
    ("env_pass", texts, "Names of your variables that the program gets, in addition to harmless ones."),
    ("cwd", text, "The directory that the program starts in, relative to this file; the project by default."),
    ("url", text, "The address of a server that runs already, in place of a program."),
    ("headers", text_by_name, "Headers of every request to that address."),
    ("headers_env", text_by_name, "Headers with values of your variables: header to variable."),
    ("startup_timeout_s", seconds, "Seconds that it has to start and to list its tools; 30 by default."),
    ("call_timeout_s", seconds, "Seconds that one call of a tool may take; 120 by default."),
    ("enabled", switch, "Whether it is used at all."),
    ("allow_tools", texts, "The tools to use, as patterns with `*`; all of them by default."),
    ("deny_tools", texts, "Tools that are not used, as patterns with `*`; stronger than `allow_tools`."),
    (
        "trust_hints",
        switch,
        "Counts in your own config.toml only: tools that it marks as read-only run unasked.",
    ),
];

const PROVIDER: &[Field] = &[
    ("kind", kind, "The protocol that it speaks."),
    ("base_url", text, "Where it is; by default, where the protocol's inventor serves it."),
    ("api_key_env", text, "The name of the variable that holds the key."),
    ("headers", text_by_name, "Headers of every request."),
    ("headers_env", text_by_name, "Headers with values of your variables: header to variable."),
    ("connect_timeout_s", seconds, "Timeout for connecting, in seconds; 10 by default."),
    (
        "idle_timeout_s",
        seconds,
        "Seconds before the first piece of an answer and between two; 300 by default.",
    ),
    ("timeout_s", seconds, "Seconds for a whole call; 3,600 by default."),
    ("max_concurrent", count, "Requests at the same time; the others wait."),
    ("context_tokens", count, "How many tokens its models hold, where that is not known."),
    ("max_output_tokens", count, "The maximum tokens of an answer, unless a request sets its own."),
    ("reasoning_items", switch, "Whether to ask for a model's reasoning and to send it back."),
    ("ca_file", text, "A PEM file with certificate authorities to trust, in addition to the system's."),
    ("proxy", text, "A proxy in place of the environment's, or `none`."),
    ("models", texts, "The models to offer, the usual one first."),
];

pub(super) fn tables() -> impl Iterator<Item = (String, Value)> {
    let trusted = "They count only where the user trusts the project, with `masque trust`.";
    let servers = format!("MCP servers whose tools personas may use. {trusted}");
    let providers = format!("Providers of models. {trusted}");
    [
        ("mcp_servers".to_owned(), table(&servers, &entry(SERVER, &[]))),
        ("providers".to_owned(), table(&providers, &entry(PROVIDER, &["kind"]))),
    ]
    .into_iter()
}

fn table(about: &str, entry: &Value) -> Value {
    json!({ "description": about, "type": "object", "additionalProperties": entry })
}

fn entry(fields: &[Field], required: &[&str]) -> Value {
    let mut properties = Map::new();
    for (name, schema, about) in fields {
        let mut schema = schema();
        schema["description"] = json!(about);
        properties.insert((*name).to_owned(), schema);
    }
    let mut entry = json!({ "type": "object", "properties": properties, "additionalProperties": false });
    if !required.is_empty() {
        entry["required"] = json!(required);
    }
    entry
}

fn text() -> Value {
    json!({ "type": "string" })
}

fn texts() -> Value {
    json!({ "type": "array", "items": { "type": "string" } })
}

fn text_by_name() -> Value {
    json!({ "type": "object", "additionalProperties": { "type": "string" } })
}

fn seconds() -> Value {
    json!({ "type": "integer", "minimum": 1 })
}

fn count() -> Value {
    json!({ "type": "integer", "minimum": 1 })
}

fn switch() -> Value {
    json!({ "type": "boolean", "default": true })
}

fn kind() -> Value {
    json!({ "type": "string", "enum": ["anthropic", "openai-responses", "openai-chat", "gemini"] })
}
