//! An implementation of DDS, loaded when the program runs. The only place that knows of its C.

use std::ffi::{CStr, CString, c_char, c_void};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::guid::{Guid, Identity};
use super::qos::Qos;
use super::strangers::{Endpoint, Stranger};
use super::{sys, user_data};

/// The library, beside that of sinew.
const FAST_DDS: &str = "sinew/libsinew-fastdds.so";

/// All functions of a back end.
#[derive(Clone, Copy)]
pub struct BackEnd(&'static sys::functions);

// SAFETY: "All functions may be called from any thread", and texts in it are constants.
unsafe impl Send for BackEnd {}
// SAFETY: likewise.
unsafe impl Sync for BackEnd {}

/// What is heard of others, by threads of the back end, one at a time.
pub enum Heard {
    /// A participant is there.
    Came(Guid, Stranger),
    /// And is gone.
    Went(Guid),
    /// A writer or reader of it is there, or is another one now.
    Opened(Endpoint),
    /// And is gone.
    Closed(Guid),
}

/// Where a topic is, and how.
pub struct Place<'a> {
    /// As DDS has it.
    pub topic: &'a str,
    /// As DDS has it.
    pub ty: &'a str,
    /// What is offered, or asked for.
    pub qos: Qos,
    /// What is said of it beside.
    pub user_data: &'a str,
}

/// What a writer or a reader hears, by threads of the back end, one at a time.
pub trait Listener: Send + Sync {
    /// Somebody else's is connected with it, or is not any more.
    fn matched(&self, _other: Guid, _is_matched: bool) {}

    /// Somebody else's is not, as this policy does not fit.
    fn incompatible(&self, _policy: &str) {}

    /// Where a message of so many bytes is to be put, which is this listener's until [`Listener::message`] tells that it is there. None: it is not wanted.
    fn room_for(&self, _size: usize) -> Option<*mut u8> {
        None
    }

    /// A message is there.
    fn message(&self, _message: &Message) {}

    /// One has come that is not wanted, or has no data.
    fn unwanted(&self, _message: Identity) {}
}

/// Of a message that came.
#[derive(Clone, Copy, Debug)]
pub struct Message {
    /// Bytes.
    pub size: usize,
    /// Its own.
    pub identity: Identity,
    /// That of the request that it answers.
    pub related: Identity,
}

impl BackEnd {
    /// Fast DDS, from the folder of sinew's own library.
    pub fn load() -> Result<BackEnd, String> {
        let folder = sinew::library_folder().ok_or("it is not known where sinew's own library lies")?;
        BackEnd::of(&folder.join(FAST_DDS))
    }

    /// From this file. It is never unloaded: its threads may outlive everything else.
    fn of(path: &Path) -> Result<BackEnd, String> {
        let missing = |why: libloading::Error| {
            format!(
                "Fast DDS cannot be used: {why}; sinew has to be built where Fast DDS 2 is (on Debian 12 `apt install libfastrtps-dev`), and it is needed where it runs"
            )
        };
        // SAFETY: the library is of sinew, and does nothing when it is loaded that its own dependencies do not do.
        let library = Box::leak(Box::new(unsafe { libloading::Library::new(path) }.map_err(missing)?));
        // SAFETY: this is what the function is in the header.
        let back_end: libloading::Symbol<'_, unsafe extern "C" fn() -> *const sys::functions> =
            unsafe { library.get(b"sinew_dds_back_end\0") }.map_err(missing)?;
        // SAFETY: it lives as long as the library is loaded, which is for ever.
        let functions = unsafe { &*back_end() };
        if functions.version != sys::VERSION {
            return Err(format!("{} is of another version of sinew ({} beside {})", path.display(), functions.version, sys::VERSION));
        }
        Ok(BackEnd(functions))
    }

    /// "Fast DDS 2.9.1"
    pub fn name(&self) -> &'static str {
        // SAFETY: a constant.
        unsafe { CStr::from_ptr(self.0.name) }.to_str().unwrap_or_default()
    }
}

// --- participants --------------------------------------------------------------------------------------------------------------------

/// In a DDS domain, until it is dropped.
pub struct Participant {
    functions: &'static sys::functions,
    raw: *mut sys::participant,
    discovered: *mut Discovered,
}

type Discovered = Box<dyn Fn(Heard) + Send + Sync>;

