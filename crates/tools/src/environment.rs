//! The environment of started programs.

use std::ffi::{OsStr, OsString};

#[cfg(test)]
mod tests;

/// Variables that programs need in order to run. None of them is a secret.
const HARMLESS: &[&str] = &[
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "TZ",
    "TERM",
    "TMPDIR",
    "HOSTNAME",
    "XDG_CONFIG_HOME",
    "XDG_CACHE_HOME",
    "XDG_DATA_HOME",
    "XDG_STATE_HOME",
    "XDG_RUNTIME_DIR",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "ALL_PROXY",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "all_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "CARGO_HOME",
    "RUSTUP_HOME",
    "GOPATH",
    "GOROOT",
    "JAVA_HOME",
    "NVM_DIR",
    "NODE_PATH",
    "VIRTUAL_ENV",
    "PYENV_ROOT",
    "GEM_HOME",
];

/// Parts of names that suggest a secret.
const TELLING: &[&str] = &[
    "KEY",
    "TOKEN",
    "SECRET",
    "PASSWORD",
    "PASSWD",
    "PASSPHRASE",
    "PASS",
    "CREDENTIAL",
    "AUTH",
    "PRIVATE",
    "COOKIE",
    "SESSION",
    "SIGNATURE",
    "DATABASE_URL",
    "DSN",
    "PAT",
    "JWT",
    "BEARER",
    "WEBHOOK",
];

type Variable = (OsString, OsString);

/// The variables that every program gets.
pub(crate) fn harmless(all: impl Iterator<Item = Variable>) -> Vec<Variable> {
    all.filter(|(name, value)| {
        let listed = name.to_str().is_some_and(|name| HARMLESS.contains(&name) || name.starts_with("LC_"));
        listed && !holds_password(value)
    })
    .collect()
}

/// The variables for a command of a model: the harmless ones and those that the settings name, but
/// never one that looks like a key, which the model could print.
pub(crate) fn for_commands(all: impl Iterator<Item = Variable> + Clone, pass: &[String]) -> Vec<Variable> {
    let named = all.clone().filter(|(name, value)| {
        let named =
            name.to_str().is_some_and(|name| pass.iter().any(|pass| pass == name) && !is_telling(name));
        named && !holds_password(value)
    });
    harmless(all).into_iter().chain(named).collect()
}

/// True if a name looks like a key's. Short parts must be whole words: `PAT` is one, `PATH` is not.
pub(crate) fn is_telling(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    TELLING.iter().any(|telling| {
        if telling.len() > 4 || *telling == "KEY" {
            name.contains(telling)
        } else {
            name.split(['_', '-', '.']).any(|part| part == *telling)
        }
    })
}

/// True if a value is an address with a password in it.
fn holds_password(value: &OsStr) -> bool {
    let value = value.to_string_lossy();
    let Some((_, rest)) = value.split_once("://") else { return false };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    authority.rsplit_once('@').is_some_and(|(user, _)| user.contains(':'))
}
