//! The shapes of keys of well-known services.

/// A key with a known prefix.
pub(super) struct Shape {
    pub(super) what: &'static str,
    pub(super) prefix: &'static str,
    pub(super) alphabet: Alphabet,
    /// Characters after the prefix.
    pub(super) least: usize,
    pub(super) most: usize,
}

/// The characters of a key after its prefix.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Alphabet {
    /// Letters and digits.
    Alphanumeric,
    /// Letters, with or without digits.
    Letters,
    /// Capital letters and digits.
    Capitals,
    Hexadecimal,
    /// Letters, digits, "-" and "_".
    UrlSafe,
    /// The same, with a long run of letters and digits, since hyphens also join words.
    UrlSafeWithRun,
    /// The same with dots.
    Dotted,
    /// Letters and digits, and slashes between them.
    Path,
}

impl Alphabet {
    pub(super) const fn has(self, byte: u8) -> bool {
        match self {
            Self::Alphanumeric | Self::Letters => byte.is_ascii_alphanumeric(),
            Self::Capitals => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Self::Hexadecimal => byte.is_ascii_hexdigit(),
            Self::UrlSafe | Self::UrlSafeWithRun => {
                byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')
            }
            Self::Dotted => byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'),
            Self::Path => byte.is_ascii_alphanumeric() || byte == b'/',
        }
    }
}

/// The longest key; a longer run is data.
pub(super) const LONGEST: usize = 512;

const fn shape(
    what: &'static str,
    prefix: &'static str,
    alphabet: Alphabet,
    least: usize,
    most: usize,
) -> Shape {
    Shape { what, prefix, alphabet, least, most }
}

use Alphabet::{Alphanumeric, Capitals, Dotted, Hexadecimal, Letters, Path, UrlSafe, UrlSafeWithRun};

/// The longer of two prefixes comes first.
pub(super) const SHAPES: &[Shape] = &[
    shape("an Anthropic key", "sk-ant-", UrlSafeWithRun, 20, LONGEST),
    shape("an OpenRouter key", "sk-or-", UrlSafeWithRun, 20, LONGEST),
    shape("an OpenAI key", "sk-", UrlSafeWithRun, 20, LONGEST),
    shape("a Stripe key", "sk_live_", Alphanumeric, 16, LONGEST),
    shape("a Stripe key", "rk_live_", Alphanumeric, 16, LONGEST),
    shape("a Groq key", "gsk_", Alphanumeric, 40, LONGEST),
    shape("an xAI key", "xai-", UrlSafeWithRun, 40, LONGEST),
    shape("a Perplexity key", "pplx-", Alphanumeric, 40, LONGEST),
    shape("an NVIDIA key", "nvapi-", UrlSafeWithRun, 40, LONGEST),
    shape("a Google key", "AIza", UrlSafe, 35, 35),
    shape("a Google token", "ya29.", UrlSafe, 30, LONGEST),
    shape("a Google client secret", "GOCSPX-", UrlSafe, 28, 28),
    shape("a GitHub token", "github_pat_", UrlSafe, 22, LONGEST),
    shape("a GitHub token", "ghp_", Alphanumeric, 36, LONGEST),
    shape("a GitHub token", "gho_", Alphanumeric, 36, LONGEST),
    shape("a GitHub token", "ghu_", Alphanumeric, 36, LONGEST),
    shape("a GitHub token", "ghs_", Alphanumeric, 36, LONGEST),
    shape("a GitHub token", "ghr_", Alphanumeric, 36, LONGEST),
    shape("a GitLab token", "glpat-", Dotted, 20, LONGEST),
    shape("a Slack token", "xoxa-", UrlSafeWithRun, 20, LONGEST),
    shape("a Slack token", "xoxb-", UrlSafeWithRun, 20, LONGEST),
    shape("a Slack token", "xoxc-", UrlSafeWithRun, 20, LONGEST),
    shape("a Slack token", "xoxd-", UrlSafeWithRun, 20, LONGEST),
    shape("a Slack token", "xoxe-", UrlSafeWithRun, 20, LONGEST),
    shape("a Slack token", "xoxp-", UrlSafeWithRun, 20, LONGEST),
    shape("a Slack token", "xoxr-", UrlSafeWithRun, 20, LONGEST),
    shape("a Slack token", "xoxs-", UrlSafeWithRun, 20, LONGEST),
    shape("a Slack token", "xapp-", UrlSafeWithRun, 20, LONGEST),
    shape("a Slack webhook", "hooks.slack.com/services/", Path, 40, LONGEST),
    shape("an AWS key", "AKIA", Capitals, 16, 16),
    shape("an AWS key", "ASIA", Capitals, 16, 16),
    shape("an npm token", "npm_", Alphanumeric, 36, LONGEST),
    shape("a PyPI token", "pypi-", UrlSafe, 50, LONGEST),
    shape("a crates.io token", "cio", Alphanumeric, 32, 32),
    shape("a Hugging Face token", "hf_", Letters, 30, LONGEST),
    shape("a Replicate token", "r8_", Alphanumeric, 37, 37),
    shape("a SendGrid key", "SG.", Dotted, 60, LONGEST),
    shape("a DigitalOcean token", "dop_v1_", Hexadecimal, 64, 64),
    shape("a Docker token", "dckr_pat_", UrlSafe, 27, LONGEST),
    shape("a Vault token", "hvs.", UrlSafe, 60, LONGEST),
    shape("a Grafana token", "glsa_", UrlSafe, 41, LONGEST),
    shape("an Atlassian token", "ATATT3", UrlSafe, 60, LONGEST),
    shape("a Notion token", "ntn_", Alphanumeric, 40, LONGEST),
    shape("a Shopify token", "shpat_", Hexadecimal, 32, 32),
    shape("a Linear key", "lin_api_", Alphanumeric, 32, LONGEST),
    shape("an age key", "AGE-SECRET-KEY-1", Capitals, 50, LONGEST),
];

/// Marks the bytes that begin one of the shapes, or a JSON web token.
pub(super) const fn first_bytes() -> [bool; 256] {
    let mut first = [false; 256];
    let mut at = 0;
    while at < SHAPES.len() {
        first[SHAPES[at].prefix.as_bytes()[0] as usize] = true;
        at += 1;
    }
    first[b'e' as usize] = true;
    first
}
