//! Gateways that find each other on the local link.

mod common;

use std::path::PathBuf;
use std::process::Command;

use common::net::Net;
use common::program::Program;

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Folder {
        Folder(tempfile::tempdir().expect("there is room for a folder"))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// A gateway in a namespace, which knows nobody.
    fn run(&self, net: &Net, at: usize, name: &str, discovery: &str) -> Program {
        let config = self.path(&format!("{name}.json"));
        let text = format!(r#"{{ "name": "{name}", "listen": "[::]:0", "discovery": {discovery}, "security": "ad-hoc" }}"#);
        std::fs::write(&config, text).expect("it can be written");
        Program::run_in(net.name(at), &config, self.path(&format!("{name}.sock")).to_str().expect("a path is a text"))
    }
}

fn is_connected(program: &Program, name: &str) -> bool {
    program.said().contains(&format!("connected with '{name}'"))
}

#[test]
fn two_gateways_on_one_link_find_each_other_without_being_told() {
    let (Some(net), folder) = (Net::new(2), Folder::new()) else { return };
    net.cable(0, 1, "wifi");
    let (drone, base) = (folder.run(&net, 0, "drone", "true"), folder.run(&net, 1, "base", "true"));
    drone.says("connected with 'base'");
    base.says("connected with 'drone'");
}

#[test]
fn an_interface_that_comes_later_is_used_and_one_that_went_and_came_is_again() {
    let (Some(net), folder) = (Net::new(2), Folder::new()) else { return };
    let (drone, base) = (folder.run(&net, 0, "drone", "true"), folder.run(&net, 1, "base", "true"));
    base.says("listens at");
    drone.says("listens at");
    net.cable(0, 1, "wifi");
    drone.says("connected with 'base'");
    net.cut(0, "wifi");
    drone.says("is over");
    base.says("is over");
    net.cable(0, 1, "wifi");
    common::until("they are connected a second time", || drone.said().matches("connected with 'base'").count() == 2);
}

#[test]
fn a_gateway_is_found_over_each_of_its_interfaces_and_connected_once() {
    let (Some(net), folder) = (Net::new(3), Folder::new()) else { return };
    net.cable(0, 1, "left");
    net.cable(0, 1, "left2");
    net.cable(0, 2, "right");
    let hub = folder.run(&net, 0, "hub", "true");
    let (one, two) = (folder.run(&net, 1, "one", "true"), folder.run(&net, 2, "two", "true"));
    one.says("connected with 'hub'");
    two.says("connected with 'hub'");
    hub.says("connected with 'one'");
    hub.says("connected with 'two'");
    assert!(!is_connected(&one, "two") && !is_connected(&two, "one"));
}

#[test]
fn interfaces_that_are_not_named_are_left_alone_and_discovery_can_be_off() {
    let (Some(net), folder) = (Net::new(3), Folder::new()) else { return };
    net.cable(0, 1, "left");
    net.cable(0, 2, "right");
    let hub = folder.run(&net, 0, "hub", r#"["right"]"#);
    let (one, two, off) = (folder.run(&net, 1, "one", "true"), folder.run(&net, 2, "two", "true"), folder.run(&net, 2, "off", "false"));
    two.says("connected with 'hub'");
    off.says("listens at");
    assert!(!is_connected(&hub, "one") && !is_connected(&one, "hub") && !is_connected(&hub, "off"));
}

#[test]
fn garbage_on_the_group_harms_nobody() {
    let (Some(net), folder) = (Net::new(2), Folder::new()) else { return };
    net.cable(0, 1, "wifi");
    let drone = folder.run(&net, 0, "drone", "true");
    drone.says("listens at");
    let script = "import socket\ns = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)\nindex = socket.if_nametoindex('wifi')\n\
                  for d in (b'', b'SINEW', bytes(25), b'SINEW\\x01' + bytes(18), b'SINEW\\x01' + b'x' * 16 + b'\\x01\\x00\\x02', bytes(2000)):\n    s.sendto(d, ('ff02::5369:6e65', 7464, 0, index))\n";
    let sent = Command::new("ip").args(["netns", "exec", net.name(1), "python3", "-c", script]).status().expect("there is Python");
    assert!(sent.success());
    let base = folder.run(&net, 1, "base", "true");
    drone.says("connected with 'base'");
    base.says("connected with 'drone'");
}

/// Announces somebody who greets from there, by one datagram to this address and no group, and says whether anybody dials.
const STRANGER: &str = "import socket, sys\nto, link, id = sys.argv[1:]\ns = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)\ns.bind(('::', 0))\n\
                        d = b'SINEW\\x01' + bytes([255] * 15 + [int(id)]) + s.getsockname()[1].to_bytes(2, 'little') + b'\\0'\n\
                        s.sendto(d, (to, 7464, 0, socket.if_nametoindex(link) if link else 0))\ns.settimeout(3)\n\
                        try: s.recv(2000); print('dialed')\nexcept TimeoutError: print('left alone')\n";

#[test]
fn who_is_not_on_a_link_that_is_used_can_say_what_he_likes_and_is_not_dialed() {
    let (Some(net), folder) = (Net::new(3), Folder::new()) else { return };
    net.cable(0, 1, "left");
    net.cable(0, 2, "right");
    // As if a router brought it.
    net.ip(0, &["addr", "add", "fd00::1/64", "dev", "right", "nodad"]);
    net.ip(2, &["addr", "add", "fd00::2/64", "dev", "right", "nodad"]);
    let hub = folder.run(&net, 0, "hub", r#"["right"]"#);
    let base = folder.run(&net, 2, "base", "true");
    base.says("connected with 'hub'");
    hub.says("connected with 'base'");
    let said = |at: usize, to: &str, link: &str, id: &str| {
        let told = Command::new("ip").args(["netns", "exec", net.name(at), "python3", "-c", STRANGER, to, link, id]).output();
        let told = told.expect("there is Python");
        assert!(told.status.success(), "{}", String::from_utf8_lossy(&told.stderr));
        String::from_utf8_lossy(&told.stdout).trim().to_owned()
    };
    assert_eq!(said(1, "fe80::1", "left", "1"), "left alone");
    assert_eq!(said(2, "fd00::1", "", "2"), "left alone");
    assert_eq!(said(2, "fe80::1", "right", "3"), "dialed");
}
