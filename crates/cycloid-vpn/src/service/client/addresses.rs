//! The addresses of a client's remotes and proxies.
//!
//! A lookup fails while the routes and name servers of a tunnel without a key are in place, and
//! while the kill switch drops its packets. Then the addresses of earlier lookups serve. Those from
//! outside of the tunnel come first: inside, the same name may mean another machine.

use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, TryRecvError};
use std::thread;

use crate::config::{self, Family};
use crate::proto::Transport;

type LookUp = dyn Fn(&str, u16) -> io::Result<Vec<SocketAddr>> + Send + Sync;

/// A host name and a port.
type Place = (String, u16);

/// The known addresses.
pub(super) struct Addresses {
    look_up: Arc<LookUp>,
    known: BTreeMap<Place, Known>,
    /// Lookups on another thread, while it runs.
    renewal: Option<Renewal>,
    /// Whether there are new addresses that the caller has not learnt of.
    has_new: bool,
}

/// The lookups of another thread.
struct Renewal {
    found: Receiver<(Place, Vec<SocketAddr>)>,
    inside: bool,
}

/// The addresses of a place, by the last lookups outside and inside of the tunnel.
#[derive(Default)]
struct Known {
    outside: Vec<SocketAddr>,
    inside: Vec<SocketAddr>,
}

/// The most addresses of a place that are kept from several lookups.
const MAX_KEPT: usize = 16;

impl Addresses {
    pub(super) fn new() -> Self {
        Self::by(Arc::new(look_up))
    }

    fn by(look_up: Arc<LookUp>) -> Self {
        Self { look_up, known: BTreeMap::new(), renewal: None, has_new: false }
    }

    /// Returns the addresses of a remote, or those of its proxy. Looks the name up unless its
    /// addresses are known and `prefers_known` is set. They also serve if the lookup fails.
    ///
    /// # Errors
    /// An unknown name whose lookup fails.
    pub(super) fn of(
        &mut self,
        remote: &config::Remote,
        prefers_known: bool,
    ) -> io::Result<Vec<SocketAddr>> {
        let mut addresses = self.of_place(place(remote), prefers_known)?;
        addresses.retain(|address| fits(remote, address));
        Ok(addresses)
    }

    /// Like [`of`](Self::of), for any host.
    pub(super) fn of_place(
        &mut self,
        (host, port): (&str, u16),
        prefers_known: bool,
    ) -> io::Result<Vec<SocketAddr>> {
        let place = (host.to_owned(), port);
        let known = self.known.get(&place).map(Known::all).unwrap_or_default();
        if prefers_known && !known.is_empty() {
            return Ok(known);
        }
        match (self.look_up)(host, port) {
            Ok(found) if !found.is_empty() => {
                let known = self.known.entry(place).or_default();
                known.outside = found;
                Ok(known.all())
            }
            Ok(_) | Err(_) if !known.is_empty() => Ok(known),
            Ok(_) => Err(io::Error::new(io::ErrorKind::NotFound, "the name has no address")),
            Err(error) => Err(error),
        }
    }

    /// Returns all known addresses of these remotes, each with its remote's transport.
    pub(super) fn known(&self, remotes: &[config::Remote]) -> Vec<(SocketAddr, Transport)> {
        let mut all = Vec::new();
        for remote in remotes {
            let (host, port) = place(remote);
            let known = self.known.get(&(host.to_owned(), port));
            for address in known.map(Known::all).unwrap_or_default() {
                let entry = (address, remote.link.protocol.transport);
                if fits(remote, &address) && !all.contains(&entry) {
                    all.push(entry);
                }
            }
        }
        all
    }

    /// Looks the names of these remotes up on another thread, unless it still does so. `inside` is
    /// whether the packets may go through the tunnel.
    pub(super) fn renew(&mut self, remotes: &[config::Remote], inside: bool) {
        self.collect();
        let names = remotes.iter().map(place).filter(|(host, _)| host.parse::<IpAddr>().is_err());
        let mut places: Vec<Place> = names.map(|(host, port)| (host.to_owned(), port)).collect();
        places.sort_unstable();
        places.dedup();
        if self.renewal.is_some() || places.is_empty() {
            return;
        }
        let look_up = self.look_up.clone();
        let (sender, found) = mpsc::channel();
        let work = move || {
            for place in places {
                let found = look_up(&place.0, place.1).unwrap_or_default();
                if !found.is_empty() && sender.send((place, found)).is_err() {
                    return;
                }
            }
        };
        // Without a thread, the known addresses stay.
        if thread::Builder::new().name("lookup".into()).spawn(work).is_ok() {
            self.renewal = Some(Renewal { found, inside });
        }
    }

    /// Takes the results of the other thread. Returns whether there are new addresses.
    pub(super) fn take_new(&mut self) -> bool {
        self.collect();
        std::mem::take(&mut self.has_new)
    }

