//! What somebody sees who has not met sinew before.

mod common;

use common::{Domain, eventually};
use sinew::raw::{Publisher, Subscriber, SubscriberOptions};
use sinew::{Ghost, Node, NodeOptions, Qos};

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
fn a_command_line_behind_the_command_is_a_wrong_verb() {
    use std::os::unix::process::CommandExt;
    for arguments in [["sinew", "topic", "list"].as_slice(), &["topic", "sinew"]] {
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_sinew")).arg0("sinew").args(arguments).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(2) && said.contains("unrecognized subcommand 'sinew'"), "{arguments:?}: {said}");
    }
}

#[test]
fn an_empty_domain_is_said_to_be_one_and_where_nodes_are_beside_it() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("sinew")).unwrap();
    std::fs::set_permissions(folder.path().join("sinew"), std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
    let beside = folder.path().join("sinew/default.sock");
    let options = |domain: &std::path::Path| NodeOptions { domain: domain.to_str().unwrap().to_owned(), by_caller: false };
    let _nodes = ["a", "b"].map(|name| Node::with_options(name, &options(&beside)).unwrap());
    let domain = Domain::new();
    let run = |arguments: &str| {
        let mut command = domain.command(arguments);
        let output = command.env("XDG_RUNTIME_DIR", folder.path()).env("SINEW_DOMAIN", "foo").output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (output.status.code(), text(output.stdout), text(output.stderr))
    };
    let said = "domain 'foo' has no nodes; 'default' beside it has 2 nodes\n";
    for list in ["topic list", "node list", "service list", "action list"] {
        // The manager may not have heard yet that the command before has ended.
        assert!(eventually(|| run(list) == (Some(0), String::new(), said.to_owned())), "{list}: {:?}", run(list));
        assert_eq!(run(&format!("{list} --json")), (Some(0), "[]\n".to_owned(), String::new()), "{list}");
    }
    assert!(eventually(|| run("graph --interval 10ms").2 == said));
    assert_eq!(run("--domain default node list"), (Some(0), "a\nb\n".to_owned(), String::new()));
    let found = "; 0 nodes; 'default' beside it has 2 nodes";
    assert!(eventually(|| run("doctor").1.lines().any(|line| line.contains("  manager ") && line.contains(found))), "{}", run("doctor").1);
    let folder = tempfile::tempdir().unwrap();
    let alone = domain.command("topic list").env("XDG_RUNTIME_DIR", folder.path()).env("SINEW_DOMAIN", "foo").output().unwrap();
    assert_eq!(String::from_utf8(alone.stderr).unwrap(), "domain 'foo' has no nodes\n");
    assert!(!folder.path().join("sinew/default.sock").exists(), "no manager was started");
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
fn names_of_types_may_leave_out_msg_and_those_with_a_typo_get_the_nearest_definition() {
    let domain = Domain::new();
    let node = domain.node("talker");
    let string = "std_msgs/msg/String{data:string;}";
    let _talker = Publisher::new(&node, "chatter", string, &Qos::default(), Default::default()).unwrap();
    assert_eq!(domain.text("topic find std_msgs/String"), "chatter\n");
    assert_eq!(domain.text("type show std_msgs/String"), domain.text("type show std_msgs/msg/String"));
    assert_eq!(domain.text("type show geometry_msgs/Vector3"), domain.text("type show geometry_msgs/msg/Vector3"), "by its definition");
    assert!(domain.text("type show std_srvs/SetBool_Request").starts_with("std_srvs/srv/SetBool_Request\n"));
    for (asked, meant) in [
        ("std_msgs/msg/Int3", "std_msgs/msg/Int"),
        ("geometry_msgs/msg/Twis", "geometry_msgs/msg/Twist"),
        ("geometry_msgs/Twis", "geometry_msgs/msg/Twist"),
        ("std_srvs/srv/SetBool", "std_srvs/srv/SetBool_Re"),
    ] {
        let (status, said) = domain.complaint(&format!("type show {asked}"));
        assert!(status == 3 && said.contains(&format!("did you mean '{meant}")), "{asked}: {said}");
    }
    let (status, said) = domain.complaint("topic pub other geometry_msgs/Twis {}");
    assert!(status == 3 && said.contains("did you mean 'geometry_msgs/msg/Twist'?"), "{said}");
}

#[test]
fn one_slash_may_stand_before_every_name_and_is_in_no_complaint() {
    let scene = Scene::new();
    assert_eq!(scene.domain.text("node info /talker"), scene.domain.text("node info talker"));
    assert_eq!(scene.domain.text("node kill-connection /talker"), "talker has registered again\n");
    for (asked, said) in [
        ("topic hz /nope", "there is no topic 'nope'"),
        ("topic info /nope", "there is no topic 'nope'"),
        ("node info /nope", "there is no node 'nope'"),
        ("service info /nope", "there is no service 'nope'"),
        ("action info /nope", "there is no action 'nope'"),
    ] {
        let (status, text) = scene.domain.complaint(asked);
        assert!(status == 3 && text.contains(said), "{asked}: {text}");
    }
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
