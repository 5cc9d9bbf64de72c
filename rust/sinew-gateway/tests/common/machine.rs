//! Machines for gateways: network namespaces that have no names, and go with the test program, however it ends.

use std::fs::File;
use std::net::Ipv6Addr;
use std::os::fd::AsFd;
use std::process::Command;
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{LazyLock, Mutex, PoisonError};

use rustix::thread::{LinkNameSpaceType, UnshareFlags, gettid, move_into_link_name_space, unshare_unsafe};

/// Of the machines of this program, all on one switch.
const PREFIX: [u16; 7] = [0xfd73, 0x6e65, 0x7700, 0, 0, 0, 0];

static NEXT: AtomicU16 = AtomicU16::new(1);
static SWITCH: LazyLock<Option<Switch>> = LazyLock::new(Switch::new);

/// A machine. Where namespaces cannot be made, which is said, it is this one.
pub struct Machine {
    namespace: Option<File>,
    pub address: Ipv6Addr,
}

impl Machine {
    pub fn new() -> Machine {
        let Some(switch) = &*SWITCH else {
            return Machine::this();
        };
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let [a, b, c, d, e, f, g] = PREFIX;
        let address = Ipv6Addr::new(a, b, c, d, e, f, g, number);
        let namespace = std::thread::spawn(move || {
            enter_new().expect("the switch has one, too");
            ip(&["link", "set", "lo", "up"]);
            ip(&["link", "add", "eth", "type", "veth", "peer", "name", &format!("to{number}"), "netns", &switch.thread]);
            switch.plug(number);
            ip(&["address", "add", &format!("{address}/64"), "dev", "eth", "nodad"]);
            ip(&["link", "set", "eth", "up"]);
            File::open("/proc/thread-self/ns/net").expect("it is this thread's")
        });
        Machine { namespace: Some(namespace.join().expect("the machine is made")), address }
    }

    /// The one that the test runs on.
    pub fn this() -> Machine {
        Machine { namespace: None, address: Ipv6Addr::LOCALHOST }
    }

    /// Sockets that are made and programs that are started meanwhile are that machine's.
    pub fn within<T: Send>(&self, act: impl FnOnce() -> T + Send) -> T {
        let Some(namespace) = &self.namespace else {
            return act();
        };
        std::thread::scope(|scope| {
            let acting = scope.spawn(|| {
                move_into_link_name_space(namespace.as_fd(), Some(LinkNameSpaceType::Network)).expect("it is one");
                act()
            });
            acting.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    }
}

/// A bridge, in a namespace of its own, in which a thread waits for machines to be plugged in.
struct Switch {
    /// Its id.
    thread: String,
    plugs: Mutex<Sender<(u16, Sender<()>)>>,
}

impl Switch {
    fn new() -> Option<Switch> {
        let (tell, told) = channel();
        let (plugs, plugged) = channel::<(u16, Sender<()>)>();
        std::thread::spawn(move || {
            let made = enter_new().and_then(|()| ip_or_why(&["link", "add", "switch", "type", "bridge"]));
            if let Err(why) = made {
                eprintln!("gateways have no machines of their own, but share this one: {why}");
                return tell.send(None);
            }
            ip(&["link", "set", "switch", "up"]);
            tell.send(Some(gettid().as_raw_nonzero().to_string()))?;
            for (number, done) in plugged {
                let name = format!("to{number}");
                ip(&["link", "set", &name, "master", "switch", "up"]);
                let _ = done.send(());
            }
            Ok(())
        });
        let thread = told.recv().ok()??;
        Some(Switch { thread, plugs: Mutex::new(plugs) })
    }

    fn plug(&self, number: u16) {
        let (done, is_done) = channel();
        self.plugs.lock().unwrap_or_else(PoisonError::into_inner).send((number, done)).expect("the switch waits");
        is_done.recv().expect("it is plugged in");
    }
}

/// This thread is in a new namespace from now on.
fn enter_new() -> Result<(), String> {
    // SAFETY: nothing but the network changes for this thread, which shares no descriptor table with others that way.
    unsafe { unshare_unsafe(UnshareFlags::NEWNET) }.map_err(|why| format!("a network namespace cannot be made: {why}"))
}

/// Of the namespace that this thread is in.
fn ip(arguments: &[&str]) {
    ip_or_why(arguments).unwrap_or_else(|why| panic!("{why}"));
}

fn ip_or_why(arguments: &[&str]) -> Result<(), String> {
    let done = Command::new("ip").args(arguments).output().map_err(|why| format!("there is no command ip: {why}"))?;
    let said = String::from_utf8_lossy(&done.stderr);
    if done.status.success() { Ok(()) } else { Err(format!("ip {}: {said}", arguments.join(" "))) }
}
