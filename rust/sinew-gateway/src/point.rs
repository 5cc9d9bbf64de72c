//! Places where tests end the process as a crash would. In releases there is nothing of it.

use std::sync::LazyLock;

/// All of them, about in the order in which a gateway comes through.
pub const POINTS: [&str; 22] = [
    "domain joined",
    "listening",
    "hello said",
    "peer up",
    "want about to be said",
    "topic opened for the peer",
    "service opened for the peer",
    "topic opened here",
    "service opened here",
    "message taken",
    "message half sent",
    "message sent",
    "message announced",
    "message half received",
    "message about to be published",
    "message published",
    "call taken",
    "call sent",
    "call executed",
    "answer sent",
    "answer received",
    "leaving",
];

/// Ends the process if SINEW_GATEWAY_DIES_AT names this point.
pub(crate) fn point(name: &'static str) {
    static WANTED: LazyLock<Option<String>> = LazyLock::new(|| std::env::var("SINEW_GATEWAY_DIES_AT").ok());
    if !cfg!(debug_assertions) {
        return;
    }
    assert!(POINTS.contains(&name), "'{name}' is not tried by tests");
    if WANTED.as_deref() == Some(name) {
        let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
    }
}
