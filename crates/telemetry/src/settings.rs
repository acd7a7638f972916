//! The settings of traces: OpenTelemetry's variables, and the endpoint of a configuration file.

use std::borrow::Cow;
use std::path::PathBuf;
use std::time::Duration;

use percent_encoding::percent_decode_str;
use reqwest::Url;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

use crate::limits::{MOST_TIMEOUT, PAIRS_BYTES, TIMEOUT};
use crate::otlp::Encoding;

const SERVICE: &str = "masque";
/// The path of traces below a general endpoint.
const PATH: &str = "/v1/traces";

/// The destination of traces, and their form.
#[derive(Debug, Clone)]
pub struct TraceSettings {
    pub(crate) endpoint: Url,
    /// May be secret, and are marked so.
    pub(crate) headers: HeaderMap,
    pub(crate) encoding: Encoding,
    pub(crate) timeout: Duration,
    pub(crate) resource: Vec<(String, String)>,
    pub(crate) ca_file: Option<PathBuf>,
    origin: String,
}

/// A setting that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{name}: {problem}")]
pub struct SettingsError {
    /// The variable, or the key of the configuration file.
    pub name: String,
    pub problem: SettingsProblem,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SettingsProblem {
    #[error("expected an address that begins with http:// or https://, such as http://127.0.0.1:4318")]
    Endpoint,
    #[error("expected http/protobuf or http/json; for grpc, use the collector's HTTP port, usually 4318")]
    Protocol,
    #[error("expected pairs such as key=value,other=value")]
    Pairs,
    #[error("a header has an invalid name or value")]
    Header,
    #[error("expected milliseconds from 1 to {}", MOST_TIMEOUT.as_millis())]
    Timeout,
}

/// A lookup of variables. An empty one counts as missing.
struct Environment<'a>(&'a dyn Fn(&str) -> Option<String>);

impl Environment<'_> {
    fn get(&self, name: &str) -> Option<String> {
        (self.0)(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty())
    }

    /// The variable for traces, or the one for all signals, with its name.
    fn signal(&self, setting: &str) -> Option<(String, String)> {
        let names = [format!("OTEL_EXPORTER_OTLP_TRACES_{setting}"), format!("OTEL_EXPORTER_OTLP_{setting}")];
        names.into_iter().find_map(|name| self.get(&name).map(|value| (name, value)))
    }
}

impl TraceSettings {
    /// The settings from the environment, or those for the endpoint of a configuration file. `None` if
    /// neither names an endpoint, or if traces are turned off.
    pub fn find(
        environment: &dyn Fn(&str) -> Option<String>,
        configured: Option<&str>,
    ) -> Result<Option<Self>, SettingsError> {
        let environment = Environment(environment);
        let is_off = environment.get("OTEL_SDK_DISABLED").is_some_and(|off| off.eq_ignore_ascii_case("true"))
            || environment.get("OTEL_TRACES_EXPORTER").is_some_and(|exporter| exporter == "none");
        if is_off {
            return Ok(None);
        }
        let Some((endpoint, origin)) = endpoint(&environment, configured)? else { return Ok(None) };
        let encoding = match environment.signal("PROTOCOL") {
            None => Encoding::Protobuf,
            Some((_, protocol)) if protocol == Encoding::Protobuf.as_str() => Encoding::Protobuf,
            Some((_, protocol)) if protocol == Encoding::Json.as_str() => Encoding::Json,
            Some((name, _)) => return Err(SettingsError { name, problem: SettingsProblem::Protocol }),
        };
        let timeout = match environment.signal("TIMEOUT") {
            None => TIMEOUT,
            Some((name, text)) => {
                milliseconds(&text).ok_or(SettingsError { name, problem: SettingsProblem::Timeout })?
            }
        };
        let headers = match environment.signal("HEADERS") {
            None => HeaderMap::new(),
            Some((name, text)) => headers(&text).map_err(|problem| SettingsError { name, problem })?,
        };
        let ca_file = environment.signal("CERTIFICATE").map(|(_, path)| PathBuf::from(path));
        let resource = resource(&environment)?;
        Ok(Some(Self { endpoint, headers, encoding, timeout, resource, ca_file, origin }))
    }

    /// The address of the collector, without a name and password.
    pub fn endpoint(&self) -> String {
        let mut shown = self.endpoint.clone();
        // Fails for addresses without a host, which `address` refuses.
        let _ = shown.set_username("");
        let _ = shown.set_password(None);
        shown.set_query(None);
        shown.to_string()
    }

