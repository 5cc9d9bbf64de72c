//! What publishers and subscribers call.

use std::ffi::c_void;
use std::sync::Mutex;

use sinew_sys as sys;

use super::Frame;
use crate::error::{Error, ErrorKind, Result};
use crate::event::{Event, Events, OnEvent};

/// What is called for a message.
pub(super) type OnFrame = Box<dyn FnMut(Frame) + Send>;

/// The `context` of both.
pub(super) struct Callbacks {
    on_frame: Option<Mutex<OnFrame>>,
    on_event: Option<Mutex<OnEvent>>,
}

impl Callbacks {
    pub(super) fn new(on_frame: Option<OnFrame>, on_event: Option<OnEvent>) -> Callbacks {
        Callbacks { on_frame: on_frame.map(Mutex::new), on_event: on_event.map(Mutex::new) }
    }
}

/// Whoever asks for one without the other would hear of nothing, and not know why.
pub(super) fn require_both(topic: &str, events: Events, has_callback: bool) -> Result<()> {
    let why = match (events == Events::default(), has_callback) {
        (false, false) => "events are asked for, but on_event is None",
        (true, true) => "on_event is there, but no events are asked for",
        _ => return Ok(()),
    };
    Err(Error::new(ErrorKind::InvalidArgument, format!("topic '{topic}': {why}")))
}

/// # Safety
/// The context is of Callbacks, and the frame is given away.
pub(super) unsafe extern "C" fn on_frame(context: *mut c_void, frame: *mut sys::sinew_frame) {
    // SAFETY: as the caller has promised.
    let (callbacks, frame) = unsafe { (&*context.cast::<Callbacks>(), Frame::of(frame)) };
    if let Some(on_frame) = &callbacks.on_frame {
        on_frame.lock().expect("a panic ends the process")(frame);
    }
}

/// # Safety
/// The context is of Callbacks, and the event lives as long as this runs.
pub(super) unsafe extern "C" fn on_event(context: *mut c_void, event: *const sys::sinew_event) {
    // SAFETY: as the caller has promised.
    let (callbacks, event) = unsafe { (&*context.cast::<Callbacks>(), Event::of(&*event)) };
    if let (Some(on_event), Some(event)) = (&callbacks.on_event, event) {
        on_event.lock().expect("a panic ends the process")(event);
    }
}
