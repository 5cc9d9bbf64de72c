//! As much of HTTP as XML-RPC needs: one request and its answer on a connection. What is read comes from strangers, and is bounded.

use httparse::{EMPTY_HEADER, Header, Request, Response, Status};
use tokio::io::{AsyncRead, AsyncReadExt};

/// Bytes of what is asked, or answered.
const MOST: usize = 1 << 20;
/// Bytes of what stands before.
const MOST_HEAD: usize = 8 << 10;
/// Lines of it.
const MOST_LINES: usize = 64;

/// What stands before a body.
struct Head {
    bytes: usize,
    /// None: the body ends with the connection.
    body: Option<usize>,
}

/// Reads a request; else why there is none, as half a sentence.
pub async fn read_request(from: &mut (impl AsyncRead + Unpin)) -> Result<String, String> {
    read(from, |bytes| {
        let mut lines = [EMPTY_HEADER; MOST_LINES];
        let mut request = Request::new(&mut lines);
        let Status::Complete(size) = request.parse(bytes).map_err(|why| format!("what was sent is no HTTP: {why}"))? else {
            return Ok(None);
        };
        if request.method != Some("POST") {
            return Err("nothing but POST is answered".to_owned());
        }
        let body = body_of(request.headers)?.ok_or("a request does not say how long it is")?;
        Ok(Some(Head { bytes: size, body: Some(body) }))
    })
    .await
}

/// Reads an answer, likewise.
pub async fn read_answer(from: &mut (impl AsyncRead + Unpin)) -> Result<String, String> {
    read(from, |bytes| {
        let mut lines = [EMPTY_HEADER; MOST_LINES];
        let mut answer = Response::new(&mut lines);
        let Status::Complete(size) = answer.parse(bytes).map_err(|why| format!("what was answered is no HTTP: {why}"))? else {
            return Ok(None);
        };
        match answer.code {
            Some(200) => Ok(Some(Head { bytes: size, body: body_of(answer.headers)? })),
            code => Err(format!("it answers with the status {}", code.unwrap_or_default())),
        }
    })
    .await
}

/// As a request of HTTP 1.0, whose answer comes in one piece, and ends the connection.
pub fn request(host: &str, body: &str) -> String {
    format!(
        "POST /RPC2 HTTP/1.0\r\nHost: {host}\r\nUser-Agent: sinew\r\nContent-Type: text/xml\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
}

/// As an answer, behind which nothing follows.
pub fn answer(body: &str) -> String {
    format!(
        "HTTP/1.1 200 OK\r\nServer: sinew\r\nConnection: close\r\nContent-Type: text/xml\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
}

/// How long it says it is.
fn body_of(lines: &[Header<'_>]) -> Result<Option<usize>, String> {
    let Some(line) = lines.iter().find(|line| line.name.eq_ignore_ascii_case("content-length")) else { return Ok(None) };
    let size = std::str::from_utf8(line.value).ok().and_then(|text| text.trim().parse().ok());
    match size {
        Some(size) if size <= MOST => Ok(Some(size)),
        Some(size) => Err(format!("{size} bytes are to come, and {MOST} are the most")),
        None => Err("its length is none".to_owned()),
    }
}

async fn read(from: &mut (impl AsyncRead + Unpin), head_of: impl Fn(&[u8]) -> Result<Option<Head>, String>) -> Result<String, String> {
    let mut bytes = Vec::new();
    let head = loop {
        if let Some(head) = head_of(&bytes)? {
            break head;
        }
        if bytes.len() > MOST_HEAD {
            return Err(format!("what stands before it has more than {MOST_HEAD} bytes"));
        }
        if !more(from, &mut bytes).await? {
            return Err("it ends too early".to_owned());
        }
    };
    let mut body = bytes.split_off(head.bytes);
    while head.body.is_none_or(|size| body.len() < size) {
        if body.len() > MOST {
            return Err(format!("it has more than {MOST} bytes"));
        }
        if !more(from, &mut body).await? {
            if head.body.is_some() {
                return Err("it ends too early".to_owned());
            }
            break;
        }
    }
    body.truncate(head.body.unwrap_or(body.len()));
    String::from_utf8(body).map_err(|_| "it is not UTF-8".to_owned())
}

/// False: nothing comes any more.
async fn more(from: &mut (impl AsyncRead + Unpin), to: &mut Vec<u8>) -> Result<bool, String> {
    let mut part = [0; 4096];
    let size = from.read(&mut part).await.map_err(|why| why.to_string())?;
    to.extend_from_slice(&part[..size]);
    Ok(size > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn asked(text: &str) -> Result<String, String> {
        read_request(&mut text.as_bytes()).await
    }

    #[tokio::test]
    async fn a_request_and_an_answer_are_read_as_they_are_written() {
        assert_eq!(asked(&request("localhost", "<a/>")).await, Ok("<a/>".to_owned()));
        assert_eq!(read_answer(&mut answer("<b/>").as_bytes()).await, Ok("<b/>".to_owned()));
        // Of programs that do not say how long it is.
        assert_eq!(read_answer(&mut &b"HTTP/1.0 200 OK\r\n\r\n<c/>"[..]).await, Ok("<c/>".to_owned()));
    }

    #[tokio::test]
    async fn what_is_no_request_is_refused() {
        let head = "POST / HTTP/1.1\r\n";
        for (text, why) in [
            (String::new(), "it ends too early"),
            ("hello\r\n\r\n".to_owned(), "what was sent is no HTTP"),
            ("GET / HTTP/1.1\r\n\r\n".to_owned(), "nothing but POST is answered"),
            (format!("{head}\r\n"), "a request does not say how long it is"),
            (format!("{head}Content-Length: -1\r\n\r\n"), "its length is none"),
            (format!("{head}Content-Length: 1048577\r\n\r\n"), "1048577 bytes are to come"),
            (format!("{head}Content-Length: 9\r\n\r\nabc"), "it ends too early"),
            (format!("{head}A: {}\r\n\r\n", "a".repeat(20_000)), "what stands before it has more than 8192 bytes"),
            (format!("{head}{}\r\n", "A: b\r\n".repeat(100)), "what was sent is no HTTP"),
        ] {
            let error = asked(&text).await.expect_err("it is none");
            assert!(error.starts_with(why), "{error}");
        }
        let endless = [b"HTTP/1.0 200 OK\r\n\r\n".as_slice(), &b"a".repeat(2 << 20)[..]].concat();
        assert_eq!(read_answer(&mut endless.as_slice()).await, Err("it has more than 1048576 bytes".to_owned()));
        assert_eq!(read_answer(&mut &b"HTTP/1.0 404 No\r\n\r\n"[..]).await, Err("it answers with the status 404".to_owned()));
    }
}
