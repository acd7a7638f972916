//! Recorded exchanges with a real provider, in a file.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::limits;

mod difference;
pub(crate) use difference::{Difference, difference};

const VERSION: u32 = 1;

/// A list of exchanges, in the order in which they began.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cassette {
    version: u32,
    #[serde(default, rename = "exchange")]
    pub(crate) exchanges: Vec<Exchange>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Exchange {
    pub(crate) request: RecordedRequest,
    pub(crate) response: RecordedResponse,
}

/// A request, without headers: they hold keys, and clients change them with every release.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RecordedRequest {
    pub(crate) method: String,
    pub(crate) path: String,
    /// Keys are hidden.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) query: String,
    /// Canonical: JSON without spaces, keys sorted. Empty without a body.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) body: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RecordedResponse {
    pub(crate) status: u16,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) content_type: String,
    /// The few other headers that clients act on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) headers: Vec<(String, String)>,
    /// True if the answer was cut off.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(crate) cut: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) chunks: Vec<Chunk>,
}

/// Bytes that arrived together, and when, counted from the request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Chunk {
    pub(crate) at_ms: u64,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    text: String,
    /// Replaces the text if the bytes are not UTF-8, such as half a character.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    base64: String,
}

fn is_false(value: &bool) -> bool {
    !value
}

impl Chunk {
    pub(crate) fn new(at_ms: u64, bytes: &[u8]) -> Self {
        match std::str::from_utf8(bytes) {
            Ok(text) => Self { at_ms, text: text.to_owned(), base64: String::new() },
            Err(_) => Self { at_ms, text: String::new(), base64: STANDARD.encode(bytes) },
        }
    }

    /// The approximate size in a file.
    pub(crate) fn size(&self) -> usize {
        self.text.len() + self.base64.len() + 64
    }

    pub(crate) fn bytes(&self) -> Result<Vec<u8>, base64::DecodeError> {
        match self.base64.as_str() {
            "" => Ok(self.text.clone().into_bytes()),
            encoded => STANDARD.decode(encoded),
        }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum CassetteError {
    #[error("cannot {doing} {}: {source}", path.display())]
    Io { doing: &'static str, path: PathBuf, source: io::Error },
    #[error("{} is not a valid cassette: {message}", path.display())]
    Malformed { path: PathBuf, message: String },
    #[error("{}: a cassette's name ends in .toml or .json", path.display())]
    Name { path: PathBuf },
    #[error("{} has more than {} bytes, which is the most for a cassette", path.display(), limits::CASSETTE_BYTES)]
    TooLarge { path: PathBuf },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    Toml,
    Json,
}

impl Format {
    fn of(path: &Path) -> Result<Self, CassetteError> {
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("toml") => Ok(Self::Toml),
            Some("json") => Ok(Self::Json),
            _ => Err(CassetteError::Name { path: path.to_owned() }),
        }
    }
}

impl Cassette {
    pub(crate) fn new(exchanges: Vec<Exchange>) -> Self {
        Self { version: VERSION, exchanges }
    }

    /// Reads a cassette: TOML or JSON, by its name.
    pub fn read(path: &Path) -> Result<Self, CassetteError> {
        let format = Format::of(path)?;
        let failed = |source| CassetteError::Io { doing: "read", path: path.to_owned(), source };
        let size = fs::metadata(path).map_err(failed)?.len();
        if size > limits::CASSETTE_BYTES as u64 {
            return Err(CassetteError::TooLarge { path: path.to_owned() });
        }
        let text = fs::read_to_string(path).map_err(failed)?;
        let malformed = |message: String| CassetteError::Malformed { path: path.to_owned(), message };
        let cassette: Self = match format {
            Format::Toml => toml::from_str(&text).map_err(|error| malformed(error.to_string()))?,
            Format::Json => serde_json::from_str(&text).map_err(|error| malformed(error.to_string()))?,
        };
        cassette.check().map_err(malformed)?;
        Ok(cassette)
    }

    fn check(&self) -> Result<(), String> {
        if self.version != VERSION {
            return Err(format!("it has version {}, and this program knows version {VERSION}", self.version));
        }
        if self.exchanges.len() > limits::EXCHANGES {
            return Err(format!("it has more than {} exchanges", limits::EXCHANGES));
        }
        for (index, exchange) in self.exchanges.iter().enumerate() {
            let number = index + 1;
            let body = &exchange.request.body;
            if !body.is_empty() && serde_json::from_str::<Value>(body).is_err() {
                return Err(format!("the request of exchange {number} has a body that is not JSON"));
            }
            if !(100..=999).contains(&exchange.response.status) {
                return Err(format!("the status of exchange {number} is none"));
            }
            if exchange.response.chunks.iter().any(|chunk| chunk.bytes().is_err()) {
                return Err(format!("a chunk of exchange {number} is not valid base64"));
            }
        }
        Ok(())
    }

    /// How many exchanges it holds.
    pub fn exchanges(&self) -> usize {
        self.exchanges.len()
    }

    /// Fails if a cassette cannot have this name.
    pub fn check_name(path: &Path) -> Result<(), CassetteError> {
        Format::of(path).map(drop)
    }

    /// Writes a new file beside the old one and renames it into place.
    pub fn write(&self, path: &Path) -> Result<(), CassetteError> {
        let format = Format::of(path)?;
        let failed = |source| CassetteError::Io { doing: "write", path: path.to_owned(), source };
        let text = match format {
            Format::Toml => toml::to_string(self).map_err(io::Error::other),
            Format::Json => serde_json::to_string_pretty(self).map_err(io::Error::other),
        };
        let text = text.map_err(failed)?;
        if text.len() > limits::CASSETTE_BYTES {
            return Err(CassetteError::TooLarge { path: path.to_owned() });
        }
        let mut beside = path.as_os_str().to_owned();
        beside.push(".new");
        let beside = PathBuf::from(beside);
        let write = || {
            let mut file = fs::File::create(&beside)?;
            file.write_all(text.as_bytes())?;
            file.sync_all()?;
            fs::rename(&beside, path)
        };
        write().map_err(failed)
    }
}

/// JSON in the one way in which equal values are equal texts: serde_json's maps are sorted here.
/// Empty for no body; bytes that are not JSON become a JSON text.
pub(crate) fn canonical(body: &[u8]) -> String {
    if body.is_empty() {
        return String::new();
    }
    let value = serde_json::from_slice::<Value>(body);
    value.unwrap_or_else(|_| Value::from(String::from_utf8_lossy(body).into_owned())).to_string()
}