// SAFETY: "All functions may be called from any thread", and what it hears with is Send and Sync.
unsafe impl Send for Participant {}
// SAFETY: likewise.
unsafe impl Sync for Participant {}

impl Participant {
    /// Joins it. Discovery begins at once.
    pub fn open(
        back_end: BackEnd,
        (domain, name, interfaces): (u32, &str, &str),
        said: &str,
        heard: impl Fn(Heard) + Send + Sync + 'static,
    ) -> Result<Arc<Participant>, String> {
        let (name, interfaces) = (text(name)?, text(interfaces)?);
        let options = sys::options { domain, name: name.as_ptr(), interfaces: interfaces.as_ptr(), user_data: bytes_of(said.as_bytes()) };
        let discovered: *mut Discovered = Box::into_raw(Box::new(Box::new(heard)));
        let discovery = sys::discovery { context: discovered.cast(), on_participant, on_participant_gone, on_endpoint, on_endpoint_gone };
        // SAFETY: what is given lives until it returns, and the context until the participant is closed.
        let opened = made(|why| unsafe { (back_end.0.open)(&options, &discovery, why) });
        match opened {
            Ok(raw) => Ok(Arc::new(Participant { functions: back_end.0, raw, discovered })),
            Err(why) => {
                // SAFETY: nobody else has it.
                drop(unsafe { Box::from_raw(discovered) });
                Err(why)
            }
        }
    }

    /// Its own.
    pub fn guid(&self) -> Guid {
        let mut guid = sys::guid::default();
        // SAFETY: the participant is there.
        unsafe { (self.functions.guid_of_participant)(self.raw, &mut guid) };
        Guid(guid.bytes)
    }
}

impl Drop for Participant {
    fn drop(&mut self) {
        // SAFETY: writers and readers, which have it, are gone; and nobody is told of anything when it has returned.
        unsafe {
            (self.functions.close)(self.raw);
            drop(Box::from_raw(self.discovered));
        }
    }
}

/// # Safety
/// Called by the back end, with what the header says.
unsafe extern "C" fn on_participant(context: *mut c_void, stranger: *const sys::stranger) {
    // SAFETY: see the header.
    let (heard, stranger) = unsafe { (&*context.cast::<Discovered>(), &*stranger) };
    // SAFETY: likewise.
    let said = unsafe { slice_of(&stranger.user_data) };
    heard(Heard::Came(Guid(stranger.guid.bytes), Stranger::of(stranger.vendor, said)));
}

/// # Safety
/// As above.
unsafe extern "C" fn on_participant_gone(context: *mut c_void, guid: *const sys::guid) {
    // SAFETY: see the header.
    let (heard, guid) = unsafe { (&*context.cast::<Discovered>(), &*guid) };
    heard(Heard::Went(Guid(guid.bytes)));
}

/// # Safety
/// As above.
unsafe extern "C" fn on_endpoint(context: *mut c_void, endpoint: *const sys::endpoint) {
    // SAFETY: see the header.
    let (heard, endpoint) = unsafe { (&*context.cast::<Discovered>(), &*endpoint) };
    // SAFETY: likewise.
    let (topic, ty, said) = unsafe { (CStr::from_ptr(endpoint.topic), CStr::from_ptr(endpoint.ty), slice_of(&endpoint.user_data)) };
    heard(Heard::Opened(Endpoint {
        guid: Guid(endpoint.guid.bytes),
        writes: endpoint.writes,
        topic: topic.to_string_lossy().into_owned(),
        ty: ty.to_string_lossy().into_owned(),
        qos: qos_of(&endpoint.qos),
        hash: user_data::value(said, "typehash").map(str::to_owned),
    }));
}

/// # Safety
/// As above.
unsafe extern "C" fn on_endpoint_gone(context: *mut c_void, guid: *const sys::guid) {
    // SAFETY: see the header.
    let (heard, guid) = unsafe { (&*context.cast::<Discovered>(), &*guid) };
    heard(Heard::Closed(Guid(guid.bytes)));
}

// --- writers and readers -------------------------------------------------------------------------------------------------------------

type Listening = Box<dyn Listener>;

/// Of a topic, until it is dropped.
pub struct Writer {
    participant: Arc<Participant>,
    raw: *mut sys::writer,
    listener: *mut Listening,
}

