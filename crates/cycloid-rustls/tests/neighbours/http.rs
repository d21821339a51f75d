//! HTTP over TLS: a server by hyper, and clients by hyper and reqwest.

use std::net::SocketAddr;
use std::sync::Arc;

use cycloid_rustls::default_provider;
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::header::HOST;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{AlertDescription, ClientConfig, Error, NamedGroup, ServerConfig};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio_rustls::{TlsAcceptor, TlsConnector};

use crate::support::{Certificate, Shown, client_config, localhost, server_config};
use crate::{LOCAL, run};

/// Answers with the path and the body.
async fn answer(request: Request<Incoming>) -> Result<Response<Full<Bytes>>, hyper::Error> {
    let path = request.uri().path().to_owned();
    let body = request.into_body().collect().await?.to_bytes();
    Ok(Response::new(Full::from([path.as_bytes(), b": ", &body].concat())))
}

/// A server for one connection, and its address.
struct Server {
    address: SocketAddr,
    done: JoinHandle<Result<(), std::io::Error>>,
}

impl Server {
    async fn start(config: Arc<ServerConfig>) -> Self {
        let listener = TcpListener::bind(LOCAL).await.unwrap();
        let address = listener.local_addr().unwrap();
        let done = tokio::spawn(async move {
            let (stream, _) = listener.accept().await?;
            let stream = TlsAcceptor::from(config).accept(stream).await?;
            assert_eq!(
                stream.get_ref().1.negotiated_key_exchange_group().unwrap().name(),
                NamedGroup::X25519MLKEM768
            );
            let connection = hyper::server::conn::http1::Builder::new();
            let served = connection.serve_connection(TokioIo::new(stream), service_fn(answer));
            served.await.map_err(std::io::Error::other)
        });
        Self { address, done }
    }
}

/// Sends two requests over one connection.
async fn exchange(address: SocketAddr, config: Arc<ClientConfig>) -> std::io::Result<()> {
    let stream = TcpStream::connect(address).await?;
    let stream = TlsConnector::from(config).connect(localhost(), stream).await?;
    let (mut sender, connection) =
        hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.unwrap();
    let connection = tokio::spawn(connection);
    for (path, body) in [("/first", "a body"), ("/second", "")] {
        let request = Request::post(path).header(HOST, "localhost");
        let request = request.body(Full::<Bytes>::from(body)).unwrap();
        let response = sender.send_request(request).await.map_err(std::io::Error::other)?;
        let received = response.into_body().collect().await.unwrap().to_bytes();
        assert_eq!(received, format!("{path}: {body}").as_bytes());
    }
    drop(sender);
    connection.await.unwrap().map_err(std::io::Error::other)
}

#[test]
fn hyper_on_both_sides() {
    for certificate in Certificate::all("hyper") {
        let client = client_config(default_provider(), &certificate, Shown::ByBoth).unwrap();
        let server = server_config(default_provider(), &certificate, Shown::ByBoth).unwrap();
        run(async {
            let server = Server::start(server).await;
            exchange(server.address, client).await.unwrap();
            server.done.await.unwrap().unwrap();
        });
    }
}

#[test]
fn hyper_refuses_a_certificate_of_another_authority() {
    let certificates = Certificate::all("hyper-authorities");
    let client = client_config(default_provider(), &certificates[2], Shown::ByServer).unwrap();
    let server = server_config(default_provider(), &certificates[3], Shown::ByServer).unwrap();
    run(async {
        let server = Server::start(server).await;
        let error = exchange(server.address, client).await.unwrap_err();
        let error = error.get_ref().unwrap().downcast_ref::<Error>().unwrap();
        assert!(matches!(error, Error::InvalidCertificate(_)), "{error:?}");
        let error = server.done.await.unwrap().unwrap_err();
        let error = error.get_ref().unwrap().downcast_ref::<Error>().unwrap();
        // Both authorities have the same name, so the signature is wrong.
        assert_eq!(error, &Error::AlertReceived(AlertDescription::DecryptError));
    });
}

/// Sends a request by reqwest.
async fn fetch(address: SocketAddr, client: reqwest::ClientBuilder) -> reqwest::Result<String> {
    let client = client.no_proxy().resolve("localhost", address).build().unwrap();
    let url = format!("https://localhost:{}/path", address.port());
    client.post(url).body("a body").send().await?.text().await
}

#[test]
fn reqwest_with_a_configuration() {
    for certificate in Certificate::all("reqwest") {
        let client = client_config(default_provider(), &certificate, Shown::ByBoth).unwrap();
        let server = server_config(default_provider(), &certificate, Shown::ByBoth).unwrap();
        run(async {
            let server = Server::start(server).await;
            let client =
                reqwest::Client::builder().tls_backend_preconfigured(Arc::unwrap_or_clone(client));
            assert_eq!(fetch(server.address, client).await.unwrap(), "/path: a body");
            server.done.await.unwrap().unwrap();
        });
    }
}

#[test]
fn reqwest_with_the_provider_of_the_process() {
    // Other tests of this program do not use the default.
    default_provider().install_default().expect("no other provider is installed");
    let certificates = Certificate::all("reqwest-default");
    let authority = |certificate: &Certificate| {
        let authority = CertificateDer::from_pem_file(certificate.path("ca.pem")).unwrap();
        reqwest::Certificate::from_der(&authority).unwrap()
    };
    let start = async || {
        let config = server_config(default_provider(), &certificates[0], Shown::ByServer).unwrap();
        Server::start(config).await
    };
    run(async {
        let server = start().await;
        let client = reqwest::Client::builder().tls_certs_only([authority(&certificates[0])]);
        assert_eq!(fetch(server.address, client).await.unwrap(), "/path: a body");
        server.done.await.unwrap().unwrap();
        let server = start().await;
        let client = reqwest::Client::builder().tls_certs_only([authority(&certificates[1])]);
        assert!(fetch(server.address, client).await.unwrap_err().is_connect());
        assert!(server.done.await.unwrap().is_err());
    });
}