    /// The variable or the key that names the endpoint.
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// The protocol, as the variable names it.
    pub fn protocol(&self) -> &'static str {
        self.encoding.as_str()
    }

    /// The name under which the spans appear.
    pub fn service(&self) -> &str {
        let name = self.resource.iter().find(|(key, _)| key == "service.name");
        name.map_or(SERVICE, |(_, name)| name)
    }
}

/// Checks the endpoint of a configuration file.
pub fn check_endpoint(text: &str) -> Result<(), SettingsProblem> {
    address(text).map(drop)
}

fn endpoint(
    environment: &Environment<'_>,
    configured: Option<&str>,
) -> Result<Option<(Url, String)>, SettingsError> {
    let traces = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT";
    if let Some(text) = environment.get(traces) {
        let name = traces.to_owned();
        return match address(&text) {
            Ok(url) => Ok(Some((url, name))),
            Err(problem) => Err(SettingsError { name, problem }),
        };
    }
    let all = "OTEL_EXPORTER_OTLP_ENDPOINT";
    let found = environment
        .get(all)
        .map(|text| (text, all))
        .or_else(|| configured.map(|text| (text.to_owned(), "telemetry.endpoint")));
    let Some((text, name)) = found else { return Ok(None) };
    let name = name.to_owned();
    match address(&text) {
        Ok(mut url) => {
            let path = format!("{}{PATH}", url.path().trim_end_matches('/'));
            url.set_path(&path);
            Ok(Some((url, name)))
        }
        Err(problem) => Err(SettingsError { name, problem }),
    }
}

fn address(text: &str) -> Result<Url, SettingsProblem> {
    let url = Url::parse(text).map_err(|_| SettingsProblem::Endpoint)?;
    let is_http = ["http", "https"].contains(&url.scheme()) && url.host_str().is_some();
    is_http.then_some(url).ok_or(SettingsProblem::Endpoint)
}

fn milliseconds(text: &str) -> Option<Duration> {
    let time = Duration::from_millis(text.parse().ok()?);
    (time > Duration::ZERO && time <= MOST_TIMEOUT).then_some(time)
}

fn headers(text: &str) -> Result<HeaderMap, SettingsProblem> {
    let mut headers = HeaderMap::new();
    for (name, value) in pairs(text)? {
        let name = HeaderName::try_from(name).map_err(|_| SettingsProblem::Header)?;
        let mut value = HeaderValue::try_from(value).map_err(|_| SettingsProblem::Header)?;
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    Ok(headers)
}

/// The attributes of this process: the environment's, and those that are always there.
fn resource(environment: &Environment<'_>) -> Result<Vec<(String, String)>, SettingsError> {
    let variable = "OTEL_RESOURCE_ATTRIBUTES";
    let mut resource = match environment.get(variable) {
        None => Vec::new(),
        Some(text) => pairs(&text).map_err(|problem| SettingsError { name: variable.to_owned(), problem })?,
    };
    let is_given = |key: &str, resource: &[(String, String)]| resource.iter().any(|(known, _)| known == key);
    if let Some(name) = environment.get("OTEL_SERVICE_NAME") {
        resource.retain(|(key, _)| key != "service.name");
        resource.push(("service.name".to_owned(), name));
    }
    for (key, value) in [
        ("service.name", SERVICE),
        ("service.version", env!("CARGO_PKG_VERSION")),
        ("telemetry.sdk.name", SERVICE),
        ("telemetry.sdk.language", "rust"),
        ("telemetry.sdk.version", env!("CARGO_PKG_VERSION")),
    ] {
        if !is_given(key, &resource) {
            resource.push((key.to_owned(), value.to_owned()));
        }
    }
    Ok(resource)
}

/// Pairs such as `key=value,other=value`. Both sides may be percent-encoded.
fn pairs(text: &str) -> Result<Vec<(String, String)>, SettingsProblem> {
    if text.len() > PAIRS_BYTES {
        return Err(SettingsProblem::Pairs);
    }
    let entries = text.split(',').map(str::trim).filter(|entry| !entry.is_empty());
    let decoded = |text: &str| percent_decode_str(text.trim()).decode_utf8().map(Cow::into_owned);
    let pair = |entry: &str| {
        let (key, value) = entry.split_once('=')?;
        let (key, value) = (decoded(key).ok()?, decoded(value).ok()?);
        (!key.is_empty()).then_some((key, value))
    };
    entries.map(|entry| pair(entry).ok_or(SettingsProblem::Pairs)).collect()
}

#[cfg(test)]
mod tests;