// SAFETY: "All functions may be called from any thread", and its listener is Send and Sync.
unsafe impl Send for Writer {}
// SAFETY: likewise.
unsafe impl Sync for Writer {}

impl Writer {
    /// Offers the topic from now on.
    pub fn open(participant: &Arc<Participant>, place: &Place<'_>, listener: impl Listener + 'static) -> Result<Writer, String> {
        let functions = participant.functions;
        // SAFETY: what is given lives until it returns, and the listener until the writer is closed.
        let (raw, listener) =
            with(place, listener, |topic, listener, why| unsafe { (functions.open_writer)(participant.raw, topic, listener, why) })?;
        Ok(Writer { participant: Arc::clone(participant), raw, listener })
    }

    /// Its own.
    pub fn guid(&self) -> Guid {
        let mut guid = sys::guid::default();
        // SAFETY: the writer is there.
        unsafe { (self.participant.functions.guid_of_writer)(self.raw, &mut guid) };
        Guid(guid.bytes)
    }

    /// Sends the message that the parts, joined, are. None: it could not be sent.
    pub fn write(&self, parts: &[&[u8]], related: Option<Identity>) -> Option<Identity> {
        let parts: Vec<sys::bytes> = parts.iter().map(|part| bytes_of(part)).collect();
        let related = related.map(|of| sys::identity { writer: sys::guid { bytes: of.writer.0 }, number: of.number });
        let mut own = sys::identity::default();
        let related = related.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
        // SAFETY: what is given lives until it returns.
        let is_sent = unsafe { (self.participant.functions.write)(self.raw, parts.as_ptr(), parts.len(), related, &mut own) };
        is_sent.then(|| identity_of(&own))
    }

    /// Whether readers have acknowledged all that they are to get.
    pub fn is_acknowledged(&self) -> bool {
        // SAFETY: the writer is there.
        unsafe { (self.participant.functions.is_acknowledged)(self.raw) }
    }

    /// What it has kept for those who come late is not for them any more, nor is what readers have yet to acknowledge: so many messages.
    pub fn forget(&self) -> u64 {
        // SAFETY: the writer is there.
        unsafe { (self.participant.functions.forget)(self.raw) as u64 }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        // SAFETY: nobody uses it any more, and its listener is not called when it has returned.
        unsafe {
            (self.participant.functions.close_writer)(self.raw);
            drop(Box::from_raw(self.listener));
        }
    }
}

/// Of a topic, until it is dropped.
pub struct Reader {
    participant: Arc<Participant>,
    raw: *mut sys::reader,
    listener: *mut Listening,
}

// SAFETY: as of Writer.
unsafe impl Send for Reader {}
// SAFETY: likewise.
unsafe impl Sync for Reader {}

impl Reader {
    /// Wants the topic from now on.
    pub fn open(participant: &Arc<Participant>, place: &Place<'_>, listener: impl Listener + 'static) -> Result<Reader, String> {
        let functions = participant.functions;
        // SAFETY: what is given lives until it returns, and the listener until the reader is closed.
        let (raw, listener) =
            with(place, listener, |topic, listener, why| unsafe { (functions.open_reader)(participant.raw, topic, listener, why) })?;
        Ok(Reader { participant: Arc::clone(participant), raw, listener })
    }

    /// Its own.
    pub fn guid(&self) -> Guid {
        let mut guid = sys::guid::default();
        // SAFETY: the reader is there.
        unsafe { (self.participant.functions.guid_of_reader)(self.raw, &mut guid) };
        Guid(guid.bytes)
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        // SAFETY: nobody uses it any more, and its listener is not called when it has returned.
        unsafe {
            (self.participant.functions.close_reader)(self.raw);
            drop(Box::from_raw(self.listener));
        }
    }
}

/// Something on a topic, with who hears of it.
fn with<T>(
    place: &Place<'_>,
    listener: impl Listener + 'static,
    open: impl FnOnce(&sys::topic, &sys::listener, *mut c_char) -> *mut T,
) -> Result<(*mut T, *mut Listening), String> {
    let (name, ty) = (text(place.topic)?, text(place.ty)?);
    let topic = sys::topic { name: name.as_ptr(), ty: ty.as_ptr(), qos: in_c(&place.qos), user_data: bytes_of(place.user_data.as_bytes()) };
    let listening: *mut Listening = Box::into_raw(Box::new(Box::new(listener)));
    let told = sys::listener { context: listening.cast(), on_matched, on_incompatible, room_for, on_message, on_unwanted };
    match made(|why| open(&topic, &told, why)) {
        Ok(raw) => Ok((raw, listening)),
        Err(why) => {
            // SAFETY: nobody else has it.
            drop(unsafe { Box::from_raw(listening) });
            Err(why)
        }
    }
}

