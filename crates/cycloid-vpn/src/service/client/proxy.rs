//! Connects a client to its server through a proxy.

use std::io;
use std::net::{SocketAddr, TcpStream};

use super::Program;
use super::requests::read_credentials;
use crate::config::{self, HttpMethod, Proxy, ProxyKind};
use crate::net::proxy::{Account, Failure, Http, Method, Relay, associate, socks};
use crate::service::{Failure as ServiceFailure, Person, random};

/// The names and passwords at proxies, and the state of asking for them.
pub(in crate::service) struct AtProxy {
    /// The accounts that the configuration or its files have.
    stored: Vec<(Proxy, Option<Account>)>,
    /// The user's answer.
    account: Option<Account>,
    /// Whether the proxy asked for an account that the program does not have.
    wanted: bool,
    /// The association that carries datagrams.
    pub(super) relay: Option<Relay>,
}

impl AtProxy {
    /// Reads the accounts, while the program may still read their files.
    ///
    /// # Errors
    /// An unreadable file.
    pub(in crate::service) fn read(config: &config::Client) -> Result<Self, ServiceFailure> {
        let mut stored = Vec::new();
        for proxy in config.remotes.iter().filter_map(|remote| remote.link.proxy.as_ref()) {
            let account = match &proxy.account {
                None => None,
                Some(source) => {
                    let directive = match proxy.kind {
                        ProxyKind::Http(_) => "http-proxy",
                        ProxyKind::Socks => "socks-proxy",
                    };
                    let (name, password) = read_credentials(directive, source)?;
                    name.zip(password).map(|(name, password)| Account { name, password })
                }
            };
            stored.push((proxy.clone(), account));
        }
        Ok(Self { stored, account: None, wanted: false, relay: None })
    }

    /// Returns the account at a proxy: the user's answer, or that of the configuration.
    fn account(&self, proxy: &Proxy) -> Option<Account> {
        let stored = || self.stored.iter().find(|(other, _)| other == proxy)?.1.clone();
        self.account.clone().or_else(stored)
    }
}

impl Program<'_> {
    /// Connects to a server over TCP through its proxy at this address.
    pub(super) fn through_proxy(
        &mut self,
        proxy: &Proxy,
        remote: &config::Remote,
        address: SocketAddr,
    ) -> io::Result<TcpStream> {
        let account = self.at_proxy.account(proxy);
        let stream = self.stream_options(&remote.link);
        let (host, port) = (remote.host.as_str(), remote.port);
        let connected = match proxy.kind {
            ProxyKind::Socks => socks(address, account.as_ref(), host, port, &stream),
            ProxyKind::Http(method) => {
                let options = &remote.link.http;
                let mut nonce = [0; 16];
                random(&mut nonce);
                let request = Http {
                    method: match method {
                        HttpMethod::None => Method::None,
                        HttpMethod::Basic => Method::Basic,
                        HttpMethod::Any => Method::Any,
                        HttpMethod::AnyButClear => Method::AnyButClear,
                    },
                    host,
                    port,
                    version: options.version.as_deref().unwrap_or("1.0"),
                    agent: options.agent.as_deref(),
                    fields: &options.fields,
                };
                request.connect(address, account.as_ref(), &stream, nonce)
            }
        };
        self.judged(connected)
    }

    /// Associates with the proxy at this address for datagrams to a server. Returns the address
    /// that stands for the server.
    pub(super) fn associate_with_proxy(
        &mut self,
        proxy: &Proxy,
        remote: &config::Remote,
        address: SocketAddr,
    ) -> io::Result<SocketAddr> {
        let account = self.at_proxy.account(proxy);
        let prefers_known = self.blocks_lookups();
        let servers = self.addresses.of_place((&remote.host, remote.port), prefers_known)?;
        let server = *servers.first().ok_or(io::ErrorKind::NotFound)?;
        let options = self.stream_options(&remote.link);
        let association = associate(address, account.as_ref(), &options);
        let (control, datagrams) = self.judged(association)?;
        let relay = Relay::start(control, datagrams, server)?;
        let address = relay.address();
        self.at_proxy.relay = Some(relay);
        Ok(address)
    }

    /// Notes whether the proxy wants another account.
    fn judged<T>(&mut self, outcome: Result<T, Failure>) -> io::Result<T> {
        if let Err(Failure::NeedsAccount | Failure::WrongAccount) = &outcome {
            self.at_proxy.wanted = true;
            self.at_proxy.account = None;
        }
        outcome.map_err(|failure| match failure {
            Failure::Io(error) => error,
            failure => io::Error::other(failure.to_string()),
        })
    }

    /// Asks for the account at the proxy if the proxy wanted one.
    pub(super) fn ask_proxy_account(
        &mut self,
        person: &mut dyn Person,
    ) -> Result<(), ServiceFailure> {
        if std::mem::take(&mut self.at_proxy.wanted) && self.at_proxy.account.is_none() {
            let (name, password) = person.account(None)?;
            self.at_proxy.account = Some(Account { name, password });
        }
        Ok(())
    }
}