    fn collect(&mut self) {
        while let Some(renewal) = &self.renewal {
            match renewal.found.try_recv() {
                Ok((place, found)) => {
                    let inside = renewal.inside;
                    let known = self.known.entry(place).or_default();
                    let before = known.all();
                    match inside {
                        true => known.inside = found,
                        false => known.put_first(found),
                    }
                    self.has_new |= known.all() != before;
                }
                Err(TryRecvError::Empty) => break,
                Err(TryRecvError::Disconnected) => self.renewal = None,
            }
        }
    }
}

impl Known {
    fn all(&self) -> Vec<SocketAddr> {
        let mut all = self.outside.clone();
        all.extend(self.inside.iter().filter(|address| !self.outside.contains(address)));
        all
    }

    /// Puts addresses in front. The others stay: a lookup that began in an outage may have ended
    /// inside the next connection.
    fn put_first(&mut self, mut found: Vec<SocketAddr>) {
        self.outside.retain(|address| !found.contains(address));
        found.append(&mut self.outside);
        found.truncate(MAX_KEPT);
        self.outside = found;
    }
}

/// Resolves a server's addresses of the configured family, or those of its proxy.
///
/// # Errors
/// An unknown name.
pub(crate) fn resolve(remote: &config::Remote) -> io::Result<Vec<SocketAddr>> {
    Addresses::new().of(remote, false)
}

fn look_up(host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
    let mut addresses: Vec<SocketAddr> = (host, port).to_socket_addrs()?.collect();
    addresses.dedup();
    Ok(addresses)
}

/// Returns what a client connects to: the proxy if there is one, otherwise the server.
fn place(remote: &config::Remote) -> (&str, u16) {
    match &remote.link.proxy {
        Some(proxy) => (&proxy.host, proxy.port),
        None => (&remote.host, remote.port),
    }
}

/// Returns whether an address has the configured family, which only concerns the server itself.
fn fits(remote: &config::Remote, address: &SocketAddr) -> bool {
    match remote.link.protocol.family {
        _ if remote.link.proxy.is_some() => true,
        Family::Any => true,
        Family::V4 => address.is_ipv4(),
        Family::V6 => address.is_ipv6(),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    /// A name service whose answers the test changes; without an answer, lookups fail.
    type Service = Arc<Mutex<Option<&'static str>>>;

    fn remote(host: &str) -> config::Remote {
        config::Remote { host: host.into(), port: 1194, link: config::Link::default() }
    }

    fn start() -> (Service, Addresses) {
        let service = Service::default();
        let answers = service.clone();
        let look_up = move |_: &str, port| match *answers.lock().unwrap() {
            Some(address) => Ok(vec![SocketAddr::new(address.parse().unwrap(), port)]),
            None => Err(io::ErrorKind::TimedOut.into()),
        };
        (service, Addresses::by(Arc::new(look_up)))
    }

    fn texts(addresses: &[SocketAddr]) -> Vec<String> {
        addresses.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn known_addresses_serve_when_a_lookup_fails() {
        let (service, mut addresses) = start();
        let gate = remote("gate.example");
        assert!(addresses.of(&gate, true).is_err());
        *service.lock().unwrap() = Some("192.0.2.1");
        assert_eq!(texts(&addresses.of(&gate, true).unwrap()), ["192.0.2.1:1194"]);
        *service.lock().unwrap() = Some("192.0.2.2");
        assert_eq!(texts(&addresses.of(&gate, true).unwrap()), ["192.0.2.1:1194"]);
        assert_eq!(texts(&addresses.of(&gate, false).unwrap()), ["192.0.2.2:1194"]);
        *service.lock().unwrap() = None;
        assert_eq!(texts(&addresses.of(&gate, false).unwrap()), ["192.0.2.2:1194"]);
        assert_eq!(addresses.known(&[gate.clone(), gate]).len(), 1);
        assert!(addresses.known(&[remote("other.example")]).is_empty());
    }

    #[test]
    fn addresses_from_inside_the_tunnel_follow_those_from_outside() {
        let (service, mut addresses) = start();
        let remotes = [remote("gate.example"), remote("192.0.2.9")];
        *service.lock().unwrap() = Some("192.0.2.1");
        addresses.of(&remotes[0], true).unwrap();
        let mut renew = |address, inside| {
            *service.lock().unwrap() = address;
            addresses.renew(&remotes, inside);
            while addresses.renewal.is_some() {
                addresses.collect();
                thread::yield_now();
            }
            let all = texts(&addresses.of(&remotes[0], true).unwrap()).join(" ");
            (addresses.take_new(), all.replace(":1194", ""))
        };
        assert_eq!(renew(Some("192.0.2.1"), true), (false, "192.0.2.1".into()));
        assert_eq!(renew(Some("10.8.0.1"), true), (true, "192.0.2.1 10.8.0.1".into()));
        assert_eq!(renew(None, true), (false, "192.0.2.1 10.8.0.1".into()));
        // In an outage, beside the tunnel.
        assert_eq!(renew(Some("192.0.2.2"), false), (true, "192.0.2.2 192.0.2.1 10.8.0.1".into()));
        assert_eq!(renew(Some("192.0.2.1"), false), (true, "192.0.2.1 192.0.2.2 10.8.0.1".into()));
    }
}
