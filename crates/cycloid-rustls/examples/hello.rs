//! A client and a server of rustls on Cycloid that exchange a greeting over TCP: `cargo run
//! --locked -p cycloid-rustls --example hello -- certificate.pem key.pem name`.
//!
//! The certificate must be for that name, and the client trusts it directly. To make one, run
//! `openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=localhost
//! -addext subjectAltName=DNS:localhost -addext basicConstraints=CA:FALSE -keyout key.pem -out
//! certificate.pem`.

use std::error::Error;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::{env, thread};

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{
    ClientConfig, ClientConnection, RootCertStore, ServerConfig, ServerConnection, Stream,
};

fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [certificate, key, name] = &arguments[..] else {
        return Err("usage: hello CERTIFICATE KEY NAME".into());
    };
    // The only line that a program needs.
    cycloid_rustls::default_provider().install_default().expect("no other provider is installed");

    let certificate = CertificateDer::from_pem_file(certificate)?;
    let key = PrivateKeyDer::from_pem_file(key)?;
    let mut roots = RootCertStore::empty();
    roots.add(certificate.clone())?;
    let server =
        ServerConfig::builder().with_no_client_auth().with_single_cert(vec![certificate], key)?;
    let client = ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();

    let listener = TcpListener::bind(("127.0.0.1", 0))?;
    let address = listener.local_addr()?;
    let answering = thread::spawn(move || -> Result<(), Box<dyn Error + Send + Sync>> {
        let (mut tcp, _) = listener.accept()?;
        let mut tls = ServerConnection::new(Arc::new(server))?;
        Stream::new(&mut tls, &mut tcp).write_all(b"hello, world")?;
        tls.send_close_notify();
        tls.complete_io(&mut tcp)?;
        Ok(())
    });
    let mut tcp = TcpStream::connect(address)?;
    let mut tls = ClientConnection::new(Arc::new(client), ServerName::try_from(name.clone())?)?;
    let mut greeting = String::new();
    Stream::new(&mut tls, &mut tcp).read_to_string(&mut greeting)?;
    answering.join().expect("the server does not panic")?;
    let (version, suite) = (tls.protocol_version(), tls.negotiated_cipher_suite());
    let group = tls.negotiated_key_exchange_group();
    println!("{greeting}: {version:?}, {suite:?}, {group:?}");
    Ok(())
}
