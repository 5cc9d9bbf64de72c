//! The bytes of one message, as they arrive.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use bytes::Bytes;
use futures_util::FutureExt;
use quinn::{Chunk, ReadError, RecvStream, VarInt};
use tokio::sync::Notify;

use crate::point::point;
use crate::protocol::{Decoded, Dropped, RepairHead, violation};
use crate::repair::{Cover, Missing, SYMBOL};

/// What has come for the repair of a message that arrives. It is never more than the message itself, which has room: so symbols for a larger one are not taken.
#[derive(Debug)]
pub(super) struct Gathering {
    /// Bytes of the message, packed.
    size: usize,
    symbols: Mutex<Option<(Cover, BTreeMap<u16, Bytes>)>>,
    come: Notify,
}

impl Gathering {
    /// For a message of so many bytes.
    pub fn new(size: usize) -> Gathering {
        Gathering { size, symbols: Mutex::default(), come: Notify::new() }
    }

    /// Symbols have come, one behind the other.
    pub fn add(&self, head: &RepairHead, mut bytes: Bytes) -> Decoded<()> {
        let cover = Cover::told(head)?;
        let count = bytes.len() / SYMBOL;
        if count == 0 || count * SYMBOL != bytes.len() || usize::from(head.index) + count > cover.repairs {
            return violation("symbols for the repair of a message that are too few, or too many");
        }
        if cover.size != self.size {
            return violation(format!("symbols for the repair of a message of {} bytes, which has {}", cover.size, self.size));
        }
        let mut symbols = self.symbols.lock().unwrap_or_else(PoisonError::into_inner);
        let (known, symbols) = symbols.get_or_insert_with(|| (cover, BTreeMap::new()));
        if *known != cover {
            return violation("symbols for the repair of a message that say different things of it");
        }
        for index in head.index..head.index + count as u16 {
            symbols.insert(index, bytes.split_to(SYMBOL));
        }
        self.come.notify_one();
        Ok(())
    }

    fn repair(&self, missing: &mut Missing, message: &mut [u8]) -> bool {
        match &*self.symbols.lock().unwrap_or_else(PoisonError::into_inner) {
            Some((cover, symbols)) => missing.repair(message, cover, symbols),
            None => false,
        }
    }

    /// Until `message`, which begins at this byte of the stream, is whole. False: the sender has given it up.
    pub async fn whole(&self, stream: &mut RecvStream, begin: u64, message: &mut [u8]) -> Decoded<bool> {
        let mut missing = Missing::all(message.len());
        // First what is there in order: it may have come twice before its head was read, and whoever reads in any order then gets the head again, and quinn counts more than was sent.
        while !missing.is_none()
            && let Some(chunk) = stream.read_chunk(usize::MAX, true).now_or_never()
        {
            if !put(chunk, begin, message, &mut missing)? {
                return Ok(false);
            }
        }
        while !missing.is_none() {
            tokio::select! {
                biased;
                chunk = stream.read_chunk(usize::MAX, false) => {
                    if !put(chunk, begin, message, &mut missing)? {
                        return Ok(false);
                    }
                }
                () = self.come.notified() => {}
            }
            if self.repair(&mut missing, message) {
                // What is under way again is not needed any more.
                let _ = stream.stop(VarInt::from_u32(Dropped::Whole as u32));
            }
        }
        Ok(true)
    }
}

/// The rest of a stream, in order, as what stands before it was read: quinn's own `read_to_end` takes what has come in any order ([`Gathering::whole`]). None: it is more than so many bytes.
pub(crate) async fn rest(stream: &mut RecvStream, most: usize) -> Result<Option<Vec<u8>>, ReadError> {
    let mut bytes = Vec::new();
    while let Some(chunk) = stream.read_chunk(usize::MAX, true).await? {
        if bytes.len() + chunk.bytes.len() > most {
            return Ok(None);
        }
        bytes.extend_from_slice(&chunk.bytes);
    }
    Ok(Some(bytes))
}

/// Reads what nobody has room for. False: the stream is over.
pub(super) async fn skip(stream: &mut RecvStream, size: u32) -> Decoded<bool> {
    let mut left = size as usize;
    while left > 0 {
        match stream.read_chunk(left, true).await {
            Ok(Some(chunk)) => left -= chunk.bytes.len(),
            Ok(None) => return violation("a stream ends within a message"),
            Err(_) => return Ok(false),
        }
    }
    Ok(true)
}

/// What has come of a message that begins at this byte of its stream, where it belongs. False: the sender has given it up.
fn put(chunk: Result<Option<Chunk>, ReadError>, begin: u64, message: &mut [u8], missing: &mut Missing) -> Decoded<bool> {
    let chunk = match chunk {
        Ok(Some(chunk)) => chunk,
        Ok(None) => return violation("a stream ends within a message"),
        Err(_) => return Ok(false),
    };
    let at = usize::try_from(chunk.offset.saturating_sub(begin)).unwrap_or(usize::MAX);
    let Some(place) = message.get_mut(at..).and_then(|rest| rest.get_mut(..chunk.bytes.len())) else {
        return violation("a stream goes on behind its message");
    };
    place.copy_from_slice(&chunk.bytes);
    missing.arrived(at..at + chunk.bytes.len());
    if !missing.is_none() {
        point("message half received");
    }
    Ok(true)
}
