//! The command, as somebody calls it, on a domain with nodes of this test.

mod common;

use std::io::{BufRead, BufReader, Read};
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::time::Duration;

use common::{Domain, IMAGE, Running, eventually};
use sinew::raw::{Client, Provider, Publisher, Subscriber};
use sinew::{GatewayChannel, GatewayPeer, GatewayStatus, Node, Qos};

const NUMBER: &str = "test/Number{value:uint64;}";
const ONE: [u8; 12] = [0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0];

/// A camera, of which a viewer holds three images.
struct Scene {
    domain: Domain,
    camera: Publisher,
    viewer: Subscriber,
    _nodes: [Node; 2],
}

impl Scene {
    fn new() -> Scene {
        let domain = Domain::new();
        let nodes = [domain.node("camera"), domain.node("viewer")];
        let camera = Publisher::new(&nodes[0], "camera/image", IMAGE, &Qos::keep_last(3), Default::default()).unwrap();
        let viewer = Subscriber::new(&nodes[1], "camera/image", IMAGE, &Qos::default(), Default::default()).unwrap();
        assert!(eventually(|| camera.statistics().subscribers == 1));
        Scene { domain, camera, viewer, _nodes: nodes }
    }
}

#[test]
fn topics_are_listed_with_their_types_and_ends() {
    let scene = Scene::new();
    assert_eq!(scene.domain.text("topic list"), "camera/image\n");
    let table = "topic         type         publishers  subscribers\ncamera/image  robot/Image           1            1\n";
    assert_eq!(scene.domain.text("topic list --verbose"), table);
    let listed = serde_json::json!([{"name": "camera/image", "type": "robot/Image", "publishers": 1, "subscribers": 1}]);
    assert_eq!(scene.domain.json("topic list"), listed);
    assert_eq!(scene.domain.text("topic find robot/Image"), "camera/image\n");
    assert_eq!(scene.domain.text("topic find Image"), "camera/image\n");
}

#[test]
fn the_environment_names_the_nodes_of_verbs_that_take_part_and_of_none_that_looks_on() {
    let scene = Scene::new();
    let renamed = |arguments: &str| scene.domain.command(arguments).env("SINEW_NODE", "camera").output().unwrap();
    let listed = renamed("node list");
    assert_eq!((listed.status.code(), listed.stdout), (Some(0), b"camera\nviewer\n".to_vec()));
    for verb in ["hz", "bw", "delay"] {
        let measured = renamed(&format!("topic {verb} --count 1 --interval 50ms camera/image"));
        assert_eq!(measured.status.code(), Some(0), "{verb}: {}", String::from_utf8_lossy(&measured.stderr));
    }
    let refused = renamed("topic echo --once camera/image");
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(refused.status.code() == Some(1) && said.contains("node name 'camera' is taken"), "{said}");
}

#[test]
fn a_domain_of_nobody_has_nothing() {
    let domain = Domain::new();
    assert_eq!(domain.text("topic list"), "");
    assert_eq!(domain.text("node list"), "", "who asks is not there");
    assert_eq!(domain.json("service list"), serde_json::json!([]));
}

#[test]
fn what_is_mistyped_gets_the_nearest_name_and_a_status_of_its_own() {
    let scene = Scene::new();
    let (status, text) = scene.domain.complaint("topic info camera/imgae");
    assert_eq!((status, text.as_str()), (3, "error: there is no topic 'camera/imgae': did you mean 'camera/image'?\n"));
    assert!(scene.domain.complaint("node info camra").1.contains("did you mean 'camera'?"));
    assert!(scene.domain.complaint("type show robot/Imag").1.contains("did you mean 'robot/Image'?"));
    assert!(scene.domain.complaint("topic find robot/Imag").1.contains("did you mean 'robot/Image'?"));
    assert!(scene.domain.complaint("topic hz camera/imag").1.contains("did you mean 'camera/image'?"));
    assert_eq!(
        scene.domain.complaint("service info add"),
        (3, "error: there is no service 'add': there is no service at all\n".to_owned())
    );
    assert_eq!(scene.domain.complaint("topic lst").0, 2);
    for watched in ["topic hz --interval 1ms", "topic delay --interval 9ms", "graph --interval 0", "top --json --interval 1us"] {
        let (status, text) = scene.domain.complaint(watched);
        assert!(status == 2 && text.contains("an interval has 10ms at least"), "{watched}: {status}: {text}");
    }
}

