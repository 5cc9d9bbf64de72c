//! `sinew foxglove`: the domain over Foxglove's protocol.

mod common;
#[path = "common/foxglove.rs"]
mod foxglove;
#[path = "common/terminal.rs"]
mod terminal;

use std::process::Command;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use common::{Domain, IMAGE, eventually};
use foxglove::{Client, NUMBER, Server, number, publisher, subscribers};
use serde_json::json;
use sinew::msg::schema;
use sinew::raw::{Provider, Publisher, Subscriber};
use sinew::{Node, Qos};
use terminal::Stopped;

fn image(stamp_ns: u64, size: usize) -> Vec<u8> {
    let data: Vec<u8> = (0..size).map(|n| (n * 31 % 251) as u8).collect();
    let frame_id = [&5_u32.to_le_bytes()[..], b"left\0", &[0; 3]].concat();
    let (width, size) = (640_u32.to_le_bytes(), (data.len() as u32).to_le_bytes());
    [&[0, 1, 0, 0][..], &stamp_ns.to_le_bytes(), &frame_id, &width, &size, &data].concat()
}

fn now_ns() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos() as u64
}

#[test]
fn topics_are_channels_with_the_schema_of_their_type() {
    let domain = Domain::new();
    let node = domain.node("robot");
    let _camera = publisher(&node, "camera/image", IMAGE);
    let _provider = Provider::new(&node, "add", NUMBER, NUMBER, &Default::default(), |_| {}).unwrap();
    let server = Server::start(&domain, "");
    let mut client = Client::connect(&server);
    assert_eq!(client.server["name"], "sinew");
    assert_eq!(client.server["capabilities"], json!(["parameters", "parametersSubscribe", "connectionGraph"]));

    let channel = client.channel("/camera/image");
    let schema = schema::of(&IMAGE.parse().unwrap());
    assert_eq!(channel["encoding"], "cdr");
    assert_eq!(channel["schemaName"], "robot/msg/Image");
    assert_eq!(channel["schemaEncoding"], "ros2msg");
    assert_eq!(channel["schema"], schema.text);
    assert_eq!(client.channels.len(), 1, "those of services are none");
}

#[test]
fn a_message_comes_as_it_was_published_while_somebody_looks_and_nobody_pays_before_and_after() {
    let domain = Domain::new();
    let node = domain.node("robot");
    let camera = publisher(&node, "camera/image", IMAGE);
    let server = Server::start(&domain, "");
    let mut client = Client::connect(&server);
    client.channel("/camera/image");
    assert_eq!(camera.statistics().subscribers, 0);
    client.subscribe("/camera/image", 7);
    subscribers(&camera, 1);
    for size in [5_500_000, 3] {
        let (sent, before) = (image(1, size), now_ns());
        camera.publish(&[&sent]).unwrap();
        let (subscription, time, stream) = client.message();
        assert_eq!(subscription, 7);
        assert!(stream == sent, "{} bytes of {}", stream.len(), sent.len());
        // The clock that tells the time of messages is read a little later than that of the first.
        let (early, late) = (before.saturating_sub(1_000_000), now_ns() + 1_000_000);
        assert!((early..late).contains(&time), "{early} {time} {late}");
    }
    client.unsubscribe(7);
    subscribers(&camera, 0);

    client.subscribe("/camera/image", 8);
    subscribers(&camera, 1);
    drop(client);
    subscribers(&camera, 0);
}

#[test]
fn a_message_without_bytes_has_the_one_that_its_schema_says() {
    let domain = Domain::new();
    let node = domain.node("robot");
    let go = publisher(&node, "go", "robot/Go{}");
    let server = Server::start(&domain, "");
    let mut client = Client::connect(&server);
    client.subscribe("/go", 1);
    subscribers(&go, 1);
    go.publish(&[&[0, 1, 0, 0]]).unwrap();
    assert_eq!(client.message().2, [0, 1, 0, 0, 0]);
}

