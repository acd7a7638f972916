//! The addresses that may be reached.

use std::fmt;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;

use futures::FutureExt;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};

pub(super) type Lookup = Pin<Box<dyn Future<Output = io::Result<Vec<SocketAddr>>> + Send>>;

/// Looks names up and judges addresses; tests have one of their own.
pub(super) trait Network: fmt::Debug + Send + Sync {
    fn lookup(&self, host: String) -> Lookup;
    fn permits(&self, address: SocketAddr) -> Result<(), Refused>;
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0} is not a public address; only public addresses can be fetched")]
pub(super) struct Refused(pub(super) IpAddr);

/// The real network, restricted to public addresses.
#[derive(Debug)]
pub(super) struct Public;

impl Network for Public {
    fn lookup(&self, host: String) -> Lookup {
        async move { Ok(tokio::net::lookup_host((host, 0)).await?.collect()) }.boxed()
    }

    fn permits(&self, address: SocketAddr) -> Result<(), Refused> {
        if is_public(address.ip()) { Ok(()) } else { Err(Refused(address.ip())) }
    }
}

/// Hands the HTTP client nothing but addresses that were judged: it connects to these and looks the
/// name up no second time.
#[derive(Debug)]
pub(super) struct Guarded(pub(super) Arc<dyn Network>);

impl Resolve for Guarded {
    fn resolve(&self, name: Name) -> Resolving {
        let network = Arc::clone(&self.0);
        Box::pin(async move {
            let found = network.lookup(name.as_str().to_owned()).await?;
            // One address that is not public makes the name suspect as a whole.
            for address in &found {
                network.permits(*address)?;
            }
            if found.is_empty() {
                return Err(io::Error::from(io::ErrorKind::NotFound).into());
            }
            Ok(Box::new(found.into_iter()) as Addrs)
        })
    }
}

pub(super) fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let special = address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_multicast()
        || address.is_documentation()
        // This network, shared carrier space, protocol assignments, relays, benchmarks, the reserved end.
        || a == 0
        || (a == 100 && (64..128).contains(&b))
        || (a == 192 && b == 0 && c == 0)
        || (a == 192 && b == 88 && c == 99)
        || (a == 198 && (b == 18 || b == 19))
        || a >= 240;
    !special
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    if let Some(mapped) = address.to_ipv4_mapped() {
        return is_public_v4(mapped);
    }
    let segments = address.segments();
    let embedded = |high: u16, low: u16| Ipv4Addr::from((u32::from(high) << 16) | u32::from(low));
    // Translated to the IPv4 address in it.
    if segments[..6] == [0x64, 0xff9b, 0, 0, 0, 0] {
        return is_public_v4(embedded(segments[6], segments[7]));
    }
    // Of the whole space only 2000::/3 is given out; within it, tunnels and examples are not.
    let is_global = segments[0] & 0xe000 == 0x2000;
    let is_special = segments[0] == 0x2002
        || (segments[0] == 0x2001 && segments[1] < 0x0200)
        || (segments[0] == 0x2001 && segments[1] == 0x0db8)
        || (segments[0] == 0x3fff && segments[1] < 0x1000);
    is_global && !is_special
}