#[test]
fn a_topic_is_shown_with_the_quality_of_service_of_its_ends() {
    let scene = Scene::new();
    let text = scene.domain.text("topic info /camera/image");
    assert!(text.contains("robot/Image") && text.contains("camera  keep last 3") && text.contains("viewer  keep last 8"), "{text}");
    let told = scene.domain.json("topic info camera/image");
    assert_eq!(told["signature"], IMAGE);
    assert_eq!(told["publishers"][0]["qos"]["depth"], 3);
    assert_eq!(told["hash"].as_str().map(str::len), Some(32));
}

#[test]
fn nodes_are_shown_with_process_topics_and_services() {
    let scene = Scene::new();
    let asks = scene.domain.node("asks");
    let _provider = Provider::new(&scene._nodes[0], "add", NUMBER, NUMBER, &Default::default(), drop).unwrap();
    let _client = Client::new(&asks, "add", NUMBER, NUMBER, &Default::default()).unwrap();
    assert_eq!(scene.domain.text("node list"), "asks\ncamera\nviewer\n");
    let camera = scene.domain.json("node info camera");
    assert_eq!(camera["pid"], std::process::id());
    assert_eq!(camera["publishes"], serde_json::json!([{"name": "camera/image", "type": "robot/Image"}]));
    assert_eq!((&camera["subscribes"], &camera["provides"]), (&serde_json::json!([]), &serde_json::json!(["add"])));
    assert_eq!(scene.domain.json("node info asks")["calls"], serde_json::json!(["add"]));
    let text = scene.domain.text("node info camera");
    assert!(text.contains("camera/image  robot/Image") && text.contains("provides\nadd"), "{text}");
    assert_eq!(scene.domain.text("topic list"), "camera/image\n", "halves of services are none");
    assert_eq!(scene.domain.text("service list"), "add\n");
    let service = scene.domain.json("service info add");
    assert_eq!((&service["providers"], &service["clients"]), (&serde_json::json!(["camera"]), &serde_json::json!(["asks"])));
    assert_eq!(service["request"], "test/Number");
}

#[test]
fn types_are_shown_and_compared() {
    let scene = Scene::new();
    let shown = "robot/Image\n  header robot/Header\n    stamp_ns uint64\n    frame_id string\n  width uint32\n  data uint8[]\n";
    assert_eq!(scene.domain.text("type show robot/Image"), shown);
    assert_eq!(scene.domain.text("type show camera/image"), shown);
    assert_eq!(scene.domain.text("type show --signature robot/Image").trim_end(), IMAGE);
    assert_eq!(scene.domain.run("type diff camera/image robot/Image").status.code(), Some(0));
    for arguments in ["type diff camera/image robot/Image{width:uint32;}", "type diff --json camera/image robot/Image{width:uint32;}"] {
        let (nobody_reads, closed) = std::io::pipe().unwrap();
        drop(nobody_reads);
        assert_eq!(scene.domain.command(arguments).stdout(closed).status().unwrap().code(), Some(3), "{arguments}");
    }
    let output = scene.domain.run("type diff camera/image robot/Image{width:uint32;}");
    assert_eq!(output.status.code(), Some(3));
    assert!(String::from_utf8_lossy(&output.stdout).contains("field 'header'"));
}

#[test]
fn types_of_ros_2_are_known_by_their_names() {
    let domain = Domain::new();
    let shown = "geometry_msgs/msg/Vector3\n  x float64\n  y float64\n  z float64\n";
    assert_eq!(domain.text("type show geometry_msgs/msg/Vector3"), shown);
    let (status, text) = domain.complaint("type show geometry_msgs/msg/Vector");
    assert_eq!(status, 3);
    assert!(text.contains("'geometry_msgs/msg/Vector', or carries that type, and there is no definition of that name"), "{text}");
}

