//! The declarations of `bridges/raw_dds.h`.
#![allow(non_camel_case_types, missing_docs)]

use std::ffi::{c_char, c_void};

pub const VERSION: u32 = 3;
/// Bytes that an error has room for.
pub const WHY: usize = 256;

/// A participant, a writer, a reader of the back end.
#[repr(C)]
pub struct participant(c_void);
#[repr(C)]
pub struct writer(c_void);
#[repr(C)]
pub struct reader(c_void);

#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct guid {
    pub bytes: [u8; 16],
}

#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct identity {
    pub writer: guid,
    pub number: u64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct bytes {
    pub data: *const u8,
    pub size: usize,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct qos {
    pub reliable: bool,
    pub transient_local: bool,
    pub depth: u32,
    pub lease: i64,
    pub deadline: i64,
    pub lifespan: i64,
}

#[repr(C)]
pub struct endpoint {
    pub guid: guid,
    pub writes: bool,
    pub topic: *const c_char,
    pub ty: *const c_char,
    pub qos: qos,
    pub user_data: bytes,
}

#[repr(C)]
pub struct stranger {
    pub guid: guid,
    pub vendor: [u8; 2],
    pub user_data: bytes,
}

#[repr(C)]
pub struct discovery {
    pub context: *mut c_void,
    pub on_participant: unsafe extern "C" fn(*mut c_void, *const stranger),
    pub on_participant_gone: unsafe extern "C" fn(*mut c_void, *const guid),
    pub on_endpoint: unsafe extern "C" fn(*mut c_void, *const endpoint),
    pub on_endpoint_gone: unsafe extern "C" fn(*mut c_void, *const guid),
}

#[repr(C)]
pub struct message {
    pub size: usize,
    pub identity: identity,
    pub related: identity,
}

#[repr(C)]
pub struct listener {
    pub context: *mut c_void,
    pub on_matched: unsafe extern "C" fn(*mut c_void, *const guid, bool),
    pub on_incompatible: unsafe extern "C" fn(*mut c_void, *const c_char),
    pub room_for: unsafe extern "C" fn(*mut c_void, usize) -> *mut u8,
    pub on_message: unsafe extern "C" fn(*mut c_void, *const message),
    pub on_unwanted: unsafe extern "C" fn(*mut c_void, *const identity),
}

#[repr(C)]
pub struct options {
    pub domain: u32,
    pub name: *const c_char,
    pub interfaces: *const c_char,
    pub user_data: bytes,
}

#[repr(C)]
pub struct topic {
    pub name: *const c_char,
    pub ty: *const c_char,
    pub qos: qos,
    pub user_data: bytes,
}

#[repr(C)]
pub struct functions {
    pub version: u32,
    pub name: *const c_char,
    pub open: unsafe extern "C" fn(*const options, *const discovery, *mut c_char) -> *mut participant,
    pub close: unsafe extern "C" fn(*mut participant),
    pub guid_of_participant: unsafe extern "C" fn(*const participant, *mut guid),
    pub open_writer: unsafe extern "C" fn(*mut participant, *const topic, *const listener, *mut c_char) -> *mut writer,
    pub close_writer: unsafe extern "C" fn(*mut writer),
    pub guid_of_writer: unsafe extern "C" fn(*const writer, *mut guid),
    pub write: unsafe extern "C" fn(*mut writer, *const bytes, usize, *const identity, *mut identity) -> bool,
    pub is_acknowledged: unsafe extern "C" fn(*mut writer) -> bool,
    pub forget: unsafe extern "C" fn(*mut writer) -> usize,
    pub open_reader: unsafe extern "C" fn(*mut participant, *const topic, *const listener, *mut c_char) -> *mut reader,
    pub close_reader: unsafe extern "C" fn(*mut reader),
    pub guid_of_reader: unsafe extern "C" fn(*const reader, *mut guid),
}
