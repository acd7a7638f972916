//! Free ports on the loopback address.

use std::net::TcpListener;

use anyhow::{Context, Result};

/// A port that was free a moment ago. Another program may take it before its user does.
pub(crate) fn free() -> Result<u16> {
    let listener = TcpListener::bind("127.0.0.1:0").context("no free port on the loopback address")?;
    Ok(listener.local_addr()?.port())
}
