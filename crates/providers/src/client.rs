//! HTTP clients: made when first needed, shared by providers with the same route.

use std::collections::HashMap;
use std::error::Error as _;
use std::fs;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use reqwest::{Certificate, Client, ClientBuilder, Proxy, Url, redirect};

use crate::limits;

/// The route to a provider. Providers with the same route share connections.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct Route {
    pub(crate) connect_timeout: Duration,
    pub(crate) ca_file: Option<PathBuf>,
    pub(crate) via: Via,
    /// True if certificates are checked. Reading the system's takes milliseconds, and a small
    /// container may have none.
    pub(crate) encrypted: bool,
}

#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) enum Via {
    /// The environment's proxy for the address, with its exceptions.
    Environment,
    Proxy(String),
    Direct,
}

impl Via {
    /// A proxy of the environment never applies to loopback addresses.
    pub(crate) fn new(setting: Option<&str>, base: &Url) -> Self {
        match setting {
            Some("none") => Self::Direct,
            Some(proxy) => Self::Proxy(proxy.to_owned()),
            None if is_loopback(base) => Self::Direct,
            None => Self::Environment,
        }
    }

    /// True if the connection to the proxy uses TLS.
    pub(crate) fn is_encrypted(&self, environment: &dyn Fn(&str) -> Option<String>) -> bool {
        let encrypted = |proxy: &str| proxy.trim().to_ascii_lowercase().starts_with("https://");
        match self {
            Self::Environment => ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"]
                .into_iter()
                .any(|name| environment(name).is_some_and(|proxy| encrypted(&proxy))),
            Self::Proxy(proxy) => encrypted(proxy),
            Self::Direct => false,
        }
    }
}

fn is_loopback(url: &Url) -> bool {
    match url.host_str() {
        Some("localhost") => true,
        Some(host) => {
            let host = host.trim_start_matches('[').trim_end_matches(']');
            host.parse().is_ok_and(|address: std::net::IpAddr| address.is_loopback())
        }
        None => false,
    }
}

/// All clients that were made.
#[derive(Default)]
pub(crate) struct Clients {
    made: Mutex<HashMap<Route, Client>>,
}

impl Clients {
    /// The client for a route, or the reason why there is none.
    pub(crate) fn get(&self, route: &Route) -> Result<Client, String> {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(client) = made.get(route) {
            return Ok(client.clone());
        }
        let client = route.client()?;
        made.insert(route.clone(), client.clone());
        Ok(client)
    }

    #[cfg(test)]
    pub(crate) fn count(&self) -> usize {
        self.made.lock().unwrap_or_else(PoisonError::into_inner).len()
    }
}

impl Route {
    fn client(&self) -> Result<Client, String> {
        let mut builder = plain()
            .connect_timeout(self.connect_timeout)
            .pool_idle_timeout(limits::POOL_IDLE)
            .tcp_keepalive(Duration::from_secs(30));
        builder = match &self.via {
            Via::Environment => builder,
            Via::Direct => builder.no_proxy(),
            Via::Proxy(proxy) => {
                // The address may hold a password, so it is not repeated.
                builder.proxy(Proxy::all(proxy).map_err(|_| "its proxy is not a valid address".to_owned())?)
            }
        };
        builder = if self.encrypted {
            builder.tls_certs_merge(self.authorities()?)
        } else {
            builder.tls_certs_only(Vec::new())
        };
        builder.build().map_err(|error| format!("no connection can be made: {}", cause(&error)))
    }

    fn authorities(&self) -> Result<Vec<Certificate>, String> {
        let mut authorities = Vec::new();
        // Elsewhere the system's own store is read with this variable in mind.
        let variable = if cfg!(any(windows, target_vendor = "apple")) {
            std::env::var_os("SSL_CERT_FILE").map(PathBuf::from)
        } else {
            None
        };
        for path in self.ca_file.iter().chain(&variable) {
            let shown = path.display();
            let pem = fs::read(path).map_err(|error| format!("cannot read ca_file {shown}: {error}"))?;
            let found = Certificate::from_pem_bundle(&pem)
                .map_err(|error| format!("ca_file {shown} cannot be used: {}", cause(&error)))?;
            if found.is_empty() {
                return Err(format!("ca_file {shown} has no certificate; it must be a PEM file"));
            }
            authorities.extend(found);
        }
        Ok(authorities)
    }
}

/// The settings of every client. Redirects are not followed: they would carry the key along.
fn plain() -> ClientBuilder {
    install_tls();
    Client::builder()
        .user_agent(concat!("masque/", env!("CARGO_PKG_VERSION")))
        .redirect(redirect::Policy::none())
        .referer(false)
        .tcp_nodelay(true)
}

/// Installs the TLS provider for this process. reqwest panics without one; a second call does nothing.
fn install_tls() {
    let _ = rustls::crypto::ring::default_provider().install_default();
}

/// A client for questions to the machine itself.
pub(crate) fn probe() -> Option<Client> {
    plain().no_proxy().tls_certs_only(Vec::new()).timeout(limits::PROBE_TIMEOUT).build().ok()
}

/// The root cause of an error, without the address.
pub(crate) fn cause(error: &reqwest::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    let mut bottom = error.source();
    while let Some(below) = bottom {
        cause = below;
        bottom = below.source();
    }
    if error.source().is_none() {
        return "it was given up".to_owned();
    }
    cause.to_string()
}
