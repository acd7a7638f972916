//! Proxies and certificate authorities.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use llm::FailureKind;
use providers::{Kind, ProviderSettings};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;

use crate::server::{Server, answer, events, fails, hello, provider};

/// An address without a server; only a proxy can answer for it.
const NOWHERE: &str = "http://models.invalid";

fn at(base_url: &str) -> ProviderSettings {
    ProviderSettings {
        base_url: Some(base_url.into()),
        connect_timeout_s: Some(2),
        ..ProviderSettings::new(Kind::OpenaiChat)
    }
}

#[tokio::test]
async fn the_proxy_of_the_settings_is_used() {
    let proxy = Server::start(|_| events(hello(Kind::OpenaiChat))).await;
    let settings = ProviderSettings { proxy: Some(proxy.url.clone()), ..at(NOWHERE) };
    answer(&*provider(settings, &[])).await;
    assert_eq!(proxy.seen()[0].uri.to_string(), "http://models.invalid/v1/chat/completions");
}

/// A server that answers this many requests on a connection and closes it when the next one comes,
/// though it promised to keep it. Counts the requests that it read.
async fn closes_after(answers: usize) -> (String, Arc<AtomicUsize>) {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    let requests: Arc<AtomicUsize> = Arc::default();
    let counted = Arc::clone(&requests);
    tokio::spawn(async move {
        while let Ok((mut connection, _)) = listener.accept().await {
            for request in 0..=answers {
                let mut buffer = [0; 16 * 1024];
                if connection.read(&mut buffer).await.is_ok_and(|bytes| bytes > 0) {
                    counted.fetch_add(1, Ordering::SeqCst);
                }
                if request < answers {
                    let body = hello(Kind::OpenaiChat);
                    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nkeep-alive: timeout=5";
                    let whole = format!("{head}\r\ncontent-length: {}\r\n\r\n{body}", body.len());
                    connection.write_all(whole.as_bytes()).await.expect("to write");
                }
            }
        }
    });
    (url, requests)
}

#[tokio::test]
async fn a_closed_idle_connection_is_replaced() {
    let (url, requests) = closes_after(1).await;
    let provider = provider(at(&url), &[]);
    for _ in 0..4 {
        answer(&*provider).await;
    }
    assert_eq!(requests.load(Ordering::SeqCst), 7);
}

#[tokio::test]
async fn a_new_connection_that_was_closed_is_one() {
    let (url, requests) = closes_after(0).await;
    let failure = fails(&*provider(at(&url), &[])).await;
    assert_eq!((failure.kind, failure.status), (FailureKind::Transport, None));
    assert_eq!(requests.load(Ordering::SeqCst), 1);
}

/// Runs one test of this binary in a process with these variables.
fn run_again(test: &str, variables: &[(&str, &str)]) {
    let output = std::process::Command::new(std::env::current_exe().expect("this binary"))
        .args(["--exact", test, "--nocapture"])
        .env("IN_CHILD", "yes")
        .envs(variables.iter().copied())
        .output()
        .expect("a process");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
}

fn in_child() -> bool {
    std::env::var_os("IN_CHILD").is_some()
}

#[tokio::test(flavor = "multi_thread")]
async fn proxies_of_the_environment_are_honoured() {
    if in_child() {
        let here = Server::start(|_| events(hello(Kind::OpenaiChat))).await;
        answer(&*provider(at(NOWHERE), &[])).await;
        answer(&*provider(here.settings(Kind::OpenaiChat), &[])).await;
        assert_eq!(here.seen().len(), 1, "the machine itself is not reached through a proxy");
        let excepted = fails(&*provider(at("http://excepted.invalid"), &[])).await;
        assert_eq!(excepted.kind, FailureKind::Transport);
        let direct = ProviderSettings { proxy: Some("none".into()), ..at(NOWHERE) };
        assert_eq!(fails(&*provider(direct, &[])).await.kind, FailureKind::Transport);
        return;
    }
    let proxy = Server::start(|_| events(hello(Kind::OpenaiChat))).await;
    let url = proxy.url.clone();
    let child = tokio::task::spawn_blocking(move || {
        let variables = [
            ("HTTP_PROXY", url.as_str()),
            ("http_proxy", url.as_str()),
            ("NO_PROXY", "excepted.invalid"),
            ("no_proxy", "excepted.invalid"),
        ];
        run_again("network::proxies_of_the_environment_are_honoured", &variables);
    });
    child.await.expect("the child");
    let uris: Vec<_> = proxy.seen().iter().map(|seen| seen.uri.to_string()).collect();
    assert_eq!(uris, ["http://models.invalid/v1/chat/completions"]);
}

