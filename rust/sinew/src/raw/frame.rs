//! Received messages.

use std::fmt;
use std::slice;

use sinew_msg::stream::{Malformed, Reader};
use sinew_sys as sys;

use crate::error::text_at;

/// A received message. It keeps the publisher's memory while it is there: of each publisher a subscriber holds at most 119 of them, and a quarter of its memory; what goes beyond is copied. Stays valid when subscriber, node and
/// publisher are gone, also by a crash.
///
/// Its bytes do not change, unless the publisher's process runs wild: whoever decodes them reads each length once and bounds it by what is left, as [`reader`](Frame::reader) does.
pub struct Frame(*mut sys::sinew_frame);

// SAFETY: "From any thread", says the header of releasing it; nothing else changes it.
unsafe impl Send for Frame {}
// SAFETY: likewise.
unsafe impl Sync for Frame {}

/// How a message came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Delivery {
    /// Within the process; between objects only.
    Pointer,
    /// In place, as an object.
    Native,
    /// As a stream, big arrays in place.
    View,
    /// Copied into this process.
    Copy,
}

impl Delivery {
    pub(crate) fn of(delivery: i32) -> Delivery {
        match delivery as u32 {
            sys::SINEW_DELIVERY_POINTER => Delivery::Pointer,
            sys::SINEW_DELIVERY_NATIVE => Delivery::Native,
            sys::SINEW_DELIVERY_VIEW => Delivery::View,
            _ => Delivery::Copy,
        }
    }
}

impl fmt::Display for Delivery {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(match self {
            Delivery::Pointer => "pointer",
            Delivery::Native => "native",
            Delivery::View => "view",
            Delivery::Copy => "copy",
        })
    }
}

/// Where a message is from, and when. Times are nanoseconds of `CLOCK_MONOTONIC`, which all processes of a machine share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageInfo {
    /// The name of its publisher's node.
    pub publisher: String,
    /// The publisher's count, from 1.
    pub sequence: u64,
    /// Just before subscribers could see it.
    pub source_time_ns: i64,
    /// Just before the callback was called, or `take()` returned.
    pub receive_time_ns: i64,
    /// Messages of this publisher that were lost to this subscriber since the one before.
    pub missed: u64,
    /// How it came.
    pub delivery: Delivery,
}

impl Frame {
    /// # Safety
    /// The frame is nobody else's.
    pub(crate) unsafe fn of(frame: *mut sys::sinew_frame) -> Frame {
        Frame(frame)
    }

    /// Its parts, which joined are the stream. An array or string of 4096 bytes or more that lies in the publisher's memory as in the stream is a part as a whole.
    pub fn extents(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        // SAFETY: the frame is ours as long as the result borrows it.
        unsafe { extents_at(self.0) }
    }

    /// Bytes of the stream.
    pub fn size(&self) -> usize {
        self.extents().map(<[u8]>::len).sum()
    }

    /// The stream in one piece, copied.
    pub fn to_vec(&self) -> Vec<u8> {
        self.extents().collect::<Vec<_>>().concat()
    }

    /// To read it where it lies.
    pub fn reader(&self) -> Result<Reader<'_>, Malformed> {
        Reader::new(&self.extents().collect::<Vec<_>>())
    }

    /// Where it is from, and when.
    pub fn info(&self) -> MessageInfo {
        // SAFETY: the frame is ours, and so are its texts.
        unsafe { info_at(self.0) }
    }
}

impl Drop for Frame {
    fn drop(&mut self) {
        // SAFETY: it was ours alone.
        unsafe { sys::sinew_frame_release(self.0) }
    }
}

impl fmt::Debug for Frame {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_struct("Frame").field("size", &self.size()).field("info", &self.info()).finish()
    }
}

/// # Safety
/// The frame is there as long as the result.
pub(crate) unsafe fn extents_at<'a>(frame: *const sys::sinew_frame) -> impl ExactSizeIterator<Item = &'a [u8]> {
    // SAFETY: as the caller has promised.
    let count = unsafe { sys::sinew_frame_extent_count(frame) };
    (0..count).map(move |index| {
        // SAFETY: likewise, and the index is less than the count.
        let extent = unsafe { sys::sinew_frame_extent(frame, index) };
        if extent.size == 0 {
            return &[][..];
        }
        // SAFETY: so many bytes are there as long as the frame.
        unsafe { slice::from_raw_parts(extent.data, extent.size) }
    })
}

/// # Safety
/// The frame is there.
pub(crate) unsafe fn info_at(frame: *const sys::sinew_frame) -> MessageInfo {
    // SAFETY: as the caller has promised; the text lives as long as the frame.
    let (info, publisher) = unsafe {
        let info = sys::sinew_frame_info(frame);
        (info, text_at(info.publisher))
    };
    MessageInfo {
        publisher,
        sequence: info.sequence,
        source_time_ns: info.source_time_ns,
        receive_time_ns: info.receive_time_ns,
        missed: info.missed,
        delivery: Delivery::of(info.delivery),
    }
}
