// What bindgen makes of sinew.h: see tests/bindings.rs.
// Long because: the whole interface is one header.
#![cfg_attr(rustfmt, rustfmt_skip)]
pub const SINEW_ABI_VERSION: u32 = 65536;
unsafe extern "C" {
    /// That of the library.
    pub fn sinew_abi_version() -> u32;
}
pub type sinew_status = i32;
pub const SINEW_OK: _bindgen_ty_1 = 0;
/// The call itself is wrong (a bad name, a bad option): fix the call.
pub const SINEW_INVALID_ARGUMENT: _bindgen_ty_1 = 1;
/// Another node of the domain has this name: choose another, or set SINEW_NODE.
pub const SINEW_NAME_TAKEN: _bindgen_ty_1 = 2;
/// The topic carries another type: the text names the first field that differs.
pub const SINEW_TYPE_MISMATCH: _bindgen_ty_1 = 3;
/// The other side speaks another version of sinew.
pub const SINEW_INCOMPATIBLE: _bindgen_ty_1 = 4;
/// No manager could be reached or started, it does not answer, or the topic that a ghost is for is not there.
pub const SINEW_UNAVAILABLE: _bindgen_ty_1 = 5;
/// This user or group may not take part in this domain, or not in this topic: the text says which rule.
pub const SINEW_DENIED: _bindgen_ty_1 = 6;
/// A limit or the machine's memory is used up: free something, or raise the limit.
pub const SINEW_EXHAUSTED: _bindgen_ty_1 = 7;
/// The node was destroyed, or there is no manager at the moment: the node seeks one, try again.
pub const SINEW_DISCONNECTED: _bindgen_ty_1 = 8;
/// A system call failed; the text has errno.
pub const SINEW_SYSTEM: _bindgen_ty_1 = 9;
/// The publisher's memory, or the machine's, is used up. Not published; counted.
pub const SINEW_NO_MEMORY: _bindgen_ty_1 = 10;
/// A reliable keep-all subscriber did not catch up within max_blocking. Not published; counted.
pub const SINEW_WOULD_BLOCK: _bindgen_ty_1 = 11;
/// What was given is no stream. Not published; counted.
pub const SINEW_INVALID_MESSAGE: _bindgen_ty_1 = 12;
/// The node is destroyed, or the ghost's topic is gone.
pub const SINEW_CLOSED: _bindgen_ty_1 = 13;
/// No message came in time.
pub const SINEW_NOTHING: _bindgen_ty_1 = 14;
/// The provider answered with an error: the text is what it said.
pub const SINEW_FAILED: _bindgen_ty_1 = 15;
/// No answer came in time. The provider sees the call as cancelled.
pub const SINEW_TIMEOUT: _bindgen_ty_1 = 16;
/// By the caller, or the client was destroyed.
pub const SINEW_CANCELLED: _bindgen_ty_1 = 17;
/// A provider that executes no request twice has gone, or a message was lost. The request was executed, or not.
pub const SINEW_LOST: _bindgen_ty_1 = 18;
pub type _bindgen_ty_1 = ::std::os::raw::c_uint;
unsafe extern "C" {
    /// "type_mismatch"; "unknown" for a number that is none of these.
    pub fn sinew_status_name(status: sinew_status) -> *const ::std::os::raw::c_char;
}
unsafe extern "C" {
    /// Why the last function that failed on this thread did, as a sentence for a person: what was asked, what is there, what to do. Until the next one fails. Empty before the first.
    pub fn sinew_last_error() -> *const ::std::os::raw::c_char;
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct sinew_node {
    _unused: [u8; 0],
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct sinew_node_options {
    pub struct_size: u32,
    /// Callbacks of execution thread 0 run in sinew_node_dispatch() and sinew_node_spin() alone, on the caller's thread; sinew_node_fd() tells when there are some. Else threads of the library run them.
    pub by_caller: bool,
    /// The domain's name, or the path of its socket. NULL or "": $SINEW_DOMAIN, else "default".
    pub domain: *const ::std::os::raw::c_char,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of sinew_node_options",
    ][::std::mem::size_of::<sinew_node_options>() - 16usize];
    [
        "Alignment of sinew_node_options",
    ][::std::mem::align_of::<sinew_node_options>() - 8usize];
    [
        "Offset of field: sinew_node_options::struct_size",
    ][::std::mem::offset_of!(sinew_node_options, struct_size) - 0usize];
    [
        "Offset of field: sinew_node_options::by_caller",
    ][::std::mem::offset_of!(sinew_node_options, by_caller) - 4usize];
    [
        "Offset of field: sinew_node_options::domain",
    ][::std::mem::offset_of!(sinew_node_options, domain) - 8usize];
};
impl Default for sinew_node_options {
    fn default() -> Self {
        let mut s = ::std::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
unsafe extern "C" {
    /// Joins the domain under `name`, or what SINEW_NODE says; starts its manager when none runs. Blocks until registered: about a millisecond, at most some seconds.
    pub fn sinew_node_create(
        name: *const ::std::os::raw::c_char,
        options: *const sinew_node_options,
        node: *mut *mut sinew_node,
    ) -> sinew_status;
}
unsafe extern "C" {
    /** Waits for running callbacks, unless called in one. What was created of the node stays to be destroyed, and does nothing any more, but that calls of its clients that wait end with SINEW_CLOSED, on a thread of the client, perhaps
 after this has returned: sinew_client_destroy() waits for them. Frames stay valid. NULL is allowed.*/
    pub fn sinew_node_destroy(node: *mut sinew_node);
}
unsafe extern "C" {
    /// Its name in the domain.
    pub fn sinew_node_name(node: *const sinew_node) -> *const ::std::os::raw::c_char;
}
unsafe extern "C" {
    /** For by_caller; else SINEW_INVALID_ARGUMENT. One fd(), dispatch() or spin() at a time: others wait for it, also for a spin() to end, so take the fd before that; in a callback of the node they are SINEW_INVALID_ARGUMENT.
 fd: readable while dispatch() has something to do, for poll(), epoll and the loops on top of them. Not to be read, nor used when the node is gone.
 dispatch: runs the callbacks that are due, of each subscriber a few at most, and returns without waiting for more.
 spin: runs callbacks until sinew_node_stop() is called, which may be called anywhere, also in a signal handler: it ends the spin that runs, or else the next one; called twice, two of them.*/
    pub fn sinew_node_fd(
        node: *mut sinew_node,
        fd: *mut ::std::os::raw::c_int,
    ) -> sinew_status;
}
unsafe extern "C" {
    pub fn sinew_node_dispatch(node: *mut sinew_node) -> sinew_status;
}
unsafe extern "C" {
    pub fn sinew_node_spin(node: *mut sinew_node) -> sinew_status;
}
unsafe extern "C" {
    pub fn sinew_node_stop(node: *mut sinew_node);
}
/// What a publisher offers, or a subscriber asks for; as sinew::Qos. Two that do not fit are not connected: sinew_event tells.
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct sinew_qos {
    pub struct_size: u32,
    /// 1 to 512: keep so many of the newest messages of each publisher. 0: 8
    pub depth: u32,
    /// as many as a ring has (1024), in place of `depth`; a subscriber of another user 8 at most, of either
    pub keep_all: bool,
    /// A reliable publisher, whatever it keeps, waits for a reliable subscriber that keeps all and is a whole ring behind, at most max_blocking_ns: then SINEW_WOULD_BLOCK. Not for one of another user.
    pub reliable: bool,
    /// keep the newest for those who come late, or ask for what was kept
    pub transient_local: bool,
    /// needs lease_ns; a publisher shows that it is alive by publishing or assert_liveliness(); else its process does
    pub manual_by_topic: bool,
    /// between two messages at most; 0: none
    pub deadline_ns: i64,
    /// of a publisher: messages that are older are not delivered; 0: all are; of a subscriber it means nothing
    pub lifespan_ns: i64,
    /// a sign of life at least so often; 0: none, which manual_by_topic is refused with
    pub lease_ns: i64,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of sinew_qos"][::std::mem::size_of::<sinew_qos>() - 40usize];
    ["Alignment of sinew_qos"][::std::mem::align_of::<sinew_qos>() - 8usize];
    [
        "Offset of field: sinew_qos::struct_size",
    ][::std::mem::offset_of!(sinew_qos, struct_size) - 0usize];
    [
        "Offset of field: sinew_qos::depth",
    ][::std::mem::offset_of!(sinew_qos, depth) - 4usize];
    [
        "Offset of field: sinew_qos::keep_all",
    ][::std::mem::offset_of!(sinew_qos, keep_all) - 8usize];
    [
        "Offset of field: sinew_qos::reliable",
    ][::std::mem::offset_of!(sinew_qos, reliable) - 9usize];
    [
        "Offset of field: sinew_qos::transient_local",
    ][::std::mem::offset_of!(sinew_qos, transient_local) - 10usize];
    [
        "Offset of field: sinew_qos::manual_by_topic",
    ][::std::mem::offset_of!(sinew_qos, manual_by_topic) - 11usize];
    [
        "Offset of field: sinew_qos::deadline_ns",
    ][::std::mem::offset_of!(sinew_qos, deadline_ns) - 16usize];
    [
        "Offset of field: sinew_qos::lifespan_ns",
    ][::std::mem::offset_of!(sinew_qos, lifespan_ns) - 24usize];
    [
        "Offset of field: sinew_qos::lease_ns",
    ][::std::mem::offset_of!(sinew_qos, lease_ns) - 32usize];
};
/// Peers came or went.
pub const SINEW_EVENT_MATCHED: _bindgen_ty_2 = 1;
/// A peer was not connected.
pub const SINEW_EVENT_INCOMPATIBLE_QOS: _bindgen_ty_2 = 2;
/// Whole periods passed without a message.
pub const SINEW_EVENT_DEADLINE_MISSED: _bindgen_ty_2 = 4;
/// Of a publisher: it showed no sign of life for a lease.
pub const SINEW_EVENT_LIVELINESS_LOST: _bindgen_ty_2 = 8;
/// Of a subscriber: of its publishers.
pub const SINEW_EVENT_LIVELINESS_CHANGED: _bindgen_ty_2 = 16;
/// Of a subscriber.
pub const SINEW_EVENT_MESSAGE_LOST: _bindgen_ty_2 = 32;
/// It is a ghost, and its topic is gone.
pub const SINEW_EVENT_DETACHED: _bindgen_ty_2 = 64;
pub type _bindgen_ty_2 = ::std::os::raw::c_uint;
/// Something that happened beside messages. What happens until the callback runs is told by one call: totals are as things stand, changes are since the last call. Valid during the call.
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct sinew_event {
    /// one of the above
    pub kind: u32,
    pub reserved: u32,
    /// matched: peers ever connected; incompatible: peers; deadline: periods; liveliness lost: how often; message lost: messages
    pub total_count: u64,
    pub total_count_change: u64,
    /// matched: peers now; liveliness changed: publishers that are alive
    pub current_count: u64,
    pub current_count_change: i64,
    /// liveliness changed: publishers that are connected and silent
    pub not_alive_count: u64,
    pub not_alive_count_change: i64,
    /// message lost, of total_count: by newer ones before they were taken
    pub pushed_out: u64,
    ///   by a publisher whose memory was full
    pub withdrawn: u64,
    ///   older than their lifespan
    pub expired: u64,
    /// incompatible, liveliness changed: the last peer's node; else ""
    pub node: *const ::std::os::raw::c_char,
    /// incompatible: which policies keep it apart, as a sentence; detached: the topic; else ""
    pub text: *const ::std::os::raw::c_char,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of sinew_event"][::std::mem::size_of::<sinew_event>() - 96usize];
    ["Alignment of sinew_event"][::std::mem::align_of::<sinew_event>() - 8usize];
    [
        "Offset of field: sinew_event::kind",
    ][::std::mem::offset_of!(sinew_event, kind) - 0usize];
    [
        "Offset of field: sinew_event::reserved",
    ][::std::mem::offset_of!(sinew_event, reserved) - 4usize];
    [
        "Offset of field: sinew_event::total_count",
    ][::std::mem::offset_of!(sinew_event, total_count) - 8usize];
    [
        "Offset of field: sinew_event::total_count_change",
    ][::std::mem::offset_of!(sinew_event, total_count_change) - 16usize];
    [
        "Offset of field: sinew_event::current_count",
    ][::std::mem::offset_of!(sinew_event, current_count) - 24usize];
    [
        "Offset of field: sinew_event::current_count_change",
    ][::std::mem::offset_of!(sinew_event, current_count_change) - 32usize];
    [
        "Offset of field: sinew_event::not_alive_count",
    ][::std::mem::offset_of!(sinew_event, not_alive_count) - 40usize];
    [
        "Offset of field: sinew_event::not_alive_count_change",
    ][::std::mem::offset_of!(sinew_event, not_alive_count_change) - 48usize];
    [
        "Offset of field: sinew_event::pushed_out",
    ][::std::mem::offset_of!(sinew_event, pushed_out) - 56usize];
    [
        "Offset of field: sinew_event::withdrawn",
    ][::std::mem::offset_of!(sinew_event, withdrawn) - 64usize];
    [
        "Offset of field: sinew_event::expired",
    ][::std::mem::offset_of!(sinew_event, expired) - 72usize];
    [
        "Offset of field: sinew_event::node",
    ][::std::mem::offset_of!(sinew_event, node) - 80usize];
    [
        "Offset of field: sinew_event::text",
    ][::std::mem::offset_of!(sinew_event, text) - 88usize];
};
impl Default for sinew_event {
    fn default() -> Self {
        let mut s = ::std::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
pub type sinew_event_callback = ::std::option::Option<
    unsafe extern "C" fn(context: *mut ::std::os::raw::c_void, event: *const sinew_event),
>;
/// A part of a stream. The parts in their order, joined, are the stream.
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct sinew_extent {
    pub data: *const u8,
    pub size: usize,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of sinew_extent"][::std::mem::size_of::<sinew_extent>() - 16usize];
    ["Alignment of sinew_extent"][::std::mem::align_of::<sinew_extent>() - 8usize];
    [
        "Offset of field: sinew_extent::data",
    ][::std::mem::offset_of!(sinew_extent, data) - 0usize];
    [
        "Offset of field: sinew_extent::size",
    ][::std::mem::offset_of!(sinew_extent, size) - 8usize];
};
impl Default for sinew_extent {
    fn default() -> Self {
        let mut s = ::std::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
/// within the process; between objects only
pub const SINEW_DELIVERY_POINTER: _bindgen_ty_3 = 0;
/// in place, as an object
pub const SINEW_DELIVERY_NATIVE: _bindgen_ty_3 = 1;
/// as a stream, big arrays in place
pub const SINEW_DELIVERY_VIEW: _bindgen_ty_3 = 2;
/// copied into this process
pub const SINEW_DELIVERY_COPY: _bindgen_ty_3 = 3;
/// How a message came.
pub type _bindgen_ty_3 = ::std::os::raw::c_uint;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct sinew_message_info {
    /// the name of its node
    pub publisher: *const ::std::os::raw::c_char,
    /// the publisher's count, from 1
    pub sequence: u64,
    /// just before subscribers could see it
    pub source_time_ns: i64,
    /// just before the callback was called, or take() returned
    pub receive_time_ns: i64,
    /// messages of this publisher that were lost to this subscriber since the one before
    pub missed: u64,
    /// SINEW_DELIVERY_VIEW or SINEW_DELIVERY_COPY
    pub delivery: i32,
    pub reserved: i32,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of sinew_message_info",
    ][::std::mem::size_of::<sinew_message_info>() - 48usize];
    [
        "Alignment of sinew_message_info",
    ][::std::mem::align_of::<sinew_message_info>() - 8usize];
    [
        "Offset of field: sinew_message_info::publisher",
    ][::std::mem::offset_of!(sinew_message_info, publisher) - 0usize];
    [
        "Offset of field: sinew_message_info::sequence",
    ][::std::mem::offset_of!(sinew_message_info, sequence) - 8usize];
    [
        "Offset of field: sinew_message_info::source_time_ns",
    ][::std::mem::offset_of!(sinew_message_info, source_time_ns) - 16usize];
    [
        "Offset of field: sinew_message_info::receive_time_ns",
    ][::std::mem::offset_of!(sinew_message_info, receive_time_ns) - 24usize];
    [
        "Offset of field: sinew_message_info::missed",
    ][::std::mem::offset_of!(sinew_message_info, missed) - 32usize];
    [
        "Offset of field: sinew_message_info::delivery",
    ][::std::mem::offset_of!(sinew_message_info, delivery) - 40usize];
    [
        "Offset of field: sinew_message_info::reserved",
    ][::std::mem::offset_of!(sinew_message_info, reserved) - 44usize];
};
impl Default for sinew_message_info {
    fn default() -> Self {
        let mut s = ::std::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct sinew_frame {
    _unused: [u8; 0],
}
unsafe extern "C" {
    /** At least one. An array or string of 4096 bytes or more that lies in the publisher's memory as in the stream is an extent as a whole. The first extent begins with the encapsulation, 4 bytes; the body behind it is aligned to 16
 (of services: see there).*/
    pub fn sinew_frame_extent_count(frame: *const sinew_frame) -> usize;
}
unsafe extern "C" {
    /// REQUIRES: index < count.
    pub fn sinew_frame_extent(frame: *const sinew_frame, index: usize) -> sinew_extent;
}
unsafe extern "C" {
    pub fn sinew_frame_info(frame: *const sinew_frame) -> sinew_message_info;
}
unsafe extern "C" {
    /// From any thread. NULL is allowed.
    pub fn sinew_frame_release(frame: *mut sinew_frame);
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct sinew_publisher {
    _unused: [u8; 0],
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct sinew_loan {
    _unused: [u8; 0],
}
/// the oldest messages that were not taken yet
pub const SINEW_WHEN_FULL_WITHDRAW: _bindgen_ty_4 = 0;
/// the same, but at most withdraw_at_most for one new message; then that is refused
pub const SINEW_WHEN_FULL_WITHDRAW_SOME: _bindgen_ty_4 = 1;
/// nothing: the new message is refused
pub const SINEW_WHEN_FULL_REFUSE: _bindgen_ty_4 = 2;
/// the new message waits, at most max_blocking_ns
pub const SINEW_WHEN_FULL_WAIT: _bindgen_ty_4 = 3;
/// What makes room when the publisher's memory is full, after all that nobody wants any more.
pub type _bindgen_ty_4 = ::std::os::raw::c_uint;
/// it is none
pub const SINEW_GHOST_NO: _bindgen_ty_5 = 0;
/// of gateways and bridges: it meets no other carrier, so that what one has brought none takes out again
pub const SINEW_GHOST_CARRIER: _bindgen_ty_5 = 1;
/// of tools
pub const SINEW_GHOST_OBSERVER: _bindgen_ty_5 = 2;
/// Whether a publisher, a subscriber, a client or a provider is only there as long as others are, as sinew::Ghost. On a topic that is not there a ghost is refused: SINEW_UNAVAILABLE.
pub type _bindgen_ty_5 = ::std::os::raw::c_uint;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct sinew_publisher_options {
    pub struct_size: u32,
    /// of on_event: 0 to 1022
    pub execution_thread: u32,
    /// bytes of shared memory at most, 64 KiB or more; 0: 1 GiB
    pub memory_budget: u64,
    /// bytes of it to have from the start; SINEW_EXHAUSTED where they cannot be had
    pub prefault: u64,
    /// how long publishing may wait; 0: 100 ms; less: not at all; INT64_MAX: for ever
    pub max_blocking_ns: i64,
    pub when_full: u32,
    /// 0: 3
    pub withdraw_at_most: u32,
    /// never swapped (mlock)
    pub lock_memory: bool,
    /// SINEW_GHOST_...
    pub ghost: u8,
    /// of which kinds on_event is told, SINEW_EVENT_... added up; others cost nothing
    pub events: u32,
    pub on_event: sinew_event_callback,
    pub context: *mut ::std::os::raw::c_void,
    pub release: ::std::option::Option<
        unsafe extern "C" fn(context: *mut ::std::os::raw::c_void),
    >,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of sinew_publisher_options",
    ][::std::mem::size_of::<sinew_publisher_options>() - 72usize];
    [
        "Alignment of sinew_publisher_options",
    ][::std::mem::align_of::<sinew_publisher_options>() - 8usize];
    [
        "Offset of field: sinew_publisher_options::struct_size",
    ][::std::mem::offset_of!(sinew_publisher_options, struct_size) - 0usize];
    [
        "Offset of field: sinew_publisher_options::execution_thread",
    ][::std::mem::offset_of!(sinew_publisher_options, execution_thread) - 4usize];
    [
        "Offset of field: sinew_publisher_options::memory_budget",
    ][::std::mem::offset_of!(sinew_publisher_options, memory_budget) - 8usize];
    [
        "Offset of field: sinew_publisher_options::prefault",
    ][::std::mem::offset_of!(sinew_publisher_options, prefault) - 16usize];
    [
        "Offset of field: sinew_publisher_options::max_blocking_ns",
    ][::std::mem::offset_of!(sinew_publisher_options, max_blocking_ns) - 24usize];
    [
        "Offset of field: sinew_publisher_options::when_full",
    ][::std::mem::offset_of!(sinew_publisher_options, when_full) - 32usize];
    [
        "Offset of field: sinew_publisher_options::withdraw_at_most",
    ][::std::mem::offset_of!(sinew_publisher_options, withdraw_at_most) - 36usize];
    [
        "Offset of field: sinew_publisher_options::lock_memory",
    ][::std::mem::offset_of!(sinew_publisher_options, lock_memory) - 40usize];
    [
        "Offset of field: sinew_publisher_options::ghost",
    ][::std::mem::offset_of!(sinew_publisher_options, ghost) - 41usize];
    [
        "Offset of field: sinew_publisher_options::events",
    ][::std::mem::offset_of!(sinew_publisher_options, events) - 44usize];
    [
        "Offset of field: sinew_publisher_options::on_event",
    ][::std::mem::offset_of!(sinew_publisher_options, on_event) - 48usize];
    [
        "Offset of field: sinew_publisher_options::context",
    ][::std::mem::offset_of!(sinew_publisher_options, context) - 56usize];
    [
        "Offset of field: sinew_publisher_options::release",
    ][::std::mem::offset_of!(sinew_publisher_options, release) - 64usize];
};
impl Default for sinew_publisher_options {
    fn default() -> Self {
        let mut s = ::std::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
unsafe extern "C" {
    /// Publishes on `topic`. `signature` describes the type: "robot/Image{width:uint32;data:uint8[];}". Blocks until the manager has agreed. SINEW_TYPE_MISMATCH where the topic carries another type.
    pub fn sinew_publisher_create(
        node: *mut sinew_node,
        topic: *const ::std::os::raw::c_char,
        signature: *const ::std::os::raw::c_char,
        qos: *const sinew_qos,
        options: *const sinew_publisher_options,
        publisher: *mut *mut sinew_publisher,
    ) -> sinew_status;
}
unsafe extern "C" {
    /** What was published stays readable for those who hold it, and for those who were connected and have yet to take it. Waits for an on_event that runs, unless called in it. While there are loans of it the publisher stays
 connected, and on_event may be called: free its context in release() alone. NULL is allowed.*/
    pub fn sinew_publisher_destroy(publisher: *mut sinew_publisher);
}
unsafe extern "C" {
    /** Publishes the stream that `count` extents are: one copy, into shared memory, whoever reads it. A stream begins with 00 01 00 00 where its numbers have the least significant byte first, or 00 00 00 00. What follows is not
 looked at: a subscriber in C++ that it is no message for rejects it, and counts that; in C, Rust and Python it is received, and whoever decodes it sees. Waits as sinew_publisher_loan(), for another thread that publishes on it, and for a subscriber that keeps all (sinew_qos).*/
    pub fn sinew_publisher_publish(
        publisher: *mut sinew_publisher,
        extents: *const sinew_extent,
        count: usize,
    ) -> sinew_status;
}
unsafe extern "C" {
    /** Room for a stream of at most `capacity` bytes, where subscribers will read it; `data` is set to it. Its bytes are not initialised; those behind the fourth are aligned to 16. May wait for memory, at most
 max_blocking_ns: with SINEW_WHEN_FULL_WAIT until subscribers let go of some, else, for 0.1 s at most, until they have unmapped what was given back.*/
    pub fn sinew_publisher_loan(
        publisher: *mut sinew_publisher,
        capacity: usize,
        loan: *mut *mut sinew_loan,
        data: *mut *mut u8,
    ) -> sinew_status;
}
unsafe extern "C" {
    /// Publishes the first `used` bytes of a loan of this publisher, without a copy. The loan is gone, whatever comes of it.
    pub fn sinew_publisher_publish_loan(
        publisher: *mut sinew_publisher,
        loan: *mut sinew_loan,
        used: usize,
    ) -> sinew_status;
}
unsafe extern "C" {
    /** Publishes the stream that `count` extents are, one behind the other: those that lie in the loan, which is of this publisher, are not copied, wherever they are in it; the others are, into shared memory. So a big array can be written
 before what stands in front of it is known. The first has 4 bytes at least; it is copied, too, unless its body is aligned as that of the loan. The loan is gone, whatever comes of it, but its bytes must not be written from now on.*/
    pub fn sinew_publisher_publish_pieces(
        publisher: *mut sinew_publisher,
        loan: *mut sinew_loan,
        extents: *const sinew_extent,
        count: usize,
    ) -> sinew_status;
}
unsafe extern "C" {
    /// Gives a loan back that is not published. It keeps the publisher until then. NULL is allowed.
    pub fn sinew_loan_release(loan: *mut sinew_loan);
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct sinew_loan_memory {
    _unused: [u8; 0],
}
unsafe extern "C" {
    /** Keeps the bytes of a loan that is still there, where and as they are, whatever becomes of the loan: published, given back, or refused; of the publisher and the node, which may be destroyed; and of those who read the message, which
 may die. For languages in which an object that refers to them, as an array of NumPy, may outlive the loan: without it they may be unmapped, or those of another message. They may be read until `memory` is released, and must not
 be written from the end of the loan on. Until then they count as the publisher's memory (memory_budget), which nobody can withdraw. May be called more than once; each keeps them. SINEW_EXHAUSTED, and SINEW_CLOSED in a child of
 fork(): nothing is kept, and the loan is as it was. Not while another thread publishes the loan, or gives it back.*/
    pub fn sinew_loan_keep(
        loan: *const sinew_loan,
        memory: *mut *mut sinew_loan_memory,
    ) -> sinew_status;
}
unsafe extern "C" {
    /// From any thread, also when publisher and node are gone. NULL is allowed.
    pub fn sinew_loan_memory_release(memory: *mut sinew_loan_memory);
}
unsafe extern "C" {
    /// For manual_by_topic.
    pub fn sinew_publisher_assert_liveliness(publisher: *mut sinew_publisher);
}
/// Counts since it was created; as sinew::PublisherStatistics.
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct sinew_publisher_statistics {
    pub published: u64,
    pub bytes: u64,
    pub bytes_copied: u64,
    pub bytes_exported: u64,
    pub refused: u64,
    pub withdrawn: u64,
    pub subscribers: u64,
    pub memory_mapped: u64,
    pub memory_in_use: u64,
    pub incompatible: u64,
    pub deadlines_missed: u64,
    pub liveliness_lost: u64,
    pub detached: bool,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of sinew_publisher_statistics",
    ][::std::mem::size_of::<sinew_publisher_statistics>() - 104usize];
    [
        "Alignment of sinew_publisher_statistics",
    ][::std::mem::align_of::<sinew_publisher_statistics>() - 8usize];
    [
        "Offset of field: sinew_publisher_statistics::published",
    ][::std::mem::offset_of!(sinew_publisher_statistics, published) - 0usize];
    [
        "Offset of field: sinew_publisher_statistics::bytes",
    ][::std::mem::offset_of!(sinew_publisher_statistics, bytes) - 8usize];
    [
        "Offset of field: sinew_publisher_statistics::bytes_copied",
    ][::std::mem::offset_of!(sinew_publisher_statistics, bytes_copied) - 16usize];
    [
        "Offset of field: sinew_publisher_statistics::bytes_exported",
    ][::std::mem::offset_of!(sinew_publisher_statistics, bytes_exported) - 24usize];
    [
        "Offset of field: sinew_publisher_statistics::refused",
    ][::std::mem::offset_of!(sinew_publisher_statistics, refused) - 32usize];
    [
        "Offset of field: sinew_publisher_statistics::withdrawn",
    ][::std::mem::offset_of!(sinew_publisher_statistics, withdrawn) - 40usize];
    [
        "Offset of field: sinew_publisher_statistics::subscribers",
    ][::std::mem::offset_of!(sinew_publisher_statistics, subscribers) - 48usize];
    [
        "Offset of field: sinew_publisher_statistics::memory_mapped",
    ][::std::mem::offset_of!(sinew_publisher_statistics, memory_mapped) - 56usize];
    [
        "Offset of field: sinew_publisher_statistics::memory_in_use",
    ][::std::mem::offset_of!(sinew_publisher_statistics, memory_in_use) - 64usize];
    [
        "Offset of field: sinew_publisher_statistics::incompatible",
    ][::std::mem::offset_of!(sinew_publisher_statistics, incompatible) - 72usize];
    [
        "Offset of field: sinew_publisher_statistics::deadlines_missed",
    ][::std::mem::offset_of!(sinew_publisher_statistics, deadlines_missed) - 80usize];
    [
        "Offset of field: sinew_publisher_statistics::liveliness_lost",
    ][::std::mem::offset_of!(sinew_publisher_statistics, liveliness_lost) - 88usize];
    [
        "Offset of field: sinew_publisher_statistics::detached",
    ][::std::mem::offset_of!(sinew_publisher_statistics, detached) - 96usize];
};
unsafe extern "C" {
    pub fn sinew_publisher_get_statistics(
        publisher: *const sinew_publisher,
        statistics: *mut sinew_publisher_statistics,
    ) -> sinew_status;
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct sinew_subscriber {
    _unused: [u8; 0],
}
/// The frame is the callback's to release, at once or later.
pub type sinew_frame_callback = ::std::option::Option<
    unsafe extern "C" fn(context: *mut ::std::os::raw::c_void, frame: *mut sinew_frame),
>;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct sinew_subscriber_options {
    pub struct_size: u32,
    /// of on_frame and on_event: 0 to 1022
    pub execution_thread: u32,
    /// every n-th message of each publisher; 0: all
    pub every: u32,
    /// of which kinds on_event is told
    pub events: u32,
    /// messages a second of each publisher at most, on average; 0: all
    pub max_rate: f64,
    /// as sinew_publisher_options
    pub ghost: u8,
    /// NULL: messages wait for sinew_subscriber_take()
    pub on_frame: sinew_frame_callback,
    pub on_event: sinew_event_callback,
    pub context: *mut ::std::os::raw::c_void,
    pub release: ::std::option::Option<
        unsafe extern "C" fn(context: *mut ::std::os::raw::c_void),
    >,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of sinew_subscriber_options",
    ][::std::mem::size_of::<sinew_subscriber_options>() - 64usize];
    [
        "Alignment of sinew_subscriber_options",
    ][::std::mem::align_of::<sinew_subscriber_options>() - 8usize];
    [
        "Offset of field: sinew_subscriber_options::struct_size",
    ][::std::mem::offset_of!(sinew_subscriber_options, struct_size) - 0usize];
    [
        "Offset of field: sinew_subscriber_options::execution_thread",
    ][::std::mem::offset_of!(sinew_subscriber_options, execution_thread) - 4usize];
    [
        "Offset of field: sinew_subscriber_options::every",
    ][::std::mem::offset_of!(sinew_subscriber_options, every) - 8usize];
    [
        "Offset of field: sinew_subscriber_options::events",
    ][::std::mem::offset_of!(sinew_subscriber_options, events) - 12usize];
    [
        "Offset of field: sinew_subscriber_options::max_rate",
    ][::std::mem::offset_of!(sinew_subscriber_options, max_rate) - 16usize];
    [
        "Offset of field: sinew_subscriber_options::ghost",
    ][::std::mem::offset_of!(sinew_subscriber_options, ghost) - 24usize];
    [
        "Offset of field: sinew_subscriber_options::on_frame",
    ][::std::mem::offset_of!(sinew_subscriber_options, on_frame) - 32usize];
    [
        "Offset of field: sinew_subscriber_options::on_event",
    ][::std::mem::offset_of!(sinew_subscriber_options, on_event) - 40usize];
    [
        "Offset of field: sinew_subscriber_options::context",
    ][::std::mem::offset_of!(sinew_subscriber_options, context) - 48usize];
    [
        "Offset of field: sinew_subscriber_options::release",
    ][::std::mem::offset_of!(sinew_subscriber_options, release) - 56usize];
};
impl Default for sinew_subscriber_options {
    fn default() -> Self {
        let mut s = ::std::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
unsafe extern "C" {
    /** Subscribes to `topic`, as sinew_publisher_create(). A ghost may also subscribe to the topics of a service, "sum@request" and "sum@response", with the signatures that the domain's state tells: it is shown a copy of what is sent there,
 by nodes of its user (spec/services.md).*/
    pub fn sinew_subscriber_create(
        node: *mut sinew_node,
        topic: *const ::std::os::raw::c_char,
        signature: *const ::std::os::raw::c_char,
        qos: *const sinew_qos,
        options: *const sinew_subscriber_options,
        subscriber: *mut *mut sinew_subscriber,
    ) -> sinew_status;
}
unsafe extern "C" {
    /// Waits for its running callback, unless called in it. Frames stay valid. NULL is allowed.
    pub fn sinew_subscriber_destroy(subscriber: *mut sinew_subscriber);
}
unsafe extern "C" {
    /** The next waiting message, oldest first of each publisher. Waits for one at most `timeout_ns`; 0: not at all; less: for ever; and in any case for another thread that is in take() of this subscriber. SINEW_NOTHING when
 none came, SINEW_CLOSED when the node was destroyed, in the child of a fork, or when a ghost's topic is gone, SINEW_EXHAUSTED when there is no memory for it: then it is lost. The frame is the caller's to release. For subscribers without on_frame.*/
    pub fn sinew_subscriber_take(
        subscriber: *mut sinew_subscriber,
        timeout_ns: i64,
        frame: *mut *mut sinew_frame,
    ) -> sinew_status;
}
unsafe extern "C" {
    /// Takes nothing: waits, as long as that would, until sinew_subscriber_take() may have a message, which it has not where another thread was faster, or has to say that none comes any more. SINEW_NOTHING when it has waited in vain.
    pub fn sinew_subscriber_wait(
        subscriber: *mut sinew_subscriber,
        timeout_ns: i64,
    ) -> sinew_status;
}
/// Counts since it was created; as sinew::SubscriberStatistics.
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct sinew_subscriber_statistics {
    pub received: u64,
    pub missed: u64,
    pub withdrawn: u64,
    pub skipped: u64,
    pub expired: u64,
    pub bytes_copied: u64,
    pub over_quota: u64,
    pub rejected: u64,
    pub publishers: u64,
    pub held: u64,
    pub waiting: u64,
    pub incompatible: u64,
    pub deadlines_missed: u64,
    pub publishers_alive: u64,
    pub publishers_not_alive: u64,
    pub detached: bool,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of sinew_subscriber_statistics",
    ][::std::mem::size_of::<sinew_subscriber_statistics>() - 128usize];
    [
        "Alignment of sinew_subscriber_statistics",
    ][::std::mem::align_of::<sinew_subscriber_statistics>() - 8usize];
    [
        "Offset of field: sinew_subscriber_statistics::received",
    ][::std::mem::offset_of!(sinew_subscriber_statistics, received) - 0usize];
    [
        "Offset of field: sinew_subscriber_statistics::missed",
    ][::std::mem::offset_of!(sinew_subscriber_statistics, missed) - 8usize];
    [
        "Offset of field: sinew_subscriber_statistics::withdrawn",
    ][::std::mem::offset_of!(sinew_subscriber_statistics, withdrawn) - 16usize];
    [
        "Offset of field: sinew_subscriber_statistics::skipped",
    ][::std::mem::offset_of!(sinew_subscriber_statistics, skipped) - 24usize];
    [
        "Offset of field: sinew_subscriber_statistics::expired",
    ][::std::mem::offset_of!(sinew_subscriber_statistics, expired) - 32usize];
    [
        "Offset of field: sinew_subscriber_statistics::bytes_copied",
    ][::std::mem::offset_of!(sinew_subscriber_statistics, bytes_copied) - 40usize];
    [
        "Offset of field: sinew_subscriber_statistics::over_quota",
    ][::std::mem::offset_of!(sinew_subscriber_statistics, over_quota) - 48usize];
    [
        "Offset of field: sinew_subscriber_statistics::rejected",
    ][::std::mem::offset_of!(sinew_subscriber_statistics, rejected) - 56usize];
    [
        "Offset of field: sinew_subscriber_statistics::publishers",
    ][::std::mem::offset_of!(sinew_subscriber_statistics, publishers) - 64usize];
    [
        "Offset of field: sinew_subscriber_statistics::held",
    ][::std::mem::offset_of!(sinew_subscriber_statistics, held) - 72usize];
    [
        "Offset of field: sinew_subscriber_statistics::waiting",
    ][::std::mem::offset_of!(sinew_subscriber_statistics, waiting) - 80usize];
    [
        "Offset of field: sinew_subscriber_statistics::incompatible",
    ][::std::mem::offset_of!(sinew_subscriber_statistics, incompatible) - 88usize];
    [
        "Offset of field: sinew_subscriber_statistics::deadlines_missed",
    ][::std::mem::offset_of!(sinew_subscriber_statistics, deadlines_missed) - 96usize];
    [
        "Offset of field: sinew_subscriber_statistics::publishers_alive",
    ][::std::mem::offset_of!(sinew_subscriber_statistics, publishers_alive) - 104usize];
    [
        "Offset of field: sinew_subscriber_statistics::publishers_not_alive",
    ][::std::mem::offset_of!(sinew_subscriber_statistics, publishers_not_alive)
        - 112usize];
    [
        "Offset of field: sinew_subscriber_statistics::detached",
    ][::std::mem::offset_of!(sinew_subscriber_statistics, detached) - 120usize];
};
unsafe extern "C" {
    pub fn sinew_subscriber_get_statistics(
        subscriber: *const sinew_subscriber,
        statistics: *mut sinew_subscriber_statistics,
    ) -> sinew_status;
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct sinew_client {
    _unused: [u8; 0],
}
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct sinew_client_options {
    pub struct_size: u32,
    /// as sinew_publisher_options
    pub ghost: u8,
    /// bytes of shared memory for requests on their way at most; 0: 1 GiB
    pub memory_budget: u64,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of sinew_client_options",
    ][::std::mem::size_of::<sinew_client_options>() - 16usize];
    [
        "Alignment of sinew_client_options",
    ][::std::mem::align_of::<sinew_client_options>() - 8usize];
    [
        "Offset of field: sinew_client_options::struct_size",
    ][::std::mem::offset_of!(sinew_client_options, struct_size) - 0usize];
    [
        "Offset of field: sinew_client_options::ghost",
    ][::std::mem::offset_of!(sinew_client_options, ghost) - 4usize];
    [
        "Offset of field: sinew_client_options::memory_budget",
    ][::std::mem::offset_of!(sinew_client_options, memory_budget) - 8usize];
};
unsafe extern "C" {
    /// A client of `service`, as sinew_publisher_create(). It need not have a provider: calls wait for one.
    pub fn sinew_client_create(
        node: *mut sinew_node,
        service: *const ::std::os::raw::c_char,
        request_signature: *const ::std::os::raw::c_char,
        response_signature: *const ::std::os::raw::c_char,
        options: *const sinew_client_options,
        client: *mut *mut sinew_client,
    ) -> sinew_status;
}
unsafe extern "C" {
    /// Calls that wait end with SINEW_CANCELLED: their callbacks run before this returns, here or on the client's thread. Unless called in one, it waits for the one that is running. NULL is allowed.
    pub fn sinew_client_destroy(client: *mut sinew_client);
}
unsafe extern "C" {
    /** Calls the service and waits for the response, at most `timeout_ns`; less than 0: for ever. SINEW_OK: the frame is the caller's to release. Else the status says how the call has ended. Not within a callback of the same
 client, nor on the execution thread that is to answer.*/
    pub fn sinew_client_call(
        client: *mut sinew_client,
        extents: *const sinew_extent,
        count: usize,
        timeout_ns: i64,
        response: *mut *mut sinew_frame,
    ) -> sinew_status;
}
/// How a call has ended. SINEW_OK: the response is the callback's to release, at once or later. Else that is NULL, and `error` says why, during the callback.
pub type sinew_response_callback = ::std::option::Option<
    unsafe extern "C" fn(
        context: *mut ::std::os::raw::c_void,
        status: sinew_status,
        response: *mut sinew_frame,
        error: *const ::std::os::raw::c_char,
    ),
>;
unsafe extern "C" {
    /** The same without waiting. `call`, if not NULL, is set to its number, for sinew_client_cancel(). SINEW_OK: `on_response` is called once, on a thread of the client's own, one at a time, perhaps before this returns. It may call, and
 destroy the client. The bytes of the extents must stay as they are until then. Else there is no call, and no callback.*/
    pub fn sinew_client_call_async(
        client: *mut sinew_client,
        extents: *const sinew_extent,
        count: usize,
        timeout_ns: i64,
        on_response: sinew_response_callback,
        context: *mut ::std::os::raw::c_void,
        call: *mut u64,
    ) -> sinew_status;
}
unsafe extern "C" {
    /// The call ends with SINEW_CANCELLED, unless it has ended, and its provider sees it as cancelled.
    pub fn sinew_client_cancel(client: *mut sinew_client, call: u64);
}
/// Counts since it was created; as sinew::ServiceClientStatistics.
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct sinew_client_statistics {
    pub calls: u64,
    pub answered: u64,
    pub failed: u64,
    pub resent: u64,
    pub strays: u64,
    pub rejected: u64,
    pub pending: u64,
    pub bytes_copied: u64,
    pub providers: u64,
    pub detached: bool,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of sinew_client_statistics",
    ][::std::mem::size_of::<sinew_client_statistics>() - 80usize];
    [
        "Alignment of sinew_client_statistics",
    ][::std::mem::align_of::<sinew_client_statistics>() - 8usize];
    [
        "Offset of field: sinew_client_statistics::calls",
    ][::std::mem::offset_of!(sinew_client_statistics, calls) - 0usize];
    [
        "Offset of field: sinew_client_statistics::answered",
    ][::std::mem::offset_of!(sinew_client_statistics, answered) - 8usize];
    [
        "Offset of field: sinew_client_statistics::failed",
    ][::std::mem::offset_of!(sinew_client_statistics, failed) - 16usize];
    [
        "Offset of field: sinew_client_statistics::resent",
    ][::std::mem::offset_of!(sinew_client_statistics, resent) - 24usize];
    [
        "Offset of field: sinew_client_statistics::strays",
    ][::std::mem::offset_of!(sinew_client_statistics, strays) - 32usize];
    [
        "Offset of field: sinew_client_statistics::rejected",
    ][::std::mem::offset_of!(sinew_client_statistics, rejected) - 40usize];
    [
        "Offset of field: sinew_client_statistics::pending",
    ][::std::mem::offset_of!(sinew_client_statistics, pending) - 48usize];
    [
        "Offset of field: sinew_client_statistics::bytes_copied",
    ][::std::mem::offset_of!(sinew_client_statistics, bytes_copied) - 56usize];
    [
        "Offset of field: sinew_client_statistics::providers",
    ][::std::mem::offset_of!(sinew_client_statistics, providers) - 64usize];
    [
        "Offset of field: sinew_client_statistics::detached",
    ][::std::mem::offset_of!(sinew_client_statistics, detached) - 72usize];
};
unsafe extern "C" {
    pub fn sinew_client_get_statistics(
        client: *const sinew_client,
        statistics: *mut sinew_client_statistics,
    ) -> sinew_status;
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct sinew_provider {
    _unused: [u8; 0],
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct sinew_call {
    _unused: [u8; 0],
}
pub type sinew_request_callback = ::std::option::Option<
    unsafe extern "C" fn(context: *mut ::std::os::raw::c_void, call: *mut sinew_call),
>;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct sinew_provider_options {
    pub struct_size: u32,
    /// of on_request: 0 to 1022
    pub execution_thread: u32,
    /// bytes of shared memory for responses at most, until clients let go of them; 0: 1 GiB
    pub memory_budget: u64,
    /// calls that it has taken, and not answered when it goes away, end with SINEW_LOST; else others answer them
    pub at_most_once: bool,
    /// as sinew_publisher_options
    pub ghost: u8,
    /// for each request, also for those that are cancelled while they are executed
    pub on_request: sinew_request_callback,
    pub context: *mut ::std::os::raw::c_void,
    pub release: ::std::option::Option<
        unsafe extern "C" fn(context: *mut ::std::os::raw::c_void),
    >,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of sinew_provider_options",
    ][::std::mem::size_of::<sinew_provider_options>() - 48usize];
    [
        "Alignment of sinew_provider_options",
    ][::std::mem::align_of::<sinew_provider_options>() - 8usize];
    [
        "Offset of field: sinew_provider_options::struct_size",
    ][::std::mem::offset_of!(sinew_provider_options, struct_size) - 0usize];
    [
        "Offset of field: sinew_provider_options::execution_thread",
    ][::std::mem::offset_of!(sinew_provider_options, execution_thread) - 4usize];
    [
        "Offset of field: sinew_provider_options::memory_budget",
    ][::std::mem::offset_of!(sinew_provider_options, memory_budget) - 8usize];
    [
        "Offset of field: sinew_provider_options::at_most_once",
    ][::std::mem::offset_of!(sinew_provider_options, at_most_once) - 16usize];
    [
        "Offset of field: sinew_provider_options::ghost",
    ][::std::mem::offset_of!(sinew_provider_options, ghost) - 17usize];
    [
        "Offset of field: sinew_provider_options::on_request",
    ][::std::mem::offset_of!(sinew_provider_options, on_request) - 24usize];
    [
        "Offset of field: sinew_provider_options::context",
    ][::std::mem::offset_of!(sinew_provider_options, context) - 32usize];
    [
        "Offset of field: sinew_provider_options::release",
    ][::std::mem::offset_of!(sinew_provider_options, release) - 40usize];
};
impl Default for sinew_provider_options {
    fn default() -> Self {
        let mut s = ::std::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
unsafe extern "C" {
    /// Provides `service`, as sinew_publisher_create(), from now on: `on_request` may be called before this returns.
    pub fn sinew_provider_create(
        node: *mut sinew_node,
        service: *const ::std::os::raw::c_char,
        request_signature: *const ::std::os::raw::c_char,
        response_signature: *const ::std::os::raw::c_char,
        options: *const sinew_provider_options,
        provider: *mut *mut sinew_provider,
    ) -> sinew_status;
}
unsafe extern "C" {
    /// Waits for its running callback, unless called in it. Of requests that were not answered becomes what at_most_once says; they stay to be ended. NULL is allowed.
    pub fn sinew_provider_destroy(provider: *mut sinew_provider);
}
unsafe extern "C" {
    /// The request, and the name of the client's node in its info. Lives as long as the call; not to be released.
    pub fn sinew_call_request(call: *const sinew_call) -> *const sinew_frame;
}
unsafe extern "C" {
    /// Nobody waits for the response any more: the call was cancelled, has taken too long, or the client has gone. It is to be ended nevertheless.
    pub fn sinew_call_is_cancelled(call: *const sinew_call) -> bool;
}
unsafe extern "C" {
    /** Each ends the call, whatever comes of it; the client is told in any case, if it is there.
 answer: sends the response. SINEW_INVALID_MESSAGE: it is no stream of the type; SINEW_NO_MEMORY: for the response; SINEW_WOULD_BLOCK: the client does not take what it is sent; SINEW_CLOSED: it has gone, or the provider was
 destroyed.
 fail: the call ends with SINEW_FAILED and the text, of which 64 KiB are sent.
 release: as fail, and the text says that there is no answer. NULL is allowed.*/
    pub fn sinew_call_answer(
        call: *mut sinew_call,
        extents: *const sinew_extent,
        count: usize,
    ) -> sinew_status;
}
unsafe extern "C" {
    pub fn sinew_call_fail(
        call: *mut sinew_call,
        text: *const ::std::os::raw::c_char,
    ) -> sinew_status;
}
unsafe extern "C" {
    pub fn sinew_call_release(call: *mut sinew_call);
}
/// Counts since it was created; as sinew::ServiceProviderStatistics.
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct sinew_provider_statistics {
    pub answered: u64,
    pub threw: u64,
    pub cancelled: u64,
    pub undelivered: u64,
    pub excess: u64,
    pub rejected: u64,
    pub running: u64,
    pub bytes_copied: u64,
    pub clients: u64,
    pub detached: bool,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of sinew_provider_statistics",
    ][::std::mem::size_of::<sinew_provider_statistics>() - 80usize];
    [
        "Alignment of sinew_provider_statistics",
    ][::std::mem::align_of::<sinew_provider_statistics>() - 8usize];
    [
        "Offset of field: sinew_provider_statistics::answered",
    ][::std::mem::offset_of!(sinew_provider_statistics, answered) - 0usize];
    [
        "Offset of field: sinew_provider_statistics::threw",
    ][::std::mem::offset_of!(sinew_provider_statistics, threw) - 8usize];
    [
        "Offset of field: sinew_provider_statistics::cancelled",
    ][::std::mem::offset_of!(sinew_provider_statistics, cancelled) - 16usize];
    [
        "Offset of field: sinew_provider_statistics::undelivered",
    ][::std::mem::offset_of!(sinew_provider_statistics, undelivered) - 24usize];
    [
        "Offset of field: sinew_provider_statistics::excess",
    ][::std::mem::offset_of!(sinew_provider_statistics, excess) - 32usize];
    [
        "Offset of field: sinew_provider_statistics::rejected",
    ][::std::mem::offset_of!(sinew_provider_statistics, rejected) - 40usize];
    [
        "Offset of field: sinew_provider_statistics::running",
    ][::std::mem::offset_of!(sinew_provider_statistics, running) - 48usize];
    [
        "Offset of field: sinew_provider_statistics::bytes_copied",
    ][::std::mem::offset_of!(sinew_provider_statistics, bytes_copied) - 56usize];
    [
        "Offset of field: sinew_provider_statistics::clients",
    ][::std::mem::offset_of!(sinew_provider_statistics, clients) - 64usize];
    [
        "Offset of field: sinew_provider_statistics::detached",
    ][::std::mem::offset_of!(sinew_provider_statistics, detached) - 72usize];
};
unsafe extern "C" {
    pub fn sinew_provider_get_statistics(
        provider: *const sinew_provider,
        statistics: *mut sinew_provider_statistics,
    ) -> sinew_status;
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct sinew_timer {
    _unused: [u8; 0],
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct sinew_timer_options {
    pub struct_size: u32,
    /// of on_time: 0 to 1022
    pub execution_thread: u32,
    pub on_time: ::std::option::Option<
        unsafe extern "C" fn(context: *mut ::std::os::raw::c_void),
    >,
    pub context: *mut ::std::os::raw::c_void,
    pub release: ::std::option::Option<
        unsafe extern "C" fn(context: *mut ::std::os::raw::c_void),
    >,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of sinew_timer_options",
    ][::std::mem::size_of::<sinew_timer_options>() - 32usize];
    [
        "Alignment of sinew_timer_options",
    ][::std::mem::align_of::<sinew_timer_options>() - 8usize];
    [
        "Offset of field: sinew_timer_options::struct_size",
    ][::std::mem::offset_of!(sinew_timer_options, struct_size) - 0usize];
    [
        "Offset of field: sinew_timer_options::execution_thread",
    ][::std::mem::offset_of!(sinew_timer_options, execution_thread) - 4usize];
    [
        "Offset of field: sinew_timer_options::on_time",
    ][::std::mem::offset_of!(sinew_timer_options, on_time) - 8usize];
    [
        "Offset of field: sinew_timer_options::context",
    ][::std::mem::offset_of!(sinew_timer_options, context) - 16usize];
    [
        "Offset of field: sinew_timer_options::release",
    ][::std::mem::offset_of!(sinew_timer_options, release) - 24usize];
};
impl Default for sinew_timer_options {
    fn default() -> Self {
        let mut s = ::std::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
unsafe extern "C" {
    /// Calls on_time every `period_ns`, at least 1, first a period from now. Times are kept: a callback that was late does not make the next one late, and whole periods for which there was no time are left out.
    pub fn sinew_timer_create(
        node: *mut sinew_node,
        period_ns: i64,
        options: *const sinew_timer_options,
        timer: *mut *mut sinew_timer,
    ) -> sinew_status;
}
unsafe extern "C" {
    /// Waits for a running callback, unless called in it. NULL is allowed.
    pub fn sinew_timer_destroy(timer: *mut sinew_timer);
}
unsafe extern "C" {
    /** cancel: no callback until reset; one that is running goes on.
 reset: the next one comes a whole period from now.*/
    pub fn sinew_timer_cancel(timer: *mut sinew_timer);
}
unsafe extern "C" {
    pub fn sinew_timer_reset(timer: *mut sinew_timer);
}
unsafe extern "C" {
    /// Periods without a callback.
    pub fn sinew_timer_missed(timer: *const sinew_timer) -> u64;
}
/// Nodes, topics and endpoints have ids, unique among all three, and never used again while the manager lives.
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct sinew_domain_node {
    pub id: u64,
    pub name: *const ::std::os::raw::c_char,
    /// the container's name, or the first digits of its id; "": none, or unknown
    pub container: *const ::std::os::raw::c_char,
    /// as the manager sees it; 0: in a container that it cannot see into
    pub pid: i64,
    pub uid: u32,
    pub gid: u32,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of sinew_domain_node"][::std::mem::size_of::<sinew_domain_node>() - 40usize];
    [
        "Alignment of sinew_domain_node",
    ][::std::mem::align_of::<sinew_domain_node>() - 8usize];
    [
        "Offset of field: sinew_domain_node::id",
    ][::std::mem::offset_of!(sinew_domain_node, id) - 0usize];
    [
        "Offset of field: sinew_domain_node::name",
    ][::std::mem::offset_of!(sinew_domain_node, name) - 8usize];
    [
        "Offset of field: sinew_domain_node::container",
    ][::std::mem::offset_of!(sinew_domain_node, container) - 16usize];
    [
        "Offset of field: sinew_domain_node::pid",
    ][::std::mem::offset_of!(sinew_domain_node, pid) - 24usize];
    [
        "Offset of field: sinew_domain_node::uid",
    ][::std::mem::offset_of!(sinew_domain_node, uid) - 32usize];
    [
        "Offset of field: sinew_domain_node::gid",
    ][::std::mem::offset_of!(sinew_domain_node, gid) - 36usize];
};
impl Default for sinew_domain_node {
    fn default() -> Self {
        let mut s = ::std::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct sinew_domain_topic {
    pub id: u64,
    /// those of the service "sum" are "sum@request" and "sum@response"
    pub name: *const ::std::os::raw::c_char,
    /// "robot/Image"
    pub type_: *const ::std::os::raw::c_char,
    /// "robot/Image{width:uint32;...}": what sinew_subscriber_create() wants
    pub signature: *const ::std::os::raw::c_char,
    pub hash: [u8; 16usize],
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of sinew_domain_topic",
    ][::std::mem::size_of::<sinew_domain_topic>() - 48usize];
    [
        "Alignment of sinew_domain_topic",
    ][::std::mem::align_of::<sinew_domain_topic>() - 8usize];
    [
        "Offset of field: sinew_domain_topic::id",
    ][::std::mem::offset_of!(sinew_domain_topic, id) - 0usize];
    [
        "Offset of field: sinew_domain_topic::name",
    ][::std::mem::offset_of!(sinew_domain_topic, name) - 8usize];
    [
        "Offset of field: sinew_domain_topic::type_",
    ][::std::mem::offset_of!(sinew_domain_topic, type_) - 16usize];
    [
        "Offset of field: sinew_domain_topic::signature",
    ][::std::mem::offset_of!(sinew_domain_topic, signature) - 24usize];
    [
        "Offset of field: sinew_domain_topic::hash",
    ][::std::mem::offset_of!(sinew_domain_topic, hash) - 32usize];
};
impl Default for sinew_domain_topic {
    fn default() -> Self {
        let mut s = ::std::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
/// A publisher or a subscriber.
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct sinew_domain_endpoint {
    pub id: u64,
    /// ids; topic 0: it is a ghost whose topic is gone
    pub node: u64,
    /// ids; topic 0: it is a ghost whose topic is gone
    pub topic: u64,
    /// of a publisher: bytes of shared memory that it has mapped
    pub memory: u64,
    /// 0: none
    pub deadline_ns: i64,
    /// 0: none
    pub lifespan_ns: i64,
    /// 0: none
    pub lease_ns: i64,
    /// 0: keep all
    pub depth: u32,
    pub publishes: bool,
    /// SINEW_GHOST_...
    pub ghost: u8,
    pub reliable: bool,
    pub transient_local: bool,
    pub manual_by_topic: bool,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of sinew_domain_endpoint",
    ][::std::mem::size_of::<sinew_domain_endpoint>() - 72usize];
    [
        "Alignment of sinew_domain_endpoint",
    ][::std::mem::align_of::<sinew_domain_endpoint>() - 8usize];
    [
        "Offset of field: sinew_domain_endpoint::id",
    ][::std::mem::offset_of!(sinew_domain_endpoint, id) - 0usize];
    [
        "Offset of field: sinew_domain_endpoint::node",
    ][::std::mem::offset_of!(sinew_domain_endpoint, node) - 8usize];
    [
        "Offset of field: sinew_domain_endpoint::topic",
    ][::std::mem::offset_of!(sinew_domain_endpoint, topic) - 16usize];
    [
        "Offset of field: sinew_domain_endpoint::memory",
    ][::std::mem::offset_of!(sinew_domain_endpoint, memory) - 24usize];
    [
        "Offset of field: sinew_domain_endpoint::deadline_ns",
    ][::std::mem::offset_of!(sinew_domain_endpoint, deadline_ns) - 32usize];
    [
        "Offset of field: sinew_domain_endpoint::lifespan_ns",
    ][::std::mem::offset_of!(sinew_domain_endpoint, lifespan_ns) - 40usize];
    [
        "Offset of field: sinew_domain_endpoint::lease_ns",
    ][::std::mem::offset_of!(sinew_domain_endpoint, lease_ns) - 48usize];
    [
        "Offset of field: sinew_domain_endpoint::depth",
    ][::std::mem::offset_of!(sinew_domain_endpoint, depth) - 56usize];
    [
        "Offset of field: sinew_domain_endpoint::publishes",
    ][::std::mem::offset_of!(sinew_domain_endpoint, publishes) - 60usize];
    [
        "Offset of field: sinew_domain_endpoint::ghost",
    ][::std::mem::offset_of!(sinew_domain_endpoint, ghost) - 61usize];
    [
        "Offset of field: sinew_domain_endpoint::reliable",
    ][::std::mem::offset_of!(sinew_domain_endpoint, reliable) - 62usize];
    [
        "Offset of field: sinew_domain_endpoint::transient_local",
    ][::std::mem::offset_of!(sinew_domain_endpoint, transient_local) - 63usize];
    [
        "Offset of field: sinew_domain_endpoint::manual_by_topic",
    ][::std::mem::offset_of!(sinew_domain_endpoint, manual_by_topic) - 64usize];
};
/// A publisher and a subscriber of one topic. It goes with either of them, or when either is on no topic any more.
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct sinew_domain_pair {
    /// ids of endpoints
    pub publisher: u64,
    /// ids of endpoints
    pub subscriber: u64,
    /// why not by SINEW_DELIVERY_NATIVE or POINTER, or not connected, as a sentence
    pub why: *const ::std::os::raw::c_char,
    /// how messages come, when connected
    pub delivery: i32,
    pub connected: bool,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of sinew_domain_pair"][::std::mem::size_of::<sinew_domain_pair>() - 32usize];
    [
        "Alignment of sinew_domain_pair",
    ][::std::mem::align_of::<sinew_domain_pair>() - 8usize];
    [
        "Offset of field: sinew_domain_pair::publisher",
    ][::std::mem::offset_of!(sinew_domain_pair, publisher) - 0usize];
    [
        "Offset of field: sinew_domain_pair::subscriber",
    ][::std::mem::offset_of!(sinew_domain_pair, subscriber) - 8usize];
    [
        "Offset of field: sinew_domain_pair::why",
    ][::std::mem::offset_of!(sinew_domain_pair, why) - 16usize];
    [
        "Offset of field: sinew_domain_pair::delivery",
    ][::std::mem::offset_of!(sinew_domain_pair, delivery) - 24usize];
    [
        "Offset of field: sinew_domain_pair::connected",
    ][::std::mem::offset_of!(sinew_domain_pair, connected) - 28usize];
};
impl Default for sinew_domain_pair {
    fn default() -> Self {
        let mut s = ::std::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct sinew_domain_update {
    _unused: [u8; 0],
}
unsafe extern "C" {
    /// Forget what updates before have told: this begins from nothing, as the first one does.
    pub fn sinew_domain_update_is_anew(update: *const sinew_domain_update) -> bool;
}
unsafe extern "C" {
    /// With this, everything has been told. There may be some updates before the first that is complete.
    pub fn sinew_domain_update_is_complete(update: *const sinew_domain_update) -> bool;
}
unsafe extern "C" {
    /// REQUIRES: index < count, of each. What refers to an id comes after it: nodes, topics, endpoints, pairs.
    pub fn sinew_domain_update_node_count(update: *const sinew_domain_update) -> usize;
}
unsafe extern "C" {
    pub fn sinew_domain_update_node(
        update: *const sinew_domain_update,
        index: usize,
    ) -> sinew_domain_node;
}
unsafe extern "C" {
    pub fn sinew_domain_update_topic_count(update: *const sinew_domain_update) -> usize;
}
unsafe extern "C" {
    pub fn sinew_domain_update_topic(
        update: *const sinew_domain_update,
        index: usize,
    ) -> sinew_domain_topic;
}
unsafe extern "C" {
    pub fn sinew_domain_update_endpoint_count(
        update: *const sinew_domain_update,
    ) -> usize;
}
unsafe extern "C" {
    pub fn sinew_domain_update_endpoint(
        update: *const sinew_domain_update,
        index: usize,
    ) -> sinew_domain_endpoint;
}
unsafe extern "C" {
    pub fn sinew_domain_update_pair_count(update: *const sinew_domain_update) -> usize;
}
unsafe extern "C" {
    pub fn sinew_domain_update_pair(
        update: *const sinew_domain_update,
        index: usize,
    ) -> sinew_domain_pair;
}
unsafe extern "C" {
    /// Ids of nodes, topics and endpoints that are gone; of some nothing may have been told.
    pub fn sinew_domain_update_gone_count(update: *const sinew_domain_update) -> usize;
}
unsafe extern "C" {
    pub fn sinew_domain_update_gone(
        update: *const sinew_domain_update,
        index: usize,
    ) -> u64;
}
unsafe extern "C" {
    /// Of those, the ids of nodes that did not leave: they have died, or lost their manager and come again.
    pub fn sinew_domain_update_lost_count(update: *const sinew_domain_update) -> usize;
}
unsafe extern "C" {
    pub fn sinew_domain_update_lost(
        update: *const sinew_domain_update,
        index: usize,
    ) -> u64;
}
unsafe extern "C" {
    /// What there is now. Blocks until the manager has told everything: under a millisecond, and some microseconds for each endpoint and pair. The caller's to release.
    pub fn sinew_domain_get(
        node: *mut sinew_node,
        everything: *mut *mut sinew_domain_update,
    ) -> sinew_status;
}
unsafe extern "C" {
    /// Of sinew_domain_get() only. NULL is allowed.
    pub fn sinew_domain_release(everything: *mut sinew_domain_update);
}
unsafe extern "C" {
    /** Ends the connection of the node of this name with the manager, as if that had died: it registers again, and all its pairs are introduced anew, while those that are connected go on. For nodes that others see wrongly, and for tests. Of
 the caller's own user, unless that is the manager's, or root: else SINEW_DENIED. SINEW_INVALID_ARGUMENT where there is no such node. Does not wait for what comes of it: the domain's state tells.*/
    pub fn sinew_node_disconnect(
        node: *mut sinew_node,
        name: *const ::std::os::raw::c_char,
    ) -> sinew_status;
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct sinew_domain_watch {
    _unused: [u8; 0],
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct sinew_domain_watch_options {
    pub struct_size: u32,
    pub execution_thread: u32,
    /// valid during the call
    pub on_update: ::std::option::Option<
        unsafe extern "C" fn(
            context: *mut ::std::os::raw::c_void,
            update: *const sinew_domain_update,
        ),
    >,
    pub context: *mut ::std::os::raw::c_void,
    pub release: ::std::option::Option<
        unsafe extern "C" fn(context: *mut ::std::os::raw::c_void),
    >,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of sinew_domain_watch_options",
    ][::std::mem::size_of::<sinew_domain_watch_options>() - 32usize];
    [
        "Alignment of sinew_domain_watch_options",
    ][::std::mem::align_of::<sinew_domain_watch_options>() - 8usize];
    [
        "Offset of field: sinew_domain_watch_options::struct_size",
    ][::std::mem::offset_of!(sinew_domain_watch_options, struct_size) - 0usize];
    [
        "Offset of field: sinew_domain_watch_options::execution_thread",
    ][::std::mem::offset_of!(sinew_domain_watch_options, execution_thread) - 4usize];
    [
        "Offset of field: sinew_domain_watch_options::on_update",
    ][::std::mem::offset_of!(sinew_domain_watch_options, on_update) - 8usize];
    [
        "Offset of field: sinew_domain_watch_options::context",
    ][::std::mem::offset_of!(sinew_domain_watch_options, context) - 16usize];
    [
        "Offset of field: sinew_domain_watch_options::release",
    ][::std::mem::offset_of!(sinew_domain_watch_options, release) - 24usize];
};
impl Default for sinew_domain_watch_options {
    fn default() -> Self {
        let mut s = ::std::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
unsafe extern "C" {
    /// Is told what there is, and then of every change, as long as it is there. Changes that follow each other quickly are told together. A node may have 16.
    pub fn sinew_domain_watch_create(
        node: *mut sinew_node,
        options: *const sinew_domain_watch_options,
        watch: *mut *mut sinew_domain_watch,
    ) -> sinew_status;
}
unsafe extern "C" {
    /// Waits for a running callback, unless called in it. NULL is allowed.
    pub fn sinew_domain_watch_destroy(watch: *mut sinew_domain_watch);
}
/// Of a publisher, since it was created.
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct sinew_publisher_counts {
    /// id of the endpoint
    pub publisher: u64,
    /// Stays when its node registers anew, as after the end of the manager, whereas the id is another one then, and its old one may be somebody else's: by this, what was counted at another moment is found.
    pub identity: u64,
    pub messages: u64,
    pub bytes: u64,
    /// while publishing
    pub bytes_copied: u64,
    /// for readers of other users
    pub bytes_exported: u64,
    /// messages that were not published
    pub refused: u64,
    /// messages taken back for want of memory before all had taken them
    pub withdrawn: u64,
    /// when the newest was published; 0: none was
    pub newest_ns: i64,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of sinew_publisher_counts",
    ][::std::mem::size_of::<sinew_publisher_counts>() - 72usize];
    [
        "Alignment of sinew_publisher_counts",
    ][::std::mem::align_of::<sinew_publisher_counts>() - 8usize];
    [
        "Offset of field: sinew_publisher_counts::publisher",
    ][::std::mem::offset_of!(sinew_publisher_counts, publisher) - 0usize];
    [
        "Offset of field: sinew_publisher_counts::identity",
    ][::std::mem::offset_of!(sinew_publisher_counts, identity) - 8usize];
    [
        "Offset of field: sinew_publisher_counts::messages",
    ][::std::mem::offset_of!(sinew_publisher_counts, messages) - 16usize];
    [
        "Offset of field: sinew_publisher_counts::bytes",
    ][::std::mem::offset_of!(sinew_publisher_counts, bytes) - 24usize];
    [
        "Offset of field: sinew_publisher_counts::bytes_copied",
    ][::std::mem::offset_of!(sinew_publisher_counts, bytes_copied) - 32usize];
    [
        "Offset of field: sinew_publisher_counts::bytes_exported",
    ][::std::mem::offset_of!(sinew_publisher_counts, bytes_exported) - 40usize];
    [
        "Offset of field: sinew_publisher_counts::refused",
    ][::std::mem::offset_of!(sinew_publisher_counts, refused) - 48usize];
    [
        "Offset of field: sinew_publisher_counts::withdrawn",
    ][::std::mem::offset_of!(sinew_publisher_counts, withdrawn) - 56usize];
    [
        "Offset of field: sinew_publisher_counts::newest_ns",
    ][::std::mem::offset_of!(sinew_publisher_counts, newest_ns) - 64usize];
};
/// What a subscriber has counted of one publisher, since they were connected.
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct sinew_pair_counts {
    /// ids of endpoints
    pub publisher: u64,
    /// ids of endpoints
    pub subscriber: u64,
    /// As `identity` of sinew_publisher_counts. A pair that is connected anew has the same ones, and counts from 0; while messages of the connection before are held, that one is told of as well.
    pub publisher_identity: u64,
    /// As `identity` of sinew_publisher_counts. A pair that is connected anew has the same ones, and counts from 0; while messages of the connection before are held, that one is told of as well.
    pub subscriber_identity: u64,
    /// received
    pub messages: u64,
    /// lost: pushed out by newer ones, or withdrawn
    pub missed: u64,
    /// of those, by a publisher whose memory was full
    pub withdrawn: u64,
    /// older than their lifespan
    pub expired: u64,
    /// not wanted: every n-th, or a rate
    pub skipped: u64,
    /// copied since the subscriber holds too much
    pub over_quota: u64,
    /// by the subscriber, while receiving
    pub bytes_copied: u64,
    /// messages whose memory the subscriber keeps from being used again, now
    pub held: u64,
    /// of all in `latency`
    pub latency_total_ns: u64,
    /** How many messages took so long from being published to being received. Of those that are published within a millisecond of each other one counts. Bucket 2n is [512 * 2^n ns, 768 * 2^n ns), bucket 2n + 1 from there to
 1024 * 2^n ns; the first also has what took less, the last what took longer. Numbers begin again from 0 after 2^32 - 1.*/
    pub latency: [u32; 48usize],
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of sinew_pair_counts"][::std::mem::size_of::<sinew_pair_counts>() - 296usize];
    [
        "Alignment of sinew_pair_counts",
    ][::std::mem::align_of::<sinew_pair_counts>() - 8usize];
    [
        "Offset of field: sinew_pair_counts::publisher",
    ][::std::mem::offset_of!(sinew_pair_counts, publisher) - 0usize];
    [
        "Offset of field: sinew_pair_counts::subscriber",
    ][::std::mem::offset_of!(sinew_pair_counts, subscriber) - 8usize];
    [
        "Offset of field: sinew_pair_counts::publisher_identity",
    ][::std::mem::offset_of!(sinew_pair_counts, publisher_identity) - 16usize];
    [
        "Offset of field: sinew_pair_counts::subscriber_identity",
    ][::std::mem::offset_of!(sinew_pair_counts, subscriber_identity) - 24usize];
    [
        "Offset of field: sinew_pair_counts::messages",
    ][::std::mem::offset_of!(sinew_pair_counts, messages) - 32usize];
    [
        "Offset of field: sinew_pair_counts::missed",
    ][::std::mem::offset_of!(sinew_pair_counts, missed) - 40usize];
    [
        "Offset of field: sinew_pair_counts::withdrawn",
    ][::std::mem::offset_of!(sinew_pair_counts, withdrawn) - 48usize];
    [
        "Offset of field: sinew_pair_counts::expired",
    ][::std::mem::offset_of!(sinew_pair_counts, expired) - 56usize];
    [
        "Offset of field: sinew_pair_counts::skipped",
    ][::std::mem::offset_of!(sinew_pair_counts, skipped) - 64usize];
    [
        "Offset of field: sinew_pair_counts::over_quota",
    ][::std::mem::offset_of!(sinew_pair_counts, over_quota) - 72usize];
    [
        "Offset of field: sinew_pair_counts::bytes_copied",
    ][::std::mem::offset_of!(sinew_pair_counts, bytes_copied) - 80usize];
    [
        "Offset of field: sinew_pair_counts::held",
    ][::std::mem::offset_of!(sinew_pair_counts, held) - 88usize];
    [
        "Offset of field: sinew_pair_counts::latency_total_ns",
    ][::std::mem::offset_of!(sinew_pair_counts, latency_total_ns) - 96usize];
    [
        "Offset of field: sinew_pair_counts::latency",
    ][::std::mem::offset_of!(sinew_pair_counts, latency) - 104usize];
};
impl Default for sinew_pair_counts {
    fn default() -> Self {
        let mut s = ::std::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::std::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct sinew_domain_counters {
    _unused: [u8; 0],
}
unsafe extern "C" {
    /// Blocks until the manager has told everything, as sinew_domain_get().
    pub fn sinew_domain_counters_create(
        node: *mut sinew_node,
        counters: *mut *mut sinew_domain_counters,
    ) -> sinew_status;
}
unsafe extern "C" {
    /// NULL is allowed.
    pub fn sinew_domain_counters_destroy(counters: *mut sinew_domain_counters);
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct sinew_domain_counts {
    _unused: [u8; 0],
}
unsafe extern "C" {
    /// Makes no system call; under a microsecond for each publisher and pair. Goes on while there is no manager. The caller's to release.
    pub fn sinew_domain_counters_read(
        counters: *const sinew_domain_counters,
        counts: *mut *mut sinew_domain_counts,
    ) -> sinew_status;
}
unsafe extern "C" {
    /// REQUIRES: index < count, of each.
    pub fn sinew_domain_counts_publisher_count(
        counts: *const sinew_domain_counts,
    ) -> usize;
}
unsafe extern "C" {
    pub fn sinew_domain_counts_publisher(
        counts: *const sinew_domain_counts,
        index: usize,
    ) -> sinew_publisher_counts;
}
unsafe extern "C" {
    pub fn sinew_domain_counts_pair_count(counts: *const sinew_domain_counts) -> usize;
}
unsafe extern "C" {
    pub fn sinew_domain_counts_pair(
        counts: *const sinew_domain_counts,
        index: usize,
    ) -> sinew_pair_counts;
}
unsafe extern "C" {
    /// NULL is allowed.
    pub fn sinew_domain_counts_release(counts: *mut sinew_domain_counts);
}
