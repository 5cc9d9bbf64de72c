//! What two ends of a connection of TCPROS say to each other before messages: fields, each `name=value` behind its length, all of them behind theirs.

use std::collections::BTreeMap;

use tokio::io::{AsyncRead, AsyncReadExt};

/// Bytes of all fields: definitions are among them.
const MOST: u32 = 1 << 20;
/// Of them.
const MOST_FIELDS: usize = 64;

/// By their names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Header(BTreeMap<String, String>);

impl Header {
    /// With these.
    pub fn of<const N: usize>(fields: [(&str, &str); N]) -> Header {
        Header(fields.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect())
    }

    /// What nobody has said is empty.
    pub fn get(&self, name: &str) -> &str {
        self.0.get(name).map_or("", String::as_str)
    }

    /// As bytes.
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = vec![0; 4];
        for (name, value) in &self.0 {
            bytes.extend(length(name.len() + 1 + value.len()));
            bytes.extend([name.as_bytes(), b"=", value.as_bytes()].concat());
        }
        let size = length(bytes.len() - 4);
        bytes[..4].copy_from_slice(&size);
        bytes
    }

    /// Of the bytes behind the length of all. What strangers wrote there may be anything.
    pub fn decode(mut bytes: &[u8]) -> Result<Header, String> {
        let mut fields = BTreeMap::new();
        while !bytes.is_empty() {
            let cut = || "a field ends too early".to_owned();
            let (size, rest) = bytes.split_first_chunk().ok_or_else(cut)?;
            let (field, rest) = rest.split_at_checked(u32::from_le_bytes(*size) as usize).ok_or_else(cut)?;
            bytes = rest;
            let field = String::from_utf8_lossy(field);
            let (name, value) = field.split_once('=').ok_or("a field has no '='")?;
            fields.insert(name.to_owned(), value.to_owned());
            if fields.len() > MOST_FIELDS {
                return Err(format!("there are more than {MOST_FIELDS} fields"));
            }
        }
        Ok(Header(fields))
    }

    /// The next on a connection; else why there is none, as half a sentence.
    pub async fn read(from: &mut (impl AsyncRead + Unpin)) -> Result<Header, String> {
        let size = from.read_u32_le().await.map_err(|why| why.to_string())?;
        if size > MOST {
            return Err(format!("its header has {size} bytes, and {MOST} are the most"));
        }
        let mut bytes = vec![0; size as usize];
        from.read_exact(&mut bytes).await.map_err(|why| why.to_string())?;
        Header::decode(&bytes).map_err(|why| format!("its header cannot be read: {why}"))
    }
}

/// No field of ours is longer than 32 bits can say.
fn length(size: usize) -> [u8; 4] {
    u32::try_from(size).unwrap_or(u32::MAX).to_le_bytes()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn it_is_encoded_as_ros_1_has_it() {
        let header = Header::of([("topic", "/a"), ("md5sum", "*")]);
        assert_eq!(header.encode(), b"\x18\0\0\0\x08\0\0\0md5sum=*\x08\0\0\0topic=/a");
        assert_eq!(Header::decode(&header.encode()[4..]), Ok(header));
    }

    #[test]
    fn a_value_may_have_any_character() {
        let header = Header::of([("message_definition", "uint8 X=1\nstring text # ä")]);
        assert_eq!(Header::decode(&header.encode()[4..]), Ok(header));
    }

    #[tokio::test]
    async fn what_is_no_header_is_refused() {
        for (bytes, why) in [
            (&b""[..], "end of file"),
            (&b"\x01\0\x10\0"[..], "its header has 1048577 bytes"),
            (&b"\x04\0\0\0\x09\0\0\0"[..], "its header cannot be read: a field ends too early"),
            (&b"\x02\0\0\0ab"[..], "its header cannot be read: a field ends too early"),
            (&b"\x06\0\0\0\x02\0\0\0ab"[..], "its header cannot be read: a field has no '='"),
        ] {
            let error = Header::read(&mut &*bytes).await.expect_err("it is none");
            assert!(error.contains(why), "{error}");
        }
        let many = (0..65).flat_map(|n| [&[3u8, 0, 0, 0][..], &[n, b'=', b'x']].concat()).collect::<Vec<_>>();
        assert_eq!(Header::decode(&many), Err("there are more than 64 fields".to_owned()));
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1000) })]

        #[test]
        fn no_bytes_crash_the_decoder(bytes in prop::collection::vec(prop_oneof![0..9_u8, any::<u8>()], 0..60)) {
            let _ = Header::decode(&bytes);
        }
    }
}
