//! Other domains of this user, which somebody who sees an empty one may have meant. No manager is asked, as that could take long, or start one: the kernel tells how many are connected with each.

use std::collections::BTreeMap;
use std::path::Path;

use crate::cli::Cli;
use crate::doctor::domain::place::place;
use crate::doctor::host::Host;
use crate::domain::View;
use crate::output::{counted, say, shown};

/// More are not told of.
const MOST: usize = 5;

/// Says on the standard error that nobody is in the domain, and where somebody is; for scripts nothing.
pub fn tell_if_empty(cli: &Cli, view: &View) {
    if cli.json || !view.state.nodes.is_empty() {
        return;
    }
    let (host, user) = (Host::this(), rustix::process::geteuid().as_raw());
    let asked = cli.domain.as_deref().filter(|domain| !domain.is_empty());
    let own = place(&host, asked, user).ok();
    let beside = beside(&host, own.as_ref().map(|own| own.socket.as_path()), user);
    let name = asked.or(host.variable("SINEW_DOMAIN")).unwrap_or("default");
    say!("domain '{}' has no nodes{}", shown(name), beside.map(|text| format!("; {text}")).unwrap_or_default());
}

/// "'default' beside it has 4 nodes": the domains with names in which somebody is, but for that of this socket. None: there are none.
pub fn beside(host: &Host, own: Option<&Path>, user: u32) -> Option<String> {
    let others = others(host, own, user);
    let told = others.iter().take(MOST).map(|(name, nodes)| format!("'{}' beside it has {}", shown(name), counted(*nodes, "node")));
    let told = told.collect::<Vec<_>>().join(", ");
    (!told.is_empty()).then_some(told)
}

/// Their names, and how many nodes they have.
fn others(host: &Host, own: Option<&Path>, user: u32) -> BTreeMap<String, u64> {
    let mut others = BTreeMap::new();
    let Some(folder) = place(host, Some("default"), user).ok().and_then(|place| Some(place.socket.parent()?.to_owned())) else {
        return others;
    };
    let before = format!(" {}/", folder.display());
    for line in host.lines("/proc/net/unix") {
        // Whoever has connected with a socket that has a path shows that path at the other end of it, and a state that says so.
        let name = line.split_once(&before).and_then(|(_, file)| file.strip_suffix(".sock"));
        let Some(name) = name.filter(|_| line.split_whitespace().nth(5) == Some("03")) else { continue };
        if own != Some(&folder.join(format!("{name}.sock"))) {
            *others.entry(name.to_owned()).or_insert(0) += 1;
        }
    }
    others
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::host::tests::host;

    #[test]
    fn who_is_connected_with_other_managers_is_counted() {
        let sockets = "Num       RefCount Protocol Flags    Type St Inode Path\n\
            0: 00000002 00000000 00010000 0005 01 1 /run/user/5/sinew/default.sock\n\
            0: 00000003 00000000 00000000 0005 03 2 /run/user/5/sinew/default.sock\n\
            0: 00000003 00000000 00000000 0005 03 3 /run/user/5/sinew/default.sock\n\
            0: 00000003 00000000 00000000 0005 03 4 /run/user/5/sinew/foo.sock\n\
            0: 00000002 00000000 00010000 0005 01 5 /run/user/5/sinew/nobody.sock\n\
            0: 00000003 00000000 00000000 0001 03 6 /run/user/5/other.sock\n";
        let (_folder, host) = host(&[("/proc/net/unix", sockets)], &[("XDG_RUNTIME_DIR", "/run/user/5")], &[]);
        let foo = Path::new("/run/user/5/sinew/foo.sock");
        assert_eq!(beside(&host, Some(foo), 5).as_deref(), Some("'default' beside it has 2 nodes"));
        assert_eq!(beside(&host, None, 5).as_deref(), Some("'default' beside it has 2 nodes, 'foo' beside it has 1 node"));
        assert_eq!(beside(&host, Some(foo), 6).as_deref(), Some("'default' beside it has 2 nodes"), "the variable says where");
    }
}
