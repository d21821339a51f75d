//! The addresses of a client's remotes and proxies.
//!
//! A lookup fails while the routes and name servers of a tunnel without a key are in place, and
//! while the kill switch drops its packets. Then the addresses of earlier lookups serve. The last
//! ones from outside of the tunnel come first: inside, the same name may mean another machine.

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
    /// The results of lookups on another thread, while it runs.
    renewal: Option<Receiver<(Place, Vec<SocketAddr>)>>,
}

/// The addresses of a place, by the last successful lookup outside of the tunnel, and by the last
/// one of another thread.
#[derive(Default)]
struct Known {
    outside: Vec<SocketAddr>,
    renewed: Vec<SocketAddr>,
}

impl Addresses {
    pub(super) fn new() -> Self {
        Self::by(Arc::new(look_up))
    }

    fn by(look_up: Arc<LookUp>) -> Self {
        Self { look_up, known: BTreeMap::new(), renewal: None }
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

    /// Looks the names of these remotes up on another thread, unless it still does so.
    pub(super) fn renew(&mut self, remotes: &[config::Remote]) {
        let names = remotes.iter().map(place).filter(|(host, _)| host.parse::<IpAddr>().is_err());
        let mut places: Vec<Place> = names.map(|(host, port)| (host.to_owned(), port)).collect();
        places.sort_unstable();
        places.dedup();
        if self.renewal.is_some() || places.is_empty() {
            return;
        }
        let look_up = self.look_up.clone();
        let (sender, receiver) = mpsc::channel();
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
            self.renewal = Some(receiver);
        }
    }

    /// Takes the results of the other thread. Returns whether there are new addresses.
    pub(super) fn take_renewed(&mut self) -> bool {
        let mut changed = false;
        while let Some(renewal) = &self.renewal {
            match renewal.try_recv() {
                Ok((place, found)) => {
                    let known = self.known.entry(place).or_default();
                    let before = known.all();
                    known.renewed = found;
                    changed |= known.all() != before;
                }
                Err(TryRecvError::Empty) => break,
                Err(TryRecvError::Disconnected) => self.renewal = None,
            }
        }
        changed
    }
}

impl Known {
    fn all(&self) -> Vec<SocketAddr> {
        let mut all = self.outside.clone();
        all.extend(self.renewed.iter().filter(|address| !self.outside.contains(address)));
        all
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
    fn renewed_addresses_follow_those_from_outside_of_the_tunnel() {
        let (service, mut addresses) = start();
        let remotes = [remote("gate.example"), remote("192.0.2.9")];
        *service.lock().unwrap() = Some("192.0.2.1");
        addresses.of(&remotes[0], true).unwrap();
        let mut renew = |address| {
            *service.lock().unwrap() = address;
            addresses.renew(&remotes);
            let mut changed = false;
            while addresses.renewal.is_some() {
                changed |= addresses.take_renewed();
                thread::yield_now();
            }
            (changed, texts(&addresses.of(&remotes[0], true).unwrap()))
        };
        assert_eq!(renew(Some("192.0.2.1")), (false, vec!["192.0.2.1:1194".into()]));
        let both: Vec<String> = ["192.0.2.1:1194", "10.8.0.1:1194"].map(String::from).into();
        assert_eq!(renew(Some("10.8.0.1")), (true, both.clone()));
        assert_eq!(renew(None), (false, both));
    }
}
