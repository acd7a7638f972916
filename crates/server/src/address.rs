//! The addresses on which the server may listen.

use std::net::{IpAddr, SocketAddr};

use app::{AsReport, Code, Remedy};

/// An address on which the server must not listen.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0} can be reached from other machines; Masque listens on loopback only, because its connections are not encrypted"
)]
pub struct ListenAddressError(SocketAddr);

impl AsReport for ListenAddressError {
    fn code(&self) -> Code {
        Code::AddressNotLocal
    }

    fn remedies(&self) -> Vec<Remedy> {
        vec![Remedy::OtherAddress { address: format!("127.0.0.1:{}", self.0.port()) }]
    }
}

/// Only loopback addresses are safe without encryption.
pub fn check_address(address: SocketAddr) -> Result<(), ListenAddressError> {
    if is_loopback(address.ip()) { Ok(()) } else { Err(ListenAddressError(address)) }
}

/// True if only this machine can reach an address.
pub(crate) fn is_loopback(address: IpAddr) -> bool {
    // An IPv4-mapped IPv6 address reaches as far as its IPv4 address.
    address.to_canonical().is_loopback()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_loopback_is_allowed() {
        for (text, allowed) in [
            ("127.0.0.1:4747", true),
            ("127.8.8.8:1", true),
            ("[::1]:4747", true),
            ("[::ffff:127.0.0.1]:4747", true),
            ("0.0.0.0:4747", false),
            ("[::]:4747", false),
            ("192.168.1.5:4747", false),
            ("[::ffff:10.0.0.1]:4747", false),
        ] {
            let address: SocketAddr = text.parse().expect("an address");
            assert_eq!(check_address(address).is_ok(), allowed, "{text}");
        }
    }

    #[test]
    fn a_refusal_names_the_remedy() {
        let address = "0.0.0.0:9000".parse().expect("an address");
        let report = check_address(address).expect_err("refused").report();
        assert_eq!(report.code, Code::AddressNotLocal);
        assert_eq!(report.remedies, [Remedy::OtherAddress { address: "127.0.0.1:9000".to_owned() }]);
    }
}
