//! Asking masters and nodes of ROS 1.

use std::time::Duration;

use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::http;
use super::uri::Uri;
use super::xml::{self, Call, Value};
use crate::peers::printable;

/// An answer takes no longer.
const PATIENCE: Duration = Duration::from_secs(5);
/// The status of an answer that is one.
const SUCCESS: Value = Value::Int(1);

/// Why there is no answer, as half a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unanswered {
    /// Nobody is there, or it is nobody of ROS 1.
    Unreachable(String),
    /// It says no.
    Refused(String),
}

impl Unanswered {
    /// Whichever it is.
    pub fn why(self) -> String {
        let (Unanswered::Unreachable(why) | Unanswered::Refused(why)) = self;
        why
    }
}

/// What it answers, which is `[status, text, value]` in ROS 1.
pub async fn ask(whom: &Uri, method: &str, arguments: Vec<Value>) -> Result<Value, Unanswered> {
    let call = Call { method: method.to_owned(), arguments }.write();
    let answer = timeout(PATIENCE, exchange(whom, &call)).await;
    let late = |_| Err(format!("{whom} does not answer within {} s", PATIENCE.as_secs()));
    let answer = answer.unwrap_or_else(late).map_err(Unanswered::Unreachable)?;
    match answer.list() {
        Some([status, _, value]) if *status == SUCCESS => Ok(value.clone()),
        Some([Value::Int(_), why, _]) => Err(Unanswered::Refused(printable(why.text().unwrap_or_default()))),
        _ => Err(Unanswered::Unreachable(format!("{whom} does not answer as somebody of ROS 1 does"))),
    }
}

async fn exchange(whom: &Uri, call: &str) -> Result<Value, String> {
    let mut stream = TcpStream::connect((whom.host.as_str(), whom.port)).await.map_err(|why| format!("{whom} cannot be reached: {why}"))?;
    let request = http::request(&whom.host, call);
    stream.write_all(request.as_bytes()).await.map_err(|why| format!("{whom} does not listen: {why}"))?;
    let answer = http::read_answer(&mut stream).await.map_err(|why| format!("the answer of {whom} cannot be read: {why}"))?;
    xml::read_answer(&answer).map_err(|why| format!("the answer of {whom} cannot be read: {why}"))
}
