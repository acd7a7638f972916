//! The context windows of well-known models.

/// By the beginning of the name; the first that fits.
const KNOWN: [(&str, u32); 17] = [
    ("claude-2", 100_000),
    ("claude-", 200_000),
    ("gpt-5-chat", 128_000),
    ("gpt-5", 400_000),
    ("gpt-4.1", 1_047_576),
    ("gpt-4o", 128_000),
    ("gpt-4-turbo", 128_000),
    ("gpt-4-1106", 128_000),
    ("gpt-4", 8_192),
    ("gpt-3.5", 16_385),
    ("o1-mini", 128_000),
    ("o1-preview", 128_000),
    ("o1", 200_000),
    ("o3", 200_000),
    ("o4", 200_000),
    ("gemini-1.5-pro", 2_097_152),
    ("gemini-", 1_048_576),
];

/// Gateways put the maker in front of the name: `maker/model`.
pub(crate) fn by_name(model: &str) -> Option<u32> {
    let name = model.rsplit('/').next().unwrap_or(model);
    KNOWN.iter().find(|(prefix, _)| name.starts_with(prefix)).map(|(_, tokens)| *tokens)
}

#[cfg(test)]
mod tests {
    use super::by_name;

    #[test]
    fn well_known_models() {
        for (model, tokens) in [
            ("claude-sonnet-4-5", Some(200_000)),
            ("anthropic/claude-opus-4-1", Some(200_000)),
            ("gpt-5-mini", Some(400_000)),
            ("gpt-5-chat-latest", Some(128_000)),
            ("gpt-4.1-nano", Some(1_047_576)),
            ("gpt-4o-mini", Some(128_000)),
            ("gpt-4", Some(8_192)),
            ("gpt-4-turbo-preview", Some(128_000)),
            ("o3-mini", Some(200_000)),
            ("o1-mini", Some(128_000)),
            ("models/gemini-2.5-pro", Some(1_048_576)),
            ("gpt-oss:20b", None),
            ("qwen2.5-coder", None),
            ("", None),
        ] {
            assert_eq!(by_name(model), tokens, "{model}");
        }
    }
}