#[test]
fn rates_come_from_counters_and_nobody_subscribes() {
    let scene = Scene::new();
    let mut hz = scene.domain.command("topic hz camera/image --json --interval 200ms").stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(hz.stdout.take().unwrap()).lines();
    let image = [&[0, 1, 0, 0][..], &[0; 8], &[1, 0, 0, 0, 0, 0, 0, 0], &[5, 0, 0, 0], &1000_u32.to_le_bytes(), &[7; 1000]].concat();
    let flow = (0..100).find_map(|_| {
        scene.camera.publish(&[&image]).unwrap();
        drop(scene.viewer.take(Duration::from_secs(1)));
        std::thread::sleep(Duration::from_millis(10));
        if scene.camera.statistics().published < 40 {
            return None;
        }
        let flow: serde_json::Value = serde_json::from_str(&lines.next()?.ok()?).ok()?;
        flow["hz"].as_f64().filter(|hz| *hz > 1.0).map(|_| flow)
    });
    hz.kill().unwrap();
    hz.wait().unwrap();
    let flow = flow.expect("messages are counted");
    assert!(flow["mean_bytes"].as_f64().unwrap() >= image.len() as f64, "{flow}");
    assert_eq!(scene.camera.statistics().subscribers, 1);
    let delays = scene.domain.json("topic delay camera/image --count 1 --interval 10ms");
    assert_eq!((&delays["publisher"], &delays["subscriber"]), (&"camera".into(), &"viewer".into()));
}

#[test]
fn jitter_is_how_far_messages_are_apart_and_only_who_asks_for_it_subscribes() {
    let scene = Scene::new();
    let _silent = Publisher::new(&scene._nodes[0], "silent", NUMBER, &Qos::default(), Default::default()).unwrap();
    let (camera, is_over) = (&scene.camera, AtomicBool::new(false));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            // 5 ms and 40 ms by turns, or more where the machine has more to do.
            for pause in [5, 40].into_iter().cycle().take_while(|_| !is_over.load(Ordering::Relaxed)) {
                camera.publish(&[&[0, 1, 0, 0]]).unwrap();
                std::thread::sleep(Duration::from_millis(pause));
            }
        });
        // In half a second somebody who waits for a processor may not publish, or hear nothing: then it is asked again.
        let (mut told, mut text, mut table) = (serde_json::Value::Null, String::new(), String::new());
        let is_told = eventually(|| {
            told = scene.domain.json("topic hz --jitter --count 1 --interval 500ms camera/image");
            told["period"]["stddev_ns"].as_f64() > Some(1e6)
        });
        let is_said = eventually(|| {
            text = scene.domain.text("topic hz -j --count 1 --interval 500ms /camera/image");
            text.contains(" ms apart, std dev ")
        });
        let is_listed = eventually(|| {
            table = scene.domain.text("topic hz --jitter --count 1 --interval 500ms camera/image silent");
            table.lines().any(|line| line.starts_with("camera/image") && line.trim_end().ends_with(" ms"))
        });
        let plain = scene.domain.json("topic hz --count 1 --interval 100ms camera/image");
        is_over.store(true, Ordering::Relaxed);
        assert!(is_told && is_said && is_listed, "{told}\n{text}\n{table}");
        let period = |name: &str| told["period"][name].as_f64().unwrap();
        assert!(period("min_ns") >= 5e6 && period("max_ns") >= 40e6 && period("stddev_ns") > 0.0, "{told}");
        assert!(period("min_ns") < period("mean_ns") && period("mean_ns") < period("max_ns"), "{told}");
        assert!(text.contains(" ms apart, std dev ") && plain.get("period").is_none(), "{text} {plain}");
        let rows: Vec<Vec<&str>> = table.lines().map(|line| line.split_whitespace().collect()).collect();
        assert!(table.lines().next().unwrap().ends_with("publishers  shortest  longest  std dev"), "{table}");
        assert!(rows[1][0] == "camera/image" && rows[1].last() == Some(&"ms"), "{table}");
        assert!(rows[2][0] == "silent" && rows[2].ends_with(&["-", "-", "-"]), "{table}");
    });
    assert_eq!(camera.statistics().subscribers, 1, "the viewer");
    assert_eq!(scene.domain.complaint("topic hz --jitter").0, 2, "which topics?");
}