/// A server with a certificate of an unknown authority, and the authority's file.
async fn encrypted(directory: &Path) -> (String, PathBuf) {
    let mut authority = CertificateParams::new([]).expect("parameters");
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority =
        CertifiedIssuer::self_signed(authority, KeyPair::generate().expect("a key")).expect("an authority");
    let key = KeyPair::generate().expect("a key");
    let parameters = CertificateParams::new(["localhost".to_owned()]).expect("parameters");
    let certificate = parameters.signed_by(&key, &authority).expect("a certificate");
    let ca_file = directory.join("ca.pem");
    std::fs::write(&ca_file, authority.pem()).expect("a file");
    let key = PrivateKeyDer::try_from(key.serialize_der()).expect("a key");
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], key)
        .expect("a configuration");
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let port = listener.local_addr().expect("an address").port();
    tokio::spawn(async move {
        while let Ok((connection, _)) = listener.accept().await {
            let Ok(mut connection) = acceptor.accept(connection).await else { continue };
            let mut request = [0; 16 * 1024];
            let _ = connection.read(&mut request).await;
            let body = hello(Kind::OpenaiChat);
            let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
            let _ = connection.write_all(format!("{head}{body}").as_bytes()).await;
            let _ = connection.shutdown().await;
        }
    });
    (format!("https://localhost:{port}"), ca_file)
}

#[tokio::test]
async fn an_authority_of_the_settings_is_trusted_and_no_other() {
    let directory = tempfile::tempdir().expect("a directory");
    let (url, ca_file) = encrypted(directory.path()).await;
    answer(&*provider(ProviderSettings { ca_file: Some(ca_file), ..at(&url) }, &[])).await;
    let failure = fails(&*provider(at(&url), &[])).await;
    assert_eq!(failure.kind, FailureKind::Transport);
    assert!(failure.message.contains("certificate"), "{failure}");
}

#[tokio::test]
async fn a_file_of_authorities_that_cannot_be_used_is_named() {
    let directory = tempfile::tempdir().expect("a directory");
    let missing = directory.path().join("missing.pem");
    let empty = directory.path().join("empty.pem");
    std::fs::write(&empty, "no certificate").expect("a file");
    for (file, problem) in [(missing, "missing.pem"), (empty, "must be a PEM file")] {
        let failure =
            fails(&*provider(ProviderSettings { ca_file: Some(file), ..at("https://localhost:1") }, &[]))
                .await;
        assert_eq!(failure.kind, FailureKind::Rejected);
        assert!(failure.message.contains(problem), "{failure}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_usual_variable_for_authorities_is_honoured() {
    if in_child() {
        let url = std::env::var("SERVER").expect("an address");
        answer(&*provider(at(&url), &[])).await;
        return;
    }
    let directory = tempfile::tempdir().expect("a directory");
    let (url, ca_file) = encrypted(directory.path()).await;
    let child = tokio::task::spawn_blocking(move || {
        let file = ca_file.to_str().expect("a path");
        let variables = [("SERVER", url.as_str()), ("SSL_CERT_FILE", file)];
        run_again("network::the_usual_variable_for_authorities_is_honoured", &variables);
    });
    child.await.expect("the child");
}
