//! Publishers of one topic that offer more, and less.

use std::time::Duration;

use sinew::raw::{Publisher, Subscriber};
use sinew::{Node, Qos};

use super::{image, next, number_of, publisher, subscriber, until};

/// Numbers from here on may come any number of times.
const ANY: u32 = 1000;

fn kept(depth: u32) -> Qos {
    Qos { reliable: true, transient_local: true, ..Qos::keep_last(depth) }
}

/// Publishes it until it arrives.
fn arrives(said: &Publisher, heard: &Subscriber, number: u32) {
    until("it arrives", || {
        said.publish(&[&image(number, 10)]).expect("it is published");
        let all = std::iter::from_fn(|| heard.take(Duration::from_millis(20)).expect("it can be taken"));
        all.map(|frame| number_of(&frame)).any(|seen| seen == number)
    });
}

/// All that are there, but for those that may be.
fn rest(heard: &Subscriber) -> Vec<u32> {
    let all = std::iter::from_fn(|| heard.take(Duration::from_millis(500)).expect("it can be taken"));
    all.map(|frame| number_of(&frame)).filter(|number| *number < ANY).collect()
}

/// Who publishes what somebody asks more of takes nothing from him, nor from others, neither while he is there nor afterwards. `stands`: how it stands where the viewer is.
pub fn who_offers_less_takes_nothing_from_others([viewer, driver, rogue]: [&Node; 3], stands: impl Fn() -> String) {
    // Both as much: for more, what was kept would be asked for once more, whenever that is seen.
    let (strict, easy) = (subscriber(viewer, "battery", &kept(100)), subscriber(viewer, "battery", &Qos::keep_last(100)));
    let good = publisher(driver, "battery", &kept(5));
    arrives(&good, &strict, ANY);
    arrives(&good, &easy, ANY);
    rest(&strict);
    let mut number = 0;
    let mut ten = || {
        for at in number..number + 10 {
            good.publish(&[&image(at, 10)]).expect("it is published");
            assert_eq!(number_of(&next(&strict)), at);
        }
        assert_eq!(rest(&easy), (number..number + 10).collect::<Vec<u32>>());
        number += 10;
    };
    ten();
    for (policy, qos) in [("reliability", Qos::default()), ("durability", Qos { reliable: true, ..Qos::default() })] {
        let less = publisher(rogue, "battery", &qos);
        arrives(&less, &easy, ANY + 1);
        let why = format!("open: a publisher there offers less than subscribers here ask for: {policy}");
        until("it is told", || stands() == why);
        ten();
        drop(less);
        ten();
        until("it is not told any more", || {
            good.publish(&[&image(ANY, 10)]).expect("it is published");
            stands() == "open"
        });
        until("they have come", || rest(&strict).is_empty() && rest(&easy).is_empty());
    }
    ten();
    let late = subscriber(viewer, "battery", &kept(5));
    assert_eq!((0..5).map(|_| number_of(&next(&late))).collect::<Vec<_>>(), (number - 5..number).collect::<Vec<u32>>());
    assert_eq!((rest(&late), rest(&strict), rest(&easy)), (vec![], vec![], vec![]), "something came twice");
}