#[test]
fn top_tells_programs_what_it_shows_a_line_for_each_interval() {
    let scene = Scene::new();
    let number = Publisher::new(&scene._nodes[0], "number", NUMBER, &Qos::default(), Default::default()).unwrap();
    let mut top = Running::new(&mut scene.domain.command("top --json --interval 100ms --sort rate --filter er"));
    let mut lines = BufReader::new(top.0.stdout.take().unwrap()).lines();
    let told = std::iter::from_fn(|| {
        number.publish(&[&ONE]).unwrap();
        scene.camera.publish(&[&[0, 1, 0, 0]]).unwrap();
        let line = lines.next().unwrap().unwrap();
        Some(serde_json::from_str::<serde_json::Value>(&line).unwrap())
    });
    let told = told.take(300).find(|told| told["topics"].as_array().unwrap().iter().all(|topic| topic["hz"].as_f64() > Some(1.0)));
    let told = told.expect("both flow");
    assert_eq!((&told["nodes"], &told["gateways"]), (&2.into(), &serde_json::json!([])));
    let topics = told["topics"].as_array().unwrap();
    let of = |name: &str| topics.iter().find(|topic| topic["topic"] == name).unwrap();
    let (image, number) = (of("camera/image"), of("number"));
    assert_eq!((topics.len(), &image["type"], &number["type"]), (2, &"robot/Image".into(), &"test/Number".into()));
    assert_eq!((&image["publishers"], &image["subscribers"], &number["subscribers"]), (&1.into(), &1.into(), &0.into()));
    assert!(image["held"].is_u64() && image["lost_ever"].is_u64() && image["p99_ns"].is_null(), "the viewer has taken none: {image}");
    assert!(topics[0]["hz"].as_f64() >= topics[1]["hz"].as_f64(), "most first: {told}");
    let total = topics.iter().map(|topic| topic["bytes_per_second"].as_f64().unwrap()).sum::<f64>();
    assert_eq!(told["bytes_per_second"].as_f64(), Some(total));
}

#[test]
fn a_topic_is_explained_pair_by_pair() {
    let scene = Scene::new();
    for _ in 0..3 {
        scene.camera.publish(&[&ONE]).unwrap();
    }
    let held: Vec<_> = (0..3).map(|_| scene.viewer.take(Duration::from_secs(30)).unwrap().unwrap()).collect();
    let told = scene.domain.json("explain camera/image");
    assert_eq!(told["publishers"][0]["published"], 3);
    let pair = &told["pairs"][0];
    assert_eq!((&pair["received"], &pair["held"], &pair["delivery"]), (&3.into(), &3.into(), &"view".into()));
    assert!(!pair["why"].as_str().unwrap().is_empty());
    let text = scene.domain.text("explain camera/image");
    assert!(text.contains("camera -> viewer: view") && text.contains("holds 3"), "{text}");
    drop(held);
}

#[test]
fn a_watch_tells_of_what_comes_and_goes() {
    let scene = Scene::new();
    let mut watch = scene.domain.command("domain watch --all").stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(watch.stdout.take().unwrap()).lines().map_while(Result::ok);
    let mut seek = |wanted: &str| assert!(lines.any(|line| line == wanted), "{wanted}");
    seek("+ subscriber camera/image of viewer");
    let node = scene.domain.node("late");
    seek("+ node late");
    drop(node);
    seek("- node late");
    watch.kill().unwrap();
    watch.wait().unwrap();
}

#[test]
fn a_node_whose_connection_is_killed_registers_again_and_its_messages_go_on() {
    let scene = Scene::new();
    let id_of_camera = |scene: &Scene| {
        let state = scene.domain.json("domain state");
        state["nodes"].as_array().unwrap().iter().find(|node| node["name"] == "camera").unwrap()["id"].as_u64()
    };
    let before = id_of_camera(&scene);
    assert_eq!(scene.domain.text("node kill-connection camera"), "camera has registered again\n");
    assert_ne!(id_of_camera(&scene), before);
    scene.camera.publish(&[&ONE]).unwrap();
    assert!(scene.viewer.take(Duration::from_secs(30)).unwrap().is_some());
    assert_eq!(scene.domain.complaint("node kill-connection camra").1, "error: there is no node 'camra': did you mean 'camera'?\n");
}

#[test]
fn the_state_is_everything() {
    let scene = Scene::new();
    let state = scene.domain.json("domain state");
    assert_eq!(state["endpoints"].as_array().map(Vec::len), Some(2));
    assert_eq!(state["topics"][0]["signature"], IMAGE);
    assert_eq!(state["pairs"][0]["delivery"], "view");
    let text = scene.domain.text("domain state");
    assert!(text.contains("published by camera") && text.contains("camera -> viewer: view"), "{text}");
}

#[test]
fn output_is_in_colour_only_where_it_is_asked_for_or_on_a_terminal() {
    let scene = Scene::new();
    assert!(!scene.domain.text("topic list --verbose").contains('\u{1b}'));
    assert!(scene.domain.text("topic list --verbose --color always").contains('\u{1b}'));
}

