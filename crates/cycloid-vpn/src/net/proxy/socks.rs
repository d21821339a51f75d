//! SOCKS 5: connections, and an association for UDP, with name and password.
//!
//! Source: RFC 1928; RFC 1929.

use std::io::Write;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream};

use zeroize::Zeroizing;

use super::{Account, Exchange, Failure};
use crate::net::tcp;

const VERSION: u8 = 5;
const NO_AUTHENTICATION: u8 = 0;
const PASSWORD: u8 = 2;

/// Connects to a server through the proxy, which looks its name up.
///
/// # Errors
/// Those of [`Failure`].
pub fn connect(
    proxy: SocketAddr,
    account: Option<&Account>,
    host: &str,
    port: u16,
    options: &tcp::Options,
) -> Result<TcpStream, Failure> {
    let mut exchange = greet(proxy, account, options)?;
    let mut request = vec![VERSION, 1, 0];
    push_host(&mut request, host)?;
    request.extend(port.to_be_bytes());
    exchange.stream.write_all(&request)?;
    reply(&mut exchange)?;
    Ok(exchange.finish()?)
}

/// Asks the proxy for a UDP association. Returns the connection that keeps it, and the address for
/// datagrams.
///
/// # Errors
/// Those of [`Failure`].
pub fn associate(
    proxy: SocketAddr,
    account: Option<&Account>,
    options: &tcp::Options,
) -> Result<(TcpStream, SocketAddr), Failure> {
    let mut exchange = greet(proxy, account, options)?;
    // This end's address for datagrams is not known yet.
    exchange.stream.write_all(&[VERSION, 3, 0, 1, 0, 0, 0, 0, 0, 0])?;
    let mut address = reply(&mut exchange)?.ok_or(Failure::Malformed("a name as its address"))?;
    if address.ip().is_unspecified() {
        address.set_ip(proxy.ip());
    }
    if address.port() == 0 {
        return Err(Failure::Malformed("a zero port"));
    }
    Ok((exchange.finish()?, address))
}

/// Agrees on the authentication, and logs in.
fn greet(
    proxy: SocketAddr,
    account: Option<&Account>,
    options: &tcp::Options,
) -> Result<Exchange, Failure> {
    let mut exchange = Exchange::open(proxy, options)?;
    let greeting: &[u8] = match account {
        Some(_) => &[VERSION, 2, NO_AUTHENTICATION, PASSWORD],
        None => &[VERSION, 1, NO_AUTHENTICATION],
    };
    exchange.stream.write_all(greeting)?;
    let mut answer = [0; 2];
    exchange.fill(&mut answer)?;
    match (answer, account) {
        ([VERSION, NO_AUTHENTICATION], _) => {}
        ([VERSION, PASSWORD], Some(account)) => {
            let mut request = Zeroizing::new(vec![1]);
            for text in [account.name.as_bytes(), account.password.as_bytes()] {
                let length = u8::try_from(text.len()).map_err(|_| Failure::WrongAccount)?;
                request.push(length);
                request.extend_from_slice(text);
            }
            exchange.stream.write_all(&request)?;
            exchange.fill(&mut answer)?;
            if answer[1] != 0 {
                return Err(Failure::WrongAccount);
            }
        }
        ([VERSION, _], None) => return Err(Failure::NeedsAccount),
        ([VERSION, _], Some(_)) => {
            return Err(Failure::Refused("it accepts no password".into()));
        }
        _ => return Err(Failure::Malformed("it is not SOCKS 5")),
    }
    Ok(exchange)
}

/// Reads the reply to a request. Returns the address in it, if it is not a name.
fn reply(exchange: &mut Exchange) -> Result<Option<SocketAddr>, Failure> {
    let mut head = [0; 4];
    exchange.fill(&mut head)?;
    if head[0] != VERSION {
        return Err(Failure::Malformed("it is not SOCKS 5"));
    }
    if head[1] != 0 {
        let reason = match head[1] {
            1 => "general failure",
            2 => "its rules forbid it",
            3 => "the network is unreachable",
            4 => "the host is unreachable",
            5 => "the connection is refused",
            6 => "the time to live has expired",
            7 => "the command is not supported",
            8 => "the kind of address is not supported",
            _ => "an unknown failure",
        };
        return Err(Failure::Refused(reason.into()));
    }
    let address: Option<IpAddr> = match head[3] {
        1 => {
            let mut bytes = [0; 4];
            exchange.fill(&mut bytes)?;
            Some(Ipv4Addr::from(bytes).into())
        }
        4 => {
            let mut bytes = [0; 16];
            exchange.fill(&mut bytes)?;
            Some(Ipv6Addr::from(bytes).into())
        }
        3 => {
            let mut length = [0];
            exchange.fill(&mut length)?;
            exchange.fill(&mut vec![0; usize::from(length[0])])?;
            None
        }
        _ => return Err(Failure::Malformed("an unknown kind of address")),
    };
    let mut port = [0; 2];
    exchange.fill(&mut port)?;
    Ok(address.map(|address| SocketAddr::new(address, u16::from_be_bytes(port))))
}

/// Appends a kind of address and the address.
fn push_host(request: &mut Vec<u8>, host: &str) -> Result<(), Failure> {
    match host.parse() {
        Ok(IpAddr::V4(address)) => {
            request.push(1);
            request.extend(address.octets());
        }
        Ok(IpAddr::V6(address)) => {
            request.push(4);
            request.extend(address.octets());
        }
        Err(_) => {
            let length = u8::try_from(host.len());
            let length = length.map_err(|_| Failure::Refused("the name is too long".into()))?;
            request.extend([3, length]);
            request.extend(host.as_bytes());
        }
    }
    Ok(())
}

/// Returns the header of a datagram for this destination.
pub(super) fn datagram_header(destination: SocketAddr) -> Vec<u8> {
    let mut header = vec![0, 0, 0];
    match destination.ip() {
        IpAddr::V4(address) => {
            header.push(1);
            header.extend(address.octets());
        }
        IpAddr::V6(address) => {
            header.push(4);
            header.extend(address.octets());
        }
    }
    header.extend(destination.port().to_be_bytes());
    header
}

/// Returns the length of the header of a datagram, or `None` for a fragment or a malformed one.
pub(super) fn datagram_header_length(datagram: &[u8]) -> Option<usize> {
    let length = match datagram.get(..4)? {
        [_, _, 0, 1] => 4 + 4 + 2,
        [_, _, 0, 4] => 4 + 16 + 2,
        [_, _, 0, 3] => 4 + 1 + usize::from(*datagram.get(4)?) + 2,
        _ => return None,
    };
    (length <= datagram.len()).then_some(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_of_datagrams() {
        for address in ["192.0.2.1:7", "[2001:db8::1]:8"] {
            let mut datagram = datagram_header(address.parse().unwrap());
            let length = datagram.len();
            for short in 0..length {
                assert_eq!(datagram_header_length(&datagram[..short]), None);
            }
            datagram.push(9);
            assert_eq!(datagram_header_length(&datagram), Some(length));
            datagram[2] = 1;
            assert_eq!(datagram_header_length(&datagram), None, "a fragment");
        }
        assert_eq!(datagram_header_length(&[0, 0, 0, 3, 1, b'a', 0, 9]), Some(8));
        assert_eq!(datagram_header_length(&[0, 0, 0, 3, 5, b'a', 0, 9]), None);
        assert_eq!(datagram_header_length(&[0, 0, 0, 9, 1, 2, 3, 4, 5, 6, 7]), None);
    }
}