#[test]
fn topics_come_and_go_with_the_domain() {
    let domain = Domain::new();
    let node = domain.node("robot");
    let server = Server::start(&domain, "--exclude **/raw");
    let mut client = Client::connect(&server);
    let many: Vec<Publisher> = (0..100).map(|n| publisher(&node, &format!("many/topic_{n}"), NUMBER)).collect();
    let _raw = publisher(&node, "camera/raw", NUMBER);
    let first = publisher(&node, "number", NUMBER);
    let channel = client.channel("/number");
    for n in 0..100 {
        client.channel(&format!("/many/topic_{n}"));
    }
    assert!(!client.channels.contains_key("/camera/raw"));
    client.subscribe("/number", 1);
    subscribers(&first, 1);
    drop((first, many));
    client.gone("/number");
    for n in 0..100 {
        client.gone(&format!("/many/topic_{n}"));
    }
    let again = publisher(&node, "number", IMAGE);
    let other = client.channel("/number");
    assert_ne!(other["id"], channel["id"]);
    assert_eq!(other["schemaName"], "robot/msg/Image");
    assert_eq!(again.statistics().subscribers, 0, "the subscription was to the other one");
}

/// What the only subscriber of the domain has received, and what it did not want.
fn received_and_skipped(node: &Node) -> (u64, u64) {
    let counts = node.domain_counters().unwrap().read().unwrap();
    counts.pairs.first().map_or((0, 0), |pair| (pair.messages, pair.skipped))
}

#[test]
fn a_parameter_says_how_many_messages_of_a_topic_are_sent() {
    let domain = Domain::new();
    let node = domain.node("robot");
    let numbers = publisher(&node, "number", NUMBER);
    let _others = publisher(&node, "other", NUMBER);
    let server = Server::start(&domain, "--max-rate 0.001");
    let (mut client, mut watching) = (Client::connect(&server), Client::connect(&server));
    client.channel("/other");
    watching.send(json!({"op": "subscribeParameterUpdates", "parameterNames": ["/number.max_rate"]}));
    watching.send(json!({"op": "getParameters", "parameterNames": [], "id": "all"}));
    let told = watching.json("parameterValues");
    let all = json!([
        {"name": "/number.max_rate", "type": "float64", "value": 0.001},
        {"name": "/other.max_rate", "type": "float64", "value": 0.001}
    ]);
    assert_eq!((&told["id"], &told["parameters"]), (&json!("all"), &all));

    client.subscribe("/number", 1);
    subscribers(&numbers, 1);
    for n in 0..5 {
        numbers.publish(&[&number(n)]).unwrap();
    }
    assert_eq!(client.message().2, number(0));
    assert!(eventually(|| received_and_skipped(&node) == (1, 4)), "{:?}", received_and_skipped(&node));

    client.send(json!({"op": "setParameters", "parameters": [{"name": "/number.max_rate", "value": 0}], "id": "set"}));
    let set = json!([{"name": "/number.max_rate", "type": "float64", "value": 0.0}]);
    let told = client.json("parameterValues");
    assert_eq!((&told["id"], &told["parameters"]), (&json!("set"), &set));
    assert_eq!(watching.json("parameterValues")["parameters"], set);
    assert!(eventually(|| {
        numbers.publish(&[&number(7)]).unwrap();
        received_and_skipped(&node).0 > 5
    }));
    assert_eq!(received_and_skipped(&node).1, 0);

    client.send(json!({"op": "setParameters", "parameters": [{"name": "/number.max_rate", "value": "fast"}], "id": "bad"}));
    assert!(client.json("status")["message"].as_str().unwrap().contains("a number, 0 for all"));
    assert_eq!(client.json("parameterValues")["parameters"], set);
}

#[test]
fn each_client_gets_what_was_kept_for_those_that_come_late() {
    let domain = Domain::new();
    let node = domain.node("robot");
    let qos = Qos { transient_local: true, ..Qos::keep_last(1) };
    let map = Publisher::new(&node, "map", NUMBER, &qos, Default::default()).unwrap();
    map.publish(&[&number(5)]).unwrap();
    let server = Server::start(&domain, "");
    let (mut one, mut other) = (Client::connect(&server), Client::connect(&server));
    one.subscribe("/map", 1);
    assert_eq!(one.message().2, number(5));
    other.subscribe("/map", 2);
    assert_eq!(other.message().2, number(5));
}

