//! How a client's entry shows the token of a server.

use server::Token;

use crate::cli::ConnectArgs;
use crate::failure::{CommandError, Result};
use crate::locations::{self, Directories};
use crate::token::UserToken;

/// The variable that a file names if a team shares it.
pub(super) const VARIABLE: &str = "MASQUE_TOKEN";

/// The token of an entry.
#[derive(Debug, Clone)]
pub(super) enum Bearer {
    /// The token itself: the file is the user's own.
    Literal(Token),
    /// The variable that has it.
    Variable,
}

impl Bearer {
    /// The token for a server of this machine. None for any other: it must not learn the token.
    pub(super) fn for_url(
        url: &str,
        args: &ConnectArgs,
        is_shared: bool,
        directories: &Directories,
    ) -> Result<Option<Self>> {
        if !is_local(url) {
            return Ok(None);
        }
        if is_shared {
            return Ok(Some(Self::Variable));
        }
        locations::make_data(directories);
        let UserToken { token, file, warning } =
            UserToken::open(args.token_file.as_deref(), Some(directories))?;
        match file {
            Some(_) => Ok(Some(Self::Literal(token))),
            None => Err(CommandError::NoToken(warning.unwrap_or_default()).into()),
        }
    }

    /// The header, if `variable` is how the client writes a variable of this name.
    pub(super) fn header(&self, variable: impl Fn(&str) -> String) -> String {
        match self {
            Self::Literal(token) => format!("Bearer {}", token.expose()),
            Self::Variable => format!("Bearer {}", variable(VARIABLE)),
        }
    }
}

/// True if an address is one of this machine.
pub(in crate::commands) fn is_local(url: &str) -> bool {
    let rest = url.strip_prefix("http://").unwrap_or_default();
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let is_port = |port: &str| {
        port.is_empty() || port.strip_prefix(':').is_some_and(|port| port.parse::<u16>().is_ok())
    };
    ["127.0.0.1", "localhost", "[::1]"].iter().any(|host| authority.strip_prefix(host).is_some_and(is_port))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_learns_the_token() {
        for url in ["http://127.0.0.1:4747/mcp", "http://localhost/mcp?tools=all", "http://[::1]:80"] {
            assert!(is_local(url), "{url}");
        }
        for url in [
            "http://127.0.0.1.evil.example/mcp",
            "http://localhost.evil.example:80/",
            "http://evil.example/127.0.0.1",
            "http://127.0.0.1:80@evil.example/",
            "https://127.0.0.1:4747/mcp",
            "http://127.0.0.2/",
            "",
        ] {
            assert!(!is_local(url), "{url}");
        }
    }

    #[test]
    fn a_shared_file_names_the_variable() {
        assert_eq!(Bearer::Variable.header(|name| format!("${{env:{name}}}")), "Bearer ${env:MASQUE_TOKEN}");
        let token = Token::generate();
        let literal = Bearer::Literal(token.clone()).header(|_| String::new());
        assert_eq!(literal, format!("Bearer {}", token.expose()));
    }
}
