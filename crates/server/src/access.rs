//! Who may use the server.
//!
//! [`Access`] turns the head of a request into a [`Caller`] or a refusal. It is the only place that knows
//! tokens: keys with roles would be another field of it, and roles another field of the caller.

use std::fmt;

use app::{AsReport, Code, Remedy};
use http::header::{AUTHORIZATION, COOKIE, HOST, ORIGIN};
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

use crate::limits::{LEAST_TOKEN_CHARS, MOST_TOKEN_CHARS};

/// The cookie in which a page keeps the token.
pub(crate) const COOKIE_NAME: &str = "masque_token";

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
const SEC_FETCH_MODE: HeaderName = HeaderName::from_static("sec-fetch-mode");

/// A secret that lets a client use the server. `Debug` hides it.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

impl Token {
    /// A new token of 256 random bits, in hexadecimal digits.
    pub fn generate() -> Self {
        let bits: [u8; 32] = rand::random();
        Self(bits.iter().map(|byte| format!("{byte:02x}")).collect())
    }

    /// Reads a token. `None` if the text is too short or too long, or has characters that an address, a
    /// header or a cookie would have to escape.
    pub fn parse(text: &str) -> Option<Self> {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_' | '~');
        let fits = (LEAST_TOKEN_CHARS..=MOST_TOKEN_CHARS).contains(&text.len());
        (fits && text.chars().all(is_plain)).then(|| Self(text.to_owned()))
    }

    /// The secret itself.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(hidden)")
    }
}

/// Decides who may use the server.
#[derive(Clone, Default)]
pub struct Access {
    /// The hash of the token; `None` if the server is open. Hashes have one length, so that comparing them
    /// takes the same time for every guess.
    token: Option<[u8; 32]>,
}

impl fmt::Debug for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Access").field("is_open", &self.token.is_none()).finish_non_exhaustive()
    }
}

/// The caller of a request that was let in. Handlers find it in the request's extensions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Caller {
    /// Every program that reaches the address: the server has no token.
    Anyone,
    /// The user who runs the server, or a program that has the token from there.
    Owner,
}

/// The reason why a request was not let in. Never has what was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum AccessError {
    #[error("this server needs a token")]
    NoToken,
    #[error("this is not the token of this server")]
    WrongToken,
    #[error("a page of another address cannot use the cookie of this server")]
    ForeignPage,
}

impl AsReport for AccessError {
    fn code(&self) -> Code {
        match self {
            Self::NoToken | Self::WrongToken => Code::Unauthorized,
            Self::ForeignPage => Code::ForeignOrigin,
        }
    }

    fn remedies(&self) -> Vec<Remedy> {
        vec![Remedy::SendToken]
    }
}

impl Access {
    /// Lets in everyone who reaches the address.
    pub fn open() -> Self {
        Self { token: None }
    }

    /// Lets in callers with this token.
    pub fn with_token(token: &Token) -> Self {
        Self { token: Some(hash(token.expose().as_bytes())) }
    }

    /// The caller of a request.
    ///
    /// `Authorization: Bearer` decides if it is there, else the cookie. The cookie counts only for requests
    /// of our own page: to a browser, all ports of this machine are one site, so it also sends the cookie
    /// with requests of pages that other programs serve here.
    pub(crate) fn caller(&self, method: &Method, headers: &HeaderMap) -> Result<Caller, AccessError> {
        if self.token.is_none() {
            return Ok(Caller::Anyone);
        }
        if headers.contains_key(AUTHORIZATION) {
            let sent = bearer(headers).ok_or(AccessError::NoToken)?;
            return if self.is_token(sent) { Ok(Caller::Owner) } else { Err(AccessError::WrongToken) };
        }
        let mut cookies = cookies(headers).peekable();
        cookies.peek().ok_or(AccessError::NoToken)?;
        if !cookies.any(|sent| self.is_token(sent)) {
            return Err(AccessError::WrongToken);
        }
        if is_own_page(method, headers) { Ok(Caller::Owner) } else { Err(AccessError::ForeignPage) }
    }

    /// True if a client sent the token, or needs none.
    pub(crate) fn is_token(&self, sent: &[u8]) -> bool {
        self.token.is_none_or(|token| token.ct_eq(&hash(sent)).into())
    }

    /// True if every caller is let in.
    pub(crate) fn is_open(&self) -> bool {
        self.token.is_none()
    }
}

fn hash(text: &[u8]) -> [u8; 32] {
    Sha256::digest(text).into()
}

/// The token of the only `Authorization` header. The scheme may have any case.
fn bearer(headers: &HeaderMap) -> Option<&[u8]> {
    let mut all = headers.get_all(AUTHORIZATION).iter();
    let (only, None) = (all.next()?, all.next()) else { return None };
    let (scheme, token) = only.as_bytes().split_at_checked("bearer ".len())?;
    scheme.eq_ignore_ascii_case(b"bearer ").then(|| token.trim_ascii())
}

/// The values of our cookie.
fn cookies(headers: &HeaderMap) -> impl Iterator<Item = &[u8]> {
    let pairs =
        headers.get_all(COOKIE).iter().flat_map(|header| header.as_bytes().split(|byte| *byte == b';'));
    pairs.filter_map(|pair| pair.trim_ascii().strip_prefix(COOKIE_NAME.as_bytes())?.strip_prefix(b"="))
}

/// True if our own page or the user made the request. A page elsewhere may lead the user here, but it
/// sees nothing of the answer.
fn is_own_page(method: &Method, headers: &HeaderMap) -> bool {
    let word = |name: &HeaderName| headers.get(name).map(HeaderValue::as_bytes);
    let leads_here = word(&SEC_FETCH_MODE) == Some(b"navigate".as_slice())
        && (method == Method::GET || method == Method::HEAD);
    let is_same_site = match word(&SEC_FETCH_SITE) {
        None | Some(b"same-origin" | b"none") => true,
        Some(_) => leads_here,
    };
    let host = word(&HOST).unwrap_or_default();
    let is_own = |origin: &HeaderValue| {
        origin.as_bytes().strip_prefix(b"http://").is_some_and(|origin| origin.eq_ignore_ascii_case(host))
    };
    is_same_site && headers.get_all(ORIGIN).iter().all(is_own)
}

#[cfg(test)]
mod tests;