#[test]
fn a_client_that_does_not_read_loses_messages_and_nobody_else_does() {
    const SIZE: usize = 1 << 20;
    const MESSAGES: u64 = 250;
    let domain = Domain::new();
    let node = domain.node("robot");
    let camera = publisher(&node, "camera/image", IMAGE);
    let mut server = Server::start(&domain, "");
    let (mut slow, mut fast) = (Client::connect(&server), Client::connect(&server));
    slow.subscribe("/camera/image", 1);
    fast.subscribe("/camera/image", 1);
    subscribers(&camera, 1);
    let begin = server.memory("VmRSS");
    for stamp in 0..MESSAGES {
        let sent = image(stamp, SIZE);
        camera.publish(&[&sent]).unwrap();
        while fast.message().2 != sent {}
    }
    let grown = server.memory("VmHWM") - begin;
    assert!(grown < 120 << 10, "{grown} kB for {MESSAGES} messages of 1024 kB");
    let told = camera.statistics();
    assert_eq!((told.refused, told.withdrawn), (0, 0));

    assert!(server.line().contains("a client reads slower than messages come, and loses the oldest"));
    // What it missed was pushed out by what is newer.
    let newest = image(MESSAGES - 1, SIZE);
    let mut came = 0;
    while slow.message().2 != newest {
        came += 1;
    }
    assert!(came < MESSAGES / 2, "{came}");
}

#[test]
fn a_message_that_no_client_has_use_for_is_left_out_and_said() {
    let domain = Domain::new();
    let node = domain.node("robot");
    let camera = publisher(&node, "camera/image", IMAGE);
    let mut server = Server::start(&domain, "");
    let mut client = Client::connect(&server);
    client.subscribe("/camera/image", 1);
    subscribers(&camera, 1);
    camera.publish(&[&image(1, 65 << 20)]).unwrap();
    camera.publish(&[&image(2, 1)]).unwrap();
    assert_eq!(client.message().2, image(2, 1));
    assert!(server.line().contains("messages of /camera/image are left out that have more than 67108864 bytes"));
}

/// Carriers are the ends of gateways in the domain.
#[test]
fn clients_see_who_publishes_subscribes_and_provides() {
    let domain = Domain::new();
    let (robot, viewer) = (domain.node("robot"), domain.node("viewer"));
    let numbers = publisher(&robot, "number", NUMBER);
    let looks = Subscriber::new(&viewer, "number", NUMBER, &Qos::default(), Default::default()).unwrap();
    let _provider = Provider::new(&robot, "add", NUMBER, NUMBER, &Default::default(), |_| {}).unwrap();
    let server = Server::start(&domain, "");
    let mut client = Client::connect(&server);
    client.subscribe("/number", 1);
    subscribers(&numbers, 2);
    client.send(json!({"op": "subscribeConnectionGraph"}));
    let told = client.json("connectionGraphUpdate");
    assert_eq!(told["publishedTopics"], json!([{"name": "/number", "publisherIds": ["robot"]}]));
    assert_eq!(told["subscribedTopics"], json!([{"name": "/number", "subscriberIds": ["viewer"]}]), "who looks at the domain is left out");
    assert_eq!(told["advertisedServices"], json!([{"name": "/add", "providerIds": ["robot"]}]));
    // That the gateway itself subscribes more or less is no news.
    for id in 2..8 {
        client.unsubscribe(id - 1);
        subscribers(&numbers, 1);
        client.subscribe("/number", id);
        subscribers(&numbers, 2);
    }
    drop(looks);
    let told = client.json("connectionGraphUpdate");
    assert_eq!(told["subscribedTopics"], json!([{"name": "/number", "subscriberIds": []}]));
}

#[test]
fn a_port_that_is_taken_is_said_with_what_to_do() {
    let domain = Domain::new();
    let server = Server::start(&domain, "");
    let (status, text) = domain.complaint(&format!("foxglove --port {}", server.port));
    assert_eq!(status, 1);
    assert!(text.contains(&format!("somebody listens at 127.0.0.1:{} already", server.port)) && text.contains("--port 0"), "{text}");
    let (status, text) = domain.complaint("foxglove --address 192.0.2.1");
    assert_eq!(status, 1);
    assert!(text.contains("192.0.2.1 is no address of this machine"), "{text}");
    assert_eq!(domain.complaint("foxglove --max-rate -- -1").0, 2);
    assert_eq!(domain.complaint("foxglove --max-rate=nan").0, 2);
}