/// # Safety
/// Called by the back end, with what the header says.
unsafe extern "C" fn on_matched(context: *mut c_void, other: *const sys::guid, is_matched: bool) {
    // SAFETY: see the header.
    let (listener, other) = unsafe { (&*context.cast::<Listening>(), &*other) };
    listener.matched(Guid(other.bytes), is_matched);
}

/// # Safety
/// As above.
unsafe extern "C" fn on_incompatible(context: *mut c_void, policy: *const c_char) {
    // SAFETY: see the header.
    let (listener, policy) = unsafe { (&*context.cast::<Listening>(), CStr::from_ptr(policy)) };
    listener.incompatible(&policy.to_string_lossy());
}

/// # Safety
/// As above.
unsafe extern "C" fn room_for(context: *mut c_void, size: usize) -> *mut u8 {
    // SAFETY: see the header.
    let listener = unsafe { &*context.cast::<Listening>() };
    listener.room_for(size).unwrap_or(std::ptr::null_mut())
}

/// # Safety
/// As above.
unsafe extern "C" fn on_message(context: *mut c_void, message: *const sys::message) {
    // SAFETY: see the header.
    let (listener, message) = unsafe { (&*context.cast::<Listening>(), &*message) };
    listener.message(&Message { size: message.size, identity: identity_of(&message.identity), related: identity_of(&message.related) });
}

/// # Safety
/// As above.
unsafe extern "C" fn on_unwanted(context: *mut c_void, identity: *const sys::identity) {
    // SAFETY: see the header.
    let (listener, identity) = unsafe { (&*context.cast::<Listening>(), &*identity) };
    listener.unwanted(identity_of(identity));
}

// --- texts, bytes and times -----------------------------------------------------------------------------------------------------------

/// What a function makes, or what it says why not.
fn made<T>(make: impl FnOnce(*mut c_char) -> *mut T) -> Result<*mut T, String> {
    let mut why = [0u8; sys::WHY];
    let made = make(why.as_mut_ptr().cast());
    if !made.is_null() {
        return Ok(made);
    }
    let said = CStr::from_bytes_until_nul(&why).map(|text| text.to_string_lossy().into_owned());
    Err(said.unwrap_or_default())
}

fn text(text: &str) -> Result<CString, String> {
    CString::new(text).map_err(|_| format!("{text:?} has a zero in it"))
}

fn bytes_of(slice: &[u8]) -> sys::bytes {
    sys::bytes { data: slice.as_ptr(), size: slice.len() }
}

/// # Safety
/// The bytes are there as long as `bytes` is.
unsafe fn slice_of(bytes: &sys::bytes) -> &[u8] {
    // SAFETY: as said.
    if bytes.size == 0 { &[] } else { unsafe { std::slice::from_raw_parts(bytes.data, bytes.size) } }
}

fn identity_of(identity: &sys::identity) -> Identity {
    Identity { writer: Guid(identity.writer.bytes), number: identity.number }
}

fn in_c(qos: &Qos) -> sys::qos {
    let ns = |time: Option<Duration>| time.map_or(0, |time| i64::try_from(time.as_nanos()).unwrap_or(0));
    sys::qos {
        reliable: qos.reliable,
        transient_local: qos.transient_local,
        depth: qos.depth,
        lease: ns(qos.lease),
        deadline: ns(qos.deadline),
        lifespan: ns(qos.lifespan),
    }
}

fn qos_of(qos: &sys::qos) -> Qos {
    let time = |ns: i64| u64::try_from(ns).ok().filter(|ns| *ns > 0).map(Duration::from_nanos);
    Qos {
        reliable: qos.reliable,
        transient_local: qos.transient_local,
        depth: qos.depth,
        lease: time(qos.lease),
        deadline: time(qos.deadline),
        lifespan: time(qos.lifespan),
    }
}
