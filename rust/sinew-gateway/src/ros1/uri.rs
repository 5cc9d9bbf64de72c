//! Where somebody of ROS 1 can be asked: `http://host:11311`. Pure.

use std::fmt;
use std::net::Ipv6Addr;
use std::str::FromStr;

/// Of a master, or of a node.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Uri {
    /// A name or an address, that of IPv6 without brackets.
    pub host: String,
    /// Not 0.
    pub port: u16,
}

/// It is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoUri;

impl FromStr for Uri {
    type Err = NoUri;

    /// What stands behind the port does not matter: there is one thing to ask there.
    fn from_str(text: &str) -> Result<Uri, NoUri> {
        let authority = text.strip_prefix("http://").and_then(|rest| rest.split('/').next()).ok_or(NoUri)?;
        let (host, port) = authority.rsplit_once(':').ok_or(NoUri)?;
        let host = match host.strip_prefix('[') {
            Some(bracketed) => bracketed.strip_suffix(']').filter(|address| address.parse::<Ipv6Addr>().is_ok()).ok_or(NoUri)?,
            None => Some(host).filter(|host| is_host(host) && !host.contains(':')).ok_or(NoUri)?,
        };
        let are_digits = port.bytes().all(|byte| byte.is_ascii_digit());
        let port = port.parse().ok().filter(|port| are_digits && *port > 0).ok_or(NoUri)?;
        Ok(Uri { host: host.to_owned(), port })
    }
}

impl fmt::Display for Uri {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.host.contains(':') {
            write!(to, "http://[{}]:{}/", self.host, self.port)
        } else {
            write!(to, "http://{}:{}/", self.host, self.port)
        }
    }
}

/// A name of a machine, or an address.
pub fn is_host(text: &str) -> bool {
    let is_name = |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_'));
    (1..=253).contains(&text.len()) && (is_name(text) || text.parse::<Ipv6Addr>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_uri_is_told_as_it_is_read() {
        for (text, host, port) in [
            ("http://localhost:11311/", "localhost", 11311),
            ("http://robot-7.local:1/RPC2", "robot-7.local", 1),
            ("http://192.168.1.2:65535", "192.168.1.2", 65535),
            ("http://[fd00::2]:11311/", "fd00::2", 11311),
        ] {
            let uri: Uri = text.parse().expect("it is one");
            assert_eq!((uri.host.as_str(), uri.port), (host, port), "{text}");
            assert_eq!(uri.to_string().parse(), Ok(uri));
        }
    }

    #[test]
    fn what_is_none_is_refused() {
        for text in [
            "",
            "localhost:11311",
            "https://a:1",
            "http://a",
            "http://:1",
            "http://a:0",
            "http://a:65536",
            "http://a:+1",
            "http://a:",
            "http://a b:1",
            "http://a@b:1",
            "http://fd00::2:1",
            "http://[a]:1",
            "http://[::1:1",
            "http:///a:1",
            "rosrpc://a:1",
        ] {
            assert_eq!(text.parse::<Uri>(), Err(NoUri), "{text}");
        }
    }
}