#[test]
fn an_interrupt_ends_it_and_says_goodbye_also_where_a_client_does_not_read() {
    let domain = Domain::new();
    let node = domain.node("robot");
    let camera = publisher(&node, "camera/image", IMAGE);
    let mut server = Server::start(&domain, "");
    let (mut client, mut stuck) = (Client::connect(&server), Client::connect(&server));
    stuck.subscribe("/camera/image", 1);
    subscribers(&camera, 1);
    for stamp in 0..40 {
        camera.publish(&[&image(stamp, 1 << 20)]).unwrap();
        assert!(eventually(|| received_and_skipped(&node).0 > stamp));
    }
    assert!(Command::new("kill").args(["-INT", &server.child.id().to_string()]).status().unwrap().success());
    while client.next().is_some() {}
    assert_eq!(server.child.wait().unwrap().code(), Some(0));
    subscribers(&camera, 0);
}

#[test]
fn what_is_no_websocket_is_sent_away_and_the_next_is_served() {
    use std::io::{Read, Write};
    let domain = Domain::new();
    let server = Server::start(&domain, "");
    for nonsense in [
        "GET / HTTP/1.1\r\n\r\n",
        "\0\0\0\0",
        "GET / HTTP/1.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n",
    ] {
        let mut stream = std::net::TcpStream::connect(("127.0.0.1", server.port)).unwrap();
        stream.write_all(nonsense.as_bytes()).unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        assert!(!answer.starts_with(b"HTTP/1.1 101"));
    }
    let mut client = Client::connect(&server);
    client.send(json!({"op": "subscribe", "subscriptions": [{"id": 1, "channelId": 999}]}));
    assert_eq!(client.json("status")["level"], 2);
    client.send_binary(&[&[200, 1, 2]]);
    assert_eq!(client.json("status")["level"], 2);
}

#[test]
fn more_connections_than_it_may_have_do_not_keep_others_away_for_good() {
    let domain = Domain::new();
    let mut server = Server::start_with(&domain, "", 40);
    let kept: Vec<_> = (0..60).map(|_| std::net::TcpStream::connect(("127.0.0.1", server.port))).collect();
    assert!(server.line().contains("no more clients could come"));
    drop(kept);
    assert!(server.line().contains("the domain is served"));
    Client::connect(&server);
    assert_eq!(server.child.try_wait().unwrap(), None);
}

/// Where a process listens.
fn port_of(pid: u32) -> Option<u16> {
    let files = std::fs::read_dir(format!("/proc/{pid}/fd")).unwrap();
    let links: Vec<_> = files.flatten().filter_map(|file| file.path().read_link().ok()?.into_os_string().into_string().ok()).collect();
    let sockets = std::fs::read_to_string(format!("/proc/{pid}/net/tcp")).unwrap();
    sockets.lines().find_map(|line| {
        let columns: Vec<&str> = line.split_whitespace().collect();
        let is_it = columns[3] == "0A" && links.contains(&format!("socket:[{}]", columns[9]));
        is_it.then(|| u16::from_str_radix(columns[1].split_once(':')?.1, 16).ok())?
    })
}

/// A server at a terminal that does not show where it listens.
fn server_at(terminal: &Stopped, domain: &Domain) -> Server {
    let mut server = Server::start(domain, "");
    let mut command = domain.command("foxglove --port 0");
    let other = command.stdout(terminal.theirs()).stderr(terminal.theirs()).spawn().unwrap();
    let mut before = std::mem::replace(&mut server.child, other);
    before.kill().unwrap();
    before.wait().unwrap();
    assert!(eventually(|| port_of(server.child.id()).inspect(|port| server.port = *port).is_some()));
    server
}

#[test]
fn a_terminal_that_takes_nothing_holds_up_neither_clients_nor_the_end() {
    let (domain, terminal) = (Domain::new(), Stopped::new());
    let node = domain.node("robot");
    let camera = publisher(&node, "camera/image", IMAGE);
    let mut server = server_at(&terminal, &domain);
    let mut client = Client::connect(&server);
    client.subscribe("/camera/image", 1);
    subscribers(&camera, 1);
    // Of which it tells.
    camera.publish(&[&image(1, 65 << 20)]).unwrap();
    // As long as it takes to tell how things stand, once a second.
    std::thread::sleep(Duration::from_millis(1500));
    let later = publisher(&node, "later", NUMBER);
    client.subscribe("/later", 2);
    subscribers(&later, 1);
    later.publish(&[&number(3)]).unwrap();
    assert_eq!(client.message().2, number(3));
    assert!(Command::new("kill").arg(server.child.id().to_string()).status().unwrap().success());
    assert!(eventually(|| server.child.try_wait().unwrap().is_some()), "it waits for the terminal");
    assert_eq!(server.child.wait().unwrap().code(), Some(0));
}
