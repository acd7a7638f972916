//! The address of a server.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use crate::failure::{CommandError, Result};

/// A host, with a port or without.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ListenAddress {
    ip: IpAddr,
    port: Option<u16>,
}

/// Parses `HOST:PORT` or `HOST`, where the host is an IP address or `localhost`.
pub(super) fn address(text: &str) -> std::result::Result<ListenAddress, String> {
    let numeric = match text.split_once("localhost") {
        Some(("", rest)) => format!("{}{rest}", Ipv4Addr::LOCALHOST),
        _ => text.to_owned(),
    };
    if let Ok(address) = numeric.parse::<SocketAddr>() {
        return Ok(ListenAddress { ip: address.ip(), port: Some(address.port()) });
    }
    let bare = numeric.strip_prefix('[').and_then(|inner| inner.strip_suffix(']')).unwrap_or(&numeric);
    match bare.parse::<IpAddr>() {
        Ok(ip) => Ok(ListenAddress { ip, port: None }),
        Err(_) => Err("expected HOST:PORT, for example 127.0.0.1:8080 or localhost:8080".to_owned()),
    }
}

impl ListenAddress {
    /// The address with the port of `--port`, if that is given.
    pub(super) fn with_port(self, port: Option<u16>) -> Result<SocketAddr> {
        let port = port.or(self.port).ok_or_else(|| {
            let example = "`--addr localhost:8080` or `--addr localhost --port 8080`".to_owned();
            CommandError::MissingArgument { argument: "--port", example }
        })?;
        Ok(SocketAddr::from((self.ip, port)))
    }
}

#[cfg(test)]
mod tests {
    use super::address;

    #[track_caller]
    fn check(text: &str, port: Option<u16>, expected: Option<&str>) {
        let found = address(text).ok().and_then(|address| address.with_port(port).ok());
        assert_eq!(found.map(|address| address.to_string()).as_deref(), expected, "{text} {port:?}");
    }

    #[test]
    fn an_address_is_a_host_and_a_port() {
        check("localhost:8080", None, Some("127.0.0.1:8080"));
        check("127.0.0.1:8080", None, Some("127.0.0.1:8080"));
        check("[::1]:0", None, Some("[::1]:0"));
        for wrong in [
            "localhost:",
            "localhost:x",
            "localhost:70000",
            "8080",
            "example.org:80",
            "",
            "[::1",
            "xlocalhost",
        ] {
            assert!(address(wrong).is_err_and(|error| error.contains("localhost:8080")), "{wrong}");
        }
    }

    #[test]
    fn a_port_replaces_that_of_the_address_or_completes_a_host() {
        check("[::1]:4747", Some(5000), Some("[::1]:5000"));
        check("localhost", Some(5212), Some("127.0.0.1:5212"));
        check("127.0.0.1", Some(5212), Some("127.0.0.1:5212"));
        check("::1", Some(5212), Some("[::1]:5212"));
        check("[::1]", Some(5212), Some("[::1]:5212"));
        check("localhost", None, None);
    }
}
