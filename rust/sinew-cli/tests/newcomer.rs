//! What somebody sees who has not met sinew before.

mod common;

use common::{Domain, eventually};
use sinew::raw::{Publisher, Subscriber, SubscriberOptions};
use sinew::{Ghost, Node, Qos};

const WORDS: &str = "Words{text:string;count:uint32;}";

/// A talker, to which a listener listens.
struct Scene {
    domain: Domain,
    talker: Publisher,
    _listener: Subscriber,
    _nodes: [Node; 2],
}

impl Scene {
    fn new() -> Scene {
        let domain = Domain::new();
        let nodes = [domain.node("talker"), domain.node("listener")];
        let talker = Publisher::new(&nodes[0], "chatter", WORDS, &Qos::default(), Default::default()).unwrap();
        let listener = Subscriber::new(&nodes[1], "chatter", WORDS, &Qos::default(), Default::default()).unwrap();
        assert!(eventually(|| talker.statistics().subscribers == 1));
        Scene { domain, talker, _listener: listener, _nodes: nodes }
    }
}

#[test]
fn what_is_typed_as_in_ros_2_does_the_same() {
    let scene = Scene::new();
    let text = |arguments: &str| scene.domain.text(arguments);
    assert_eq!(text("topic list -t"), text("topic list --verbose"));
    assert_eq!(text("topic info -v chatter"), text("topic info chatter"));
    assert_eq!(text("topic type /chatter"), "Words\n");
    assert_eq!(scene.domain.complaint("topic type chater").0, 3);
    assert_eq!(text("service list -t"), text("service list --verbose"));
    assert_eq!(text("action list -t"), text("action list --verbose"));
}

#[test]
fn verbs_of_ros_2_are_told_where_they_are_here() {
    let domain = Domain::new();
    for (asked, hint) in [
        ("bag record -a", "tip: here it is `sinew record`"),
        ("bag play drive", "tip: here it is `sinew play`"),
        ("run demo_nodes_cpp talker", "tip: programs are run as they are, or several together by `sinew launch`"),
        ("param list", "tip: there are no parameters: "),
        ("interface show std_msgs/msg/String", "tip: here it is `sinew type show`"),
        ("pkg list", "tip: there are no packages: "),
        ("daemon start", "tip: nothing is to be started: the first node starts what all need"),
        ("--color never echo chatter", "tip: here it is `sinew topic echo`"),
    ] {
        let (status, said) = domain.complaint(asked);
        assert_eq!(status, 2, "{asked}");
        assert!(said.starts_with("error: unrecognized subcommand '") && said.contains(hint), "{asked}: {said}");
    }
    assert!(domain.complaint("topic lisst").1.contains("similar subcommand"));
}

#[test]
fn help_is_a_verb_too() {
    let domain = Domain::new();
    assert_eq!(domain.text("help"), domain.text("--help"));
    assert_eq!(domain.text("help topic"), domain.text("topic --help"));
    assert_eq!(domain.text("topic help echo"), domain.text("topic echo --help"));
    assert!(domain.complaint("help bag record").1.contains("here it is `sinew record`"));
}

#[test]
fn an_option_that_is_none_gets_no_advice_about_values() {
    let domain = Domain::new();
    let (status, said) = domain.complaint("topic echo chatter --spin-time 3");
    assert_eq!(status, 2);
    assert!(said.contains("unexpected argument '--spin-time' found") && !said.contains("as a value"), "{said}");
    let (_, said) = domain.complaint("topic echo chatter --colour");
    assert!(said.contains("a similar argument exists: '--color'"), "{said}");
}

#[test]
fn the_reliability_of_both_ends_is_written_out_and_who_does_not_fit_is_named_with_the_reason() {
    let scene = Scene::new();
    let strict = scene.domain.node("strict");
    let _strict =
        Subscriber::new(&strict, "chatter", WORDS, &Qos { transient_local: true, ..Qos::reliable() }, Default::default()).unwrap();
    assert!(eventually(|| scene.domain.text("domain state").contains("talker -> strict")));
    let info = scene.domain.text("topic info chatter");
    for line in
        ["  talker  keep last 8, best effort", "  listener  keep last 8, best effort", "  strict    keep all, reliable, transient local"]
    {
        assert!(info.lines().any(|each| each.starts_with(line)), "{line}\n{info}");
    }
    let unconnected = "talker -> strict: not connected\n  reliability: the publisher offers best_effort, the subscriber asks for reliable";
    assert!(info.contains(unconnected), "{info}");
    assert!(!info.contains("talker -> listener"), "{info}");
    let told = &scene.domain.json("topic info chatter")["not_connected"];
    assert_eq!((told.as_array().map(Vec::len), &told[0]["subscriber"]), (Some(1), &"strict".into()));
    assert!(told[0]["why"].as_str().unwrap().starts_with("reliability: "), "{told}");
}

#[test]
fn who_only_looks_on_is_not_counted_and_told_of_as_such() {
    let scene = Scene::new();
    let looks = scene.domain.node("looks");
    let options = SubscriberOptions { ghost: Ghost::Observer, ..Default::default() };
    let _observer = Subscriber::new(&looks, "chatter", WORDS, &Qos::default(), options).unwrap();
    assert!(eventually(|| scene.talker.statistics().subscribers == 2));
    let listed = serde_json::json!([{"name": "chatter", "type": "Words", "publishers": 1, "subscribers": 1}]);
    assert_eq!(scene.domain.json("topic list"), listed);
    assert!(scene.domain.text("topic list -v").ends_with("chatter  Words           1            1\n"));
    let info = scene.domain.text("topic info chatter");
    assert!(info.contains("subscribers  1 (+1 looking on)\n"), "{info}");
    assert!(info.lines().any(|line| line.starts_with("  looks ") && line.ends_with(", looks on")), "{info}");
    assert!(info.lines().any(|line| line.starts_with("  listener ") && !line.contains("looks on")), "{info}");
    assert!(scene.domain.text("domain state").contains("subscribed by listener, looks (looks on)\n"));
    let hz = scene.domain.json("topic hz --count 1 --interval 10ms chatter");
    assert_eq!(hz["publishers"], 1);
}
