//! What the rules of two gateways together let through (tables 5.1 and 5.2 of the thesis).

mod common;

use common::{PATIENCE, Robot, all, connected, image, next, number_of, publisher, rules, subscriber, until};
use sinew::Qos;
use sinew::raw::{Client, ClientOptions, Provider, ProviderOptions};

const SYMBOLS: [&str; 4] = ["x", "=", ">", "<"];
const NUMBER: &str = "calc/Number{value:uint32;}";

/// What the first and the second side may send (of services: provide), after table 5.2.
const COMBINED: [[(bool, bool); 4]; 4] = [
    [(false, false), (false, false), (false, false), (false, false)],
    [(false, false), (true, true), (false, true), (true, false)],
    [(false, false), (true, false), (false, false), (true, false)],
    [(false, false), (false, true), (false, true), (false, false)],
];

/// A name for each combination, and the rule of one side for each.
fn ruleset(kind: &str, own: impl Fn(usize, usize) -> usize) -> String {
    let exceptions: Vec<String> = (0..4)
        .flat_map(|first| (0..4).map(move |second| (first, second)))
        .map(|(first, second)| format!(r#"{{ "name": "n{first}{second}", "rule": "{}" }}"#, SYMBOLS[own(first, second)]))
        .collect();
    format!(r#"{{ "{kind}": {{ "base_rule": "=", "exceptions": [{}] }} }}"#, exceptions.join(", "))
}

fn names() -> Vec<(String, (bool, bool))> {
    (0..4).flat_map(|first| (0..4).map(move |second| (format!("n{first}{second}"), COMBINED[first][second]))).collect()
}

/// Two robots of which each has its side of every combination.
fn pair(kind: &str) -> (Robot, Robot) {
    let first = Robot::new("first", rules(&ruleset(kind, |first, _| first)));
    let second = Robot::dialing("second", rules(&ruleset(kind, |_, second| second)), &[&first]);
    (first, second)
}

#[tokio::test(flavor = "multi_thread")]
async fn topics_go_as_both_rule_sets_let_them_in_all_16_combinations() {
    let (first, second) = pair("topics");
    let (here, there) = (first.node("here"), second.node("there"));
    let ends = |name: &str| {
        let ends = [&here, &there].map(|node| (publisher(node, name, &Qos::default()), subscriber(node, name, &Qos::default())));
        (ends, name.to_owned())
    };
    let channels: Vec<_> = names().iter().map(|(name, _)| ends(name)).collect();
    let ([(_, seen_here), (_, seen_there)], _) = &ends("last");
    until("what was said last is connected both ways", || {
        seen_here.statistics().publishers == 2 && seen_there.statistics().publishers == 2
    });
    for ((ends, name), (_, (out, back))) in channels.iter().zip(names()) {
        let [(said_here, heard_here), (said_there, heard_there)] = ends;
        // Its own domain's, and the gateway.
        until(&format!("{name} is as it should be"), || {
            let publishers = (heard_there.statistics().publishers, heard_here.statistics().publishers);
            let subscribers = (said_here.statistics().subscribers, said_there.statistics().subscribers);
            let expected = (1 + u64::from(out), 1 + u64::from(back));
            publishers == expected && subscribers == expected
        });
    }
    for ((ends, name), (_, (out, back))) in channels.iter().zip(names()) {
        for (from, to, is_let) in [(0, 1, out), (1, 0, back)] {
            if is_let {
                ends[from].0.publish(&[&image(1 + from as u32, 10)]).expect("it is published");
                assert_eq!(number_of(&next(&ends[from].1)), 1 + from as u32, "{name}");
                assert_eq!(number_of(&next(&ends[to].1)), 1 + from as u32, "{name}");
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn services_are_provided_as_both_rule_sets_let_them_in_all_16_combinations() {
    let (first, second) = pair("services");
    let (here, there) = (first.node("here"), second.node("there"));
    for (name, (out, back)) in names() {
        for (provides, calls, is_let) in [(&here, &there, out), (&there, &here, back)] {
            let answer = |call: sinew::raw::Call| {
                let request = call.extents().collect::<Vec<_>>().concat();
                call.answer(&[&request]).expect("somebody waits");
            };
            let provider = Provider::new(provides, &name, NUMBER, NUMBER, &ProviderOptions::default(), answer).expect("it may provide");
            let client = Client::new(calls, &name, NUMBER, NUMBER, &ClientOptions::default()).expect("it may call");
            let request = [0, 1, 0, 0, 5, 0, 0, 0];
            if is_let {
                assert_eq!(client.call(&[&request], PATIENCE).unwrap_or_else(|why| panic!("{name}: {why}")).to_vec(), request);
            } else {
                // One that is let through is connected later, so this one never will be.
                let marker = format!("{name}_marker");
                let provided =
                    Provider::new(provides, &marker, NUMBER, NUMBER, &ProviderOptions::default(), answer).expect("it may provide");
                let asked = Client::new(calls, &marker, NUMBER, NUMBER, &ClientOptions::default()).expect("it may call");
                // What no exception names goes by the base rule of services, which is both.
                asked.call(&[&request], PATIENCE).unwrap_or_else(|why| panic!("{marker}: {why}"));
                assert_eq!((client.statistics().providers, provider.statistics().clients), (0, 0), "{name}");
                drop((provided, asked));
            }
            drop(client);
            drop(provider);
            until("the service is gone", || {
                [&here, &there].iter().all(|node| node.domain_state().is_ok_and(|state| state.topic(&format!("{name}@request")).is_none()))
            });
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn rules_that_change_hold_at_once() {
    let base = Robot::new("base", all());
    let mut drone = Robot::dialing("drone", rules(r#"{ "topics": { "base_rule": "none" } }"#), &[&base]);
    let images = publisher(&drone.node("camera"), "camera/image", &Qos::default());
    let seen = subscriber(&base.node("viewer"), "camera/image", &Qos::default());
    for is_let in [true, false, true] {
        drone.settings.rules = if is_let { all() } else { rules(r#"{ "topics": { "base_rule": "none" } }"#) };
        drone.change();
        until("the rules hold", || {
            seen.statistics().publishers == u64::from(is_let) && images.statistics().subscribers == u64::from(is_let)
        });
    }
    images.publish(&[&image(3, 10)]).expect("it is published");
    assert_eq!(number_of(&next(&seen)), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn rules_are_chosen_by_the_tag_of_the_peer() {
    let by_tag = r#"{ "tag": "friend", "topics": { "base_rule": "out" } }, { "topics": { "base_rule": "none" } }"#;
    let drone = Robot::new("drone", rules(by_tag));
    let friend = Robot::dialing("friend", all(), &[&drone]);
    let other = Robot::dialing("other", all(), &[&drone]);
    let images = publisher(&drone.node("camera"), "camera/image", &Qos::default());
    let unseen = subscriber(&other.node("viewer"), "camera/image", &Qos::default());
    until("both are connected", || drone.gateway.as_ref().is_some_and(|gateway| gateway.connections().len() == 2));
    let seen = subscriber(&friend.node("viewer"), "camera/image", &Qos::default());
    // The gateway says that it has subscribed before the camera has heard of it.
    connected(&images, &[&seen]);
    assert_eq!((images.statistics().subscribers, unseen.statistics().publishers), (1, 0));
}