#[test]
fn who_reads_the_output_may_stop_reading() {
    let scene = Scene::new();
    let mut hz = scene.domain.command("topic hz --interval 10ms").stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut output = BufReader::new(hz.stdout.take().unwrap());
    output.read_line(&mut String::new()).unwrap();
    drop(output);
    let mut said = String::new();
    hz.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!((hz.wait().unwrap().code(), said.as_str()), (Some(0), ""));
}

#[test]
fn shells_get_completions() {
    let domain = Domain::new();
    for (shell, text) in [("bash", "sinew complete"), ("zsh", "sinew complete"), ("fish", "sinew complete"), ("elvish", "explain")] {
        assert!(domain.text(&format!("completions {shell}")).contains(text), "{shell}");
    }
}

#[test]
fn gateways_are_shown_with_their_links_and_what_goes_over_them() {
    let domain = Domain::new();
    assert_eq!(
        domain.complaint("gateway status"),
        (3, "error: there is no gateway in this domain: `sinew-gateway run FILE` is one\n".to_owned())
    );
    let node = domain.node("gateway_1234");
    let gateway = sinew::Publisher::<GatewayStatus>::new(&node, GatewayStatus::TOPIC, &GatewayStatus::qos()).unwrap();
    let open = GatewayChannel {
        name: "camera/image".to_owned(),
        kind: "topic".to_owned(),
        outgoing: true,
        state: "open".to_owned(),
        messages: 1234,
        lost: 533,
        messages_per_s: 5.9,
        bytes_per_s: 5.9e6,
        ..GatewayChannel::default()
    };
    let refused = GatewayChannel {
        name: "scan".to_owned(),
        kind: "topic".to_owned(),
        state: "refused".to_owned(),
        why: "it is another type".to_owned(),
        ..GatewayChannel::default()
    };
    let base = GatewayPeer {
        name: "base".to_owned(),
        tag: "pit".to_owned(),
        connected: true,
        address: "10.0.0.2:7463".to_owned(),
        round_trip_ns: 12_300_000,
        sent_bytes_per_s: 6.2e6,
        loss: 0.05,
        channels: vec![open, refused],
        ..GatewayPeer::default()
    };
    let away = GatewayPeer { name: "spare".to_owned(), ..GatewayPeer::default() };
    let status = GatewayStatus {
        name: "drone".to_owned(),
        node: "gateway_1234".to_owned(),
        address: "[::]:7463".to_owned(),
        peers: vec![base, away],
    };
    gateway.publish(&status).unwrap();
    let shown = "\
gateway drone listens at [::]:7463, as node gateway_1234

peer            address        round trip        out     in    loss
base (tag pit)  10.0.0.2:7463     12.3 ms  6.20 MB/s  0 B/s  5.00 %
spare           not connected           -          -      -       -

channel       kind   way  peer    rate  bandwidth  messages  lost  state
camera/image  topic  out  base  5.90/s  5.90 MB/s      1234   533  open
scan          topic  in   base       -          -         0     0  refused: it is another type
";
    assert_eq!(domain.text("gateway status"), shown);
    let told = domain.json("gateway status");
    assert_eq!(
        (&told[0]["name"], &told[0]["peers"][0]["channels"][1]["why"]),
        (&serde_json::json!("drone"), &serde_json::json!("it is another type"))
    );
    assert!(told[0]["age_ns"].is_u64(), "{told}");
    // One that cannot tell what its peers have, as in a Zenoh network, is not asked.
    let (tell, told) = channel();
    let _watch = node.watch_domain(move |update| update.topics.into_iter().for_each(|topic| _ = tell.send(topic.name))).unwrap();
    assert_eq!(domain.text("topic list"), "gateway/status\n");
    let _mark = Publisher::new(&node, "mark", NUMBER, &Qos::default(), Default::default()).unwrap();
    let seen: Vec<String> = told.iter().take_while(|topic| topic != "mark").collect();
    assert_eq!(seen, ["gateway/status"]);
}

#[test]
fn a_gateway_that_tells_nothing_is_named_with_its_process() {
    let domain = Domain::new();
    let node = domain.node("gateway_1234");
    let _silent = sinew::Publisher::<GatewayStatus>::new(&node, GatewayStatus::TOPIC, &GatewayStatus::qos()).unwrap();
    let why = format!("error: no word from the gateway of process {} (node gateway_1234): it is stopped, or hangs\n", std::process::id());
    assert_eq!(domain.complaint("gateway status"), (1, why));
}
