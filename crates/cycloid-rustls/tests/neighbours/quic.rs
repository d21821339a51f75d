//! QUIC by quinn, with every cipher suite of TLS 1.3 and certificates of every kind.

use std::sync::Arc;

use cycloid_rustls::{ALL_GROUPS, default_provider};
use quinn::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use quinn::{ClientConfig, ConnectionError, Endpoint, ServerConfig};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::CertificateDer;
use rustls::quic::Suite;
use rustls::{CipherSuite, SupportedCipherSuite};

use crate::support::{Certificate, Shown, client_config, provider, server_config};
use crate::{LOCAL, run};

/// Returns the suite that protects the first packets, whatever the handshake agrees on (RFC 9001,
/// section 5.2).
fn initial() -> Suite {
    let suite = default_provider().cipher_suites.into_iter().find_map(|suite| match suite {
        SupportedCipherSuite::Tls13(suite)
            if suite.common.suite == CipherSuite::TLS13_AES_128_GCM_SHA256 =>
        {
            suite.quic_suite()
        }
        _ => None,
    });
    suite.expect("the provider has suites for QUIC")
}

/// Sends a message to a server that sends it back, and returns what came back.
///
/// # Errors
/// The errors of both sides.
async fn echo(
    client: (CryptoProvider, &Certificate),
    server: (CryptoProvider, &Certificate),
    message: &[u8],
) -> Result<Vec<u8>, (ConnectionError, ConnectionError)> {
    let config = client_config(client.0, client.1, Shown::ByBoth).unwrap();
    let client_side = QuicClientConfig::with_initial(config, initial()).unwrap();
    let config = server_config(server.0, server.1, Shown::ByBoth).unwrap();
    let server_side = QuicServerConfig::with_initial(config, initial()).unwrap();
    let served = Endpoint::server(ServerConfig::with_crypto(Arc::new(server_side)), LOCAL).unwrap();
    let address = served.local_addr().unwrap();
    let chain = client.1.chain();
    let server = tokio::spawn(async move {
        let connection = served.accept().await.unwrap().await?;
        let shown = connection.peer_identity().unwrap().downcast::<Vec<CertificateDer>>().unwrap();
        assert_eq!(*shown, chain);
        let (mut send, mut receive) = connection.accept_bi().await?;
        let received = receive.read_to_end(usize::MAX).await.unwrap();
        send.write_all(&received).await.unwrap();
        send.finish().unwrap();
        // The client closes the connection when it has read everything.
        Ok(connection.closed().await)
    });
    let endpoint = Endpoint::client(LOCAL).unwrap();
    let config = ClientConfig::new(Arc::new(client_side));
    let connecting = endpoint.connect_with(config, address, "localhost").unwrap();
    let connection = match connecting.await {
        Ok(connection) => connection,
        Err(error) => return Err((error, server.await.unwrap().unwrap_err())),
    };
    let (mut send, mut receive) = connection.open_bi().await.unwrap();
    send.write_all(message).await.unwrap();
    send.finish().unwrap();
    let received = receive.read_to_end(usize::MAX).await.unwrap();
    connection.close(7_u32.into(), b"done");
    endpoint.wait_idle().await;
    let closed: ConnectionError = server.await.unwrap().unwrap();
    assert!(matches!(closed, ConnectionError::ApplicationClosed(_)), "{closed:?}");
    Ok(received)
}

/// Several packets.
static MESSAGE: [u8; 100_000] = [0x5a; 100_000];

#[test]
fn every_kind_of_certificate() {
    for certificate in Certificate::all("quic") {
        let side = || (default_provider(), &certificate);
        assert_eq!(run(echo(side(), side(), &MESSAGE)).unwrap(), MESSAGE);
    }
}

#[test]
fn every_suite_and_group() {
    let certificate = &Certificate::all("quic-suites")[2];
    let suites = default_provider().cipher_suites.into_iter();
    let suites: Vec<_> = suites.filter(|suite| suite.tls13().is_some()).collect();
    assert_eq!(suites.len(), 3);
    for suite in suites {
        for group in ALL_GROUPS {
            let side = || (provider(suite, *group), certificate);
            assert_eq!(run(echo(side(), side(), &MESSAGE)).unwrap(), MESSAGE, "{suite:?}");
        }
    }
}

#[test]
fn a_certificate_of_another_authority_is_refused() {
    let certificates = Certificate::all("quic-authorities");
    let side = |i: usize| (default_provider(), &certificates[i]);
    let (client, server) = run(echo(side(2), side(3), b"")).unwrap_err();
    // Both authorities have the same name, so the signature is wrong: alert 51, decrypt_error, as
    // an error of the connection (RFC 9001, section 4.8).
    let ConnectionError::TransportError(error) = client else { panic!("{client:?}") };
    assert_eq!(u64::from(error.code), 0x100 + 51);
    let ConnectionError::ConnectionClosed(closed) = server else { panic!("{server:?}") };
    assert_eq!(u64::from(closed.error_code), 0x100 + 51);
}
