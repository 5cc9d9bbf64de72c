//! `sinew graph`, on domains with nodes of this test.

mod common;

use common::{Domain, IMAGE, eventually};
use sinew::raw::{Client, Provider, Publisher, Subscriber};
use sinew::{Node, Qos};

const NUMBER: &str = "test/Number{value:uint64;}";

/// A camera, whose images a viewer gets, and a logger, which asks for more than the camera offers, does not.
struct Scene {
    domain: Domain,
    camera: Publisher,
    _ends: (Subscriber, Subscriber, Provider, Client),
    _nodes: [Node; 3],
}

impl Scene {
    fn new() -> Scene {
        let domain = Domain::new();
        let nodes = ["camera", "viewer", "logger"].map(|name| domain.node(name));
        let camera = Publisher::new(&nodes[0], "camera/image", IMAGE, &Qos::default(), Default::default()).unwrap();
        let viewer = Subscriber::new(&nodes[1], "camera/image", IMAGE, &Qos::default(), Default::default()).unwrap();
        let asks = Qos { reliable: true, ..Qos::default() };
        let logger = Subscriber::new(&nodes[2], "camera/image", IMAGE, &asks, Default::default()).unwrap();
        let provider = Provider::new(&nodes[0], "exposure", NUMBER, NUMBER, &Default::default(), drop).unwrap();
        let client = Client::new(&nodes[1], "exposure", NUMBER, NUMBER, &Default::default()).unwrap();
        assert!(eventually(|| camera.statistics().subscribers == 1));
        Scene { domain, camera, _ends: (viewer, logger, provider, client), _nodes: nodes }
    }
}

const REASON: &str = "reliability: the publisher offers best_effort, the subscriber asks for reliable";

#[test]
fn it_is_drawn_on_a_terminal_as_trees_of_who_publishes_what_to_whom() {
    let scene = Scene::new();
    let drawn = scene.domain.text("graph --interval 10ms");
    let expected = format!(
        "camera
└─ camera/image     silent
   ├─× logger    not connected: {REASON}
   └─→ viewer    view

only receive: logger, viewer
"
    );
    assert_eq!(drawn, expected);
    assert!(scene.domain.text("graph --interval 10ms --services").contains("└─ exposure         silent  service\n   └─→ camera"));
}

#[test]
fn it_is_written_as_a_picture_that_says_why_a_pair_is_not_connected() {
    let scene = Scene::new();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("graph.svg");
    assert_eq!(scene.domain.text(&format!("graph --interval 10ms -o {}", file.display())), "");
    let written = std::fs::read_to_string(&file).unwrap();
    let parsed = roxmltree::Document::parse(&written).unwrap();
    let titles: Vec<&str> = parsed
        .descendants()
        .filter(|node| node.has_tag_name(("http://www.w3.org/2000/svg", "title")))
        .filter_map(|node| node.text())
        .collect();
    assert!(titles.iter().any(|title| *title == format!("camera/image to logger\nfrom camera: not connected\n{REASON}")), "{titles:?}");
    let texts: Vec<&str> = parsed.descendants().filter(|node| node.tag_name().name() == "text").filter_map(|node| node.text()).collect();
    assert!(["camera", "viewer", "logger", "camera/image"].iter().all(|name| texts.contains(name)), "{texts:?}");
    assert!(!written.contains("exposure"));
    assert!(scene.domain.text("graph --interval 10ms --svg --services").contains("exposure"));
}

#[test]
fn it_is_described_for_graphviz_and_nothing_else_by_the_name_of_the_file() {
    let scene = Scene::new();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("graph.dot");
    scene.domain.text(&format!("graph --interval 10ms --output {}", file.display()));
    assert!(std::fs::read_to_string(&file).unwrap().starts_with("digraph sinew {"));
    let (status, said) = scene.domain.complaint("graph -o graph.png");
    assert!(status == 2 && said.contains(".svg") && said.contains(".dot"), "{status}: {said}");
    let (status, said) = scene.domain.complaint(&format!("graph --interval 10ms -o {}/none/graph.svg", folder.path().display()));
    assert!(status == 1 && said.contains("none/graph.svg' cannot be written"), "{status}: {said}");
    assert_eq!(scene.domain.complaint("graph --svg --json").0, 2);
}

#[test]
fn programs_get_its_nodes_topics_and_edges() {
    let scene = Scene::new();
    let told = scene.domain.json("graph --interval 10ms");
    assert_eq!(told["nodes"].as_array().map(Vec::len), Some(3));
    assert_eq!(told["topics"][0]["name"], "camera/image");
    assert_eq!(told["topics"][0]["subscribers"], serde_json::json!(["logger", "viewer"]));
    assert_eq!((&told["edges"][0]["subscriber"], &told["edges"][0]["delivery"]), (&"logger".into(), &serde_json::Value::Null));
    assert_eq!((&told["edges"][0]["why"], &told["edges"][1]["delivery"]), (&REASON.into(), &"view".into()));
    let of_viewer = scene.domain.json("graph --interval 10ms --filter exposure --services");
    assert_eq!((&of_viewer["topics"][0]["service"], &of_viewer["edges"][0]["publisher"]), (&true.into(), &"viewer".into()));
    assert_eq!(of_viewer["nodes"].as_array().map(Vec::len), Some(2));
}

#[test]
fn rates_are_counted_over_the_interval() {
    let scene = Scene::new();
    let drawn = std::thread::scope(|scope| {
        let drawn = scope.spawn(|| scene.domain.json("graph --interval 300ms"));
        while !drawn.is_finished() {
            scene.camera.publish(&[&[0, 1, 0, 0]]).unwrap();
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        drawn.join().unwrap()
    });
    assert!(drawn["topics"][0]["hz"].as_f64().unwrap() > 1.0, "{drawn}");
}
