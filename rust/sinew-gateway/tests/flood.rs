//! Peers that say more than there is to say, and others beside them (G41).

mod common;

use common::stranger::{Stranger, want};
use common::{PATIENCE, Robot, all, connected, publisher, subscriber};
use sinew::Qos;
use sinew_gateway::protocol::{Control, Kind, Offer, Want};

/// As many as a peer may want.
const WANTS: u32 = 4096;

#[tokio::test(flavor = "multi_thread")]
async fn what_others_want_comes_between_however_much_a_peer_says() {
    let base = Robot::on_this_machine("base", all());
    let drone = Robot::dialing("drone", all(), &[&base]);
    let (mapper, planner) = (drone.node("mapper"), base.node("planner"));
    let mut stranger = Stranger::introduced(&base).await;
    for channel in 0..WANTS {
        stranger.say(&want(channel, &format!("topic_{channel}"))).await;
    }
    let unknown = Control::Unwant { channel: u32::MAX }.encode().repeat(1000);
    let flood = tokio::spawn(async move { while stranger.send.write_all(&unknown).await.is_ok() {} });
    for topic in ["one", "two", "three"] {
        let (maps, seen) = (publisher(&mapper, topic, &Qos::default()), subscriber(&planner, topic, &Qos::default()));
        connected(&maps, &[&seen]);
    }
    assert!(!flood.is_finished(), "it was disconnected");
    flood.abort();
}

#[tokio::test(flavor = "multi_thread")]
async fn who_does_not_read_what_it_is_told_is_disconnected() {
    let base = Robot::on_this_machine("base", all());
    let _images = publisher(&base.node("camera"), "camera/image", &Qos::default());
    let mut stranger = Stranger::introduced(&base).await;
    // Each is refused with a text that says what there is, and what was wanted.
    let signature = format!("robot/{}{{width:uint32;}}", "Image".repeat(2000));
    let flood = async {
        for channel in 0.. {
            let (name, signature, response) = ("camera/image".to_owned(), signature.clone(), String::new());
            let want = Control::Want(Want { channel, kind: Kind::Topic, name, signature, response, offer: Offer::default() });
            if stranger.send.write_all(&[want.encode(), Control::Unwant { channel }.encode()].concat()).await.is_err() {
                break;
            }
        }
    };
    tokio::time::timeout(PATIENCE, flood).await.expect("it is disconnected");
    let (code, why) = stranger.disconnected().await;
    assert_eq!((code, why.as_str()), (1, "it does not read what it is told"));
}
