//! Which interfaces there are.

use std::collections::BTreeMap;

use nix::ifaddrs::getifaddrs;
use nix::net::if_::{InterfaceFlags, if_nametoindex};

/// One that gateways may be found on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interface {
    pub index: u32,
    pub name: String,
}

/// Those that are up and have multicast; of these the named ones, or, where none is named, all but loopback.
pub fn usable(named: &[String]) -> Vec<Interface> {
    let Ok(all) = getifaddrs() else { return Vec::new() };
    let there: BTreeMap<String, InterfaceFlags> = all.map(|interface| (interface.interface_name, interface.flags)).collect();
    let is_usable = |name: &String, flags: InterfaceFlags| {
        let is_named = named.contains(name);
        let needed = InterfaceFlags::IFF_UP | InterfaceFlags::IFF_RUNNING;
        // Loopback does not say that it has multicast, and has.
        let is_loopback = flags.contains(InterfaceFlags::IFF_LOOPBACK);
        flags.contains(needed)
            && if is_loopback { is_named } else { flags.contains(InterfaceFlags::IFF_MULTICAST) && (named.is_empty() || is_named) }
    };
    there
        .into_iter()
        .filter(|(name, flags)| is_usable(name, *flags))
        .filter_map(|(name, _)| Some(Interface { index: if_nametoindex(name.as_str()).ok()?, name }))
        .collect()
}
