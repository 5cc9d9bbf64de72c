//! Which channels there are between a domain and a peer, without either.

mod common;

use common::{IMAGE, all, rules};
use sinew_gateway::channels::{Act, Ending, Ledger, State};
use sinew_gateway::domain::{Local, LocalChannel};
use sinew_gateway::protocol::{Control, End, Kind, Offer, Want};

const OTHER: &str = "robot/Image{width:uint64;data:uint8[];}";

/// A domain where somebody wants, or has, the images of this topic.
fn local(topic: u64, signature: &str, wanted: bool, had: bool) -> Local {
    let offer = |there: bool| there.then(|| Offer { depth: 5, ..Offer::default() });
    let channel = LocalChannel {
        signature: signature.to_owned(),
        response: String::new(),
        topic,
        wanted: offer(wanted),
        had: offer(had),
        ..LocalChannel::default()
    };
    Local { channels: [((Kind::Topic, "image".to_owned()), channel)].into(), nodes: Vec::new() }
}

fn want(channel: u32) -> Control {
    let offer = Offer { depth: 5, ..Offer::default() };
    Control::Want(Want {
        channel,
        kind: Kind::Topic,
        name: "image".to_owned(),
        signature: IMAGE.to_owned(),
        response: String::new(),
        offer,
    })
}

fn open(channel: u32) -> Control {
    Control::Open { channel, ordered: false, after: 0, offer: Offer { depth: 5, ..Offer::default() } }
}

/// In short.
fn shown(acts: &[Act]) -> Vec<String> {
    let one = |act: &Act| match act {
        Act::Send(Control::Want(want)) => format!("say want {}", want.channel),
        Act::Send(Control::Unwant { channel }) => format!("say unwant {channel}"),
        Act::Send(Control::Close { channel, end }) => format!("say close {channel} after {} of {}", end.sent, end.last),
        Act::Send(Control::Anew { channel }) => format!("say anew {channel}"),
        Act::Send(Control::Refuse { channel, .. }) => format!("say refuse {channel}"),
        Act::Send(other) => format!("say {other:?}"),
        Act::OpenOut { channel, .. } => format!("open out {channel}"),
        Act::EndOut { channel, why: Ending::Gone } => format!("end out {channel}"),
        Act::EndOut { channel, why } => format!("end out {channel}: {why:?}"),
        Act::GoOnOut { channel, .. } => format!("go on out {channel}"),
        Act::CloseOut { channel } => format!("close out {channel}"),
        Act::Expect { channel } => format!("expect {channel}"),
        Act::OpenIn { channel, topic, .. } => format!("open in {channel} for {topic}"),
        Act::EndIn { channel, end } => format!("end in {channel} after {} of {}", end.sent, end.last),
        Act::CloseIn { channel, goes_on: false } => format!("close in {channel}"),
        Act::CloseIn { channel, goes_on: true } => format!("close in {channel} for the next one"),
    };
    acts.iter().map(one).collect()
}

const END: End = End { sent: 4, last: 5 };

fn close(channel: u32) -> Control {
    Control::Close { channel, end: END }
}

fn heard(ledger: &mut Ledger, control: Control, local: &Local) -> Vec<String> {
    shown(&ledger.hear(control, local, &all()).expect("it may be said"))
}

#[test]
fn what_is_wanted_is_said_and_opened_when_the_peer_has_it() {
    let mut ledger = Ledger::new("base");
    let here = local(1, IMAGE, true, false);
    assert_eq!(shown(&ledger.follow(&here, &all())), ["expect 1", "say want 1"]);
    assert!(ledger.follow(&here, &all()).is_empty());
    assert_eq!(heard(&mut ledger, open(1), &here), ["open in 1 for 1"]);
    assert_eq!(shown(&ledger.follow(&local(1, IMAGE, false, false), &all())), ["close in 1", "say unwant 1"]);
}

#[test]
fn what_the_peer_wants_is_opened_while_it_is_had() {
    let mut ledger = Ledger::new("base");
    let nothing = Local::default();
    assert!(heard(&mut ledger, want(7), &nothing).is_empty());
    assert_eq!(shown(&ledger.follow(&local(1, IMAGE, false, true), &all())), ["open out 7"]);
    assert_eq!(shown(&ledger.follow(&nothing, &all())), ["end out 7"]);
    assert!(ledger.follow(&nothing, &all()).is_empty());
    assert_eq!(shown(&ledger.ended_out(7, END)), ["say close 7 after 4 of 5"]);
    // (G14) A channel is opened once.
    assert!(ledger.follow(&local(1, IMAGE, false, true), &all()).is_empty());
    assert!(heard(&mut ledger, Control::Unwant { channel: 7 }, &nothing).is_empty());
    assert_eq!(heard(&mut ledger, want(8), &local(1, IMAGE, false, true)), ["open out 8"]);
}

#[test]
fn a_topic_that_was_gone_and_has_come_again_is_opened_anew_even_if_nobody_saw_it_gone() {
    let mut ledger = Ledger::new("base");
    let (before, after) = (local(1, IMAGE, true, true), local(2, IMAGE, true, true));
    ledger.follow(&before, &all());
    assert_eq!(heard(&mut ledger, open(1), &before), ["open in 1 for 1"]);
    assert_eq!(heard(&mut ledger, want(7), &before), ["open out 7"]);
    let acts = ledger.follow(&after, &all());
    assert_eq!(shown(&acts), ["close in 1", "say unwant 1", "expect 2", "say want 2", "go on out 7"]);
    assert_eq!(heard(&mut ledger, open(2), &after), ["open in 2 for 2"]);
}

#[test]
fn after_a_close_the_peer_is_asked_again() {
    let mut ledger = Ledger::new("base");
    let here = local(1, IMAGE, true, false);
    ledger.follow(&here, &all());
    heard(&mut ledger, open(1), &here);
    assert_eq!(heard(&mut ledger, close(1), &here), ["end in 1 after 4 of 5"]);
    assert!(ledger.follow(&here, &all()).is_empty());
    assert_eq!(shown(&ledger.ended_in(1, &here, &all())), ["close in 1", "say unwant 1", "expect 2", "say want 2"]);
    assert!(ledger.ended_in(1, &here, &all()).is_empty());
    // It has crossed the Unwant.
    assert!(heard(&mut ledger, open(1), &here).is_empty());
}

#[test]
fn another_type_is_refused_once_and_opened_when_it_fits() {
    let mut ledger = Ledger::new("base");
    assert_eq!(heard(&mut ledger, want(7), &local(1, OTHER, false, true)), ["say refuse 7"]);
    assert!(ledger.follow(&local(1, OTHER, false, true), &all()).is_empty());
    let why = ledger.states().find_map(|(_, _, state)| if let State::Refused(why) = state { Some(why.clone()) } else { None });
    assert!(why.is_some_and(|why| why.contains("'width'")));
    assert_eq!(shown(&ledger.follow(&local(2, IMAGE, false, true), &all())), ["open out 7"]);
}

#[test]
fn what_could_not_be_opened_is_not_tried_again_as_something_else_changes() {
    let mut ledger = Ledger::new("base");
    let here = local(1, IMAGE, false, true);
    assert_eq!(heard(&mut ledger, want(7), &here), ["open out 7"]);
    assert_eq!(shown(&ledger.failed_out(7, "no room")), ["say refuse 7"]);
    assert!(ledger.follow(&here, &all()).is_empty());
    assert_eq!(shown(&ledger.follow(&local(2, IMAGE, false, true), &all())), ["open out 7"]);
}

#[test]
fn rules_that_change_close_and_open() {
    let mut ledger = Ledger::new("base");
    let here = local(1, IMAGE, true, true);
    let none = rules(r#"{ "topics": { "base_rule": "none" } }"#);
    assert!(ledger.follow(&here, &none).is_empty());
    assert_eq!(shown(&ledger.follow(&here, &all())), ["expect 1", "say want 1"]);
    assert_eq!(heard(&mut ledger, want(7), &here), ["open out 7"]);
    assert_eq!(shown(&ledger.follow(&here, &none)), ["close in 1", "say unwant 1", "end out 7: Forbidden"]);
}

/// A domain where somebody has it with another depth, or keeps it for those who come late.
fn had(topic: u64, offer: Offer) -> Local {
    let mut local = local(topic, IMAGE, false, true);
    local.channels.values_mut().for_each(|channel| channel.had = Some(offer.clone()));
    local
}

#[test]
fn who_publishes_again_as_before_while_the_channel_ends_goes_on_with_it() {
    let mut ledger = Ledger::new("base");
    let (before, nothing) = (local(1, IMAGE, false, true), Local::default());
    assert_eq!(heard(&mut ledger, want(7), &before), ["open out 7"]);
    for again in [1, 2] {
        assert_eq!(shown(&ledger.follow(&nothing, &all())), ["end out 7"]);
        assert_eq!(shown(&ledger.follow(&local(again, IMAGE, false, true), &all())), ["go on out 7"]);
    }
    assert!(ledger.follow(&local(2, IMAGE, false, true), &all()).is_empty());
    assert_eq!(shown(&ledger.follow(&nothing, &all())), ["end out 7"]);
    ledger.ended_out(7, END);
    assert!(ledger.follow(&before, &all()).is_empty());
}

#[test]
fn who_publishes_otherwise_does_not_and_nor_does_who_keeps_messages_for_those_who_come_late() {
    let kept = Offer { depth: 5, reliable: true, transient_local: true, ..Offer::default() };
    for (before, after) in [(Offer { depth: 5, ..Offer::default() }, Offer { depth: 6, ..Offer::default() }), (kept.clone(), kept)] {
        let mut ledger = Ledger::new("base");
        assert_eq!(heard(&mut ledger, want(7), &had(1, before)), ["open out 7"]);
        assert_eq!(shown(&ledger.follow(&Local::default(), &all())), ["end out 7"]);
        assert_eq!(shown(&ledger.follow(&had(1, after.clone()), &all())), ["end out 7: Changed"]);
        assert!(ledger.follow(&had(1, after), &all()).is_empty());
        // What those have kept who had gone meanwhile has gone with them.
        assert_eq!(shown(&ledger.ended_out(7, END)), ["say close 7 after 4 of 5"]);
    }
}

#[test]
fn who_keeps_less_than_before_for_those_who_come_late_goes_on_and_who_keeps_more_does_not() {
    let kept = |depth| had(1, Offer { depth, reliable: true, transient_local: true, ..Offer::default() });
    let mut ledger = Ledger::new("base");
    assert_eq!(heard(&mut ledger, want(7), &kept(6)), ["open out 7"]);
    for depth in [5, 6] {
        assert!(ledger.follow(&kept(depth), &all()).is_empty());
    }
    assert_eq!(shown(&ledger.follow(&kept(7), &all())), ["end out 7: Changed"]);
    assert_eq!(shown(&ledger.ended_out(7, END)), ["say anew 7", "say close 7 after 4 of 5"]);
}

#[test]
fn what_was_kept_stays_where_the_next_channel_of_its_topic_follows_at_once() {
    let wanted = |offer: Offer| {
        let mut local = local(1, IMAGE, true, false);
        local.channels.values_mut().for_each(|channel| channel.wanted = Some(offer.clone()));
        local
    };
    let kept = Offer { depth: 5, transient_local: true, ..Offer::default() };
    let (here, deeper) = (wanted(kept.clone()), wanted(Offer { depth: 10, ..kept }));
    let next = |this, next| {
        [format!("close in {this} for the next one"), format!("say unwant {this}"), format!("expect {next}"), format!("say want {next}")]
    };
    let mut ledger = Ledger::new("base");
    ledger.follow(&here, &all());
    heard(&mut ledger, open(1), &here);
    assert_eq!(shown(&ledger.follow(&deeper, &all())), next(1, 2));
    heard(&mut ledger, open(2), &deeper);
    assert!(heard(&mut ledger, Control::Anew { channel: 2 }, &deeper).is_empty());
    heard(&mut ledger, close(2), &deeper);
    assert_eq!(shown(&ledger.ended_in(2, &deeper, &all())), next(2, 3));
    // Its publishers have gone, and what they have kept with them.
    heard(&mut ledger, open(3), &deeper);
    heard(&mut ledger, close(3), &deeper);
    assert_eq!(shown(&ledger.ended_in(3, &deeper, &all())), ["close in 3", "say unwant 3", "expect 4", "say want 4"]);
    // What has had nothing that was kept must not get it behind what it has.
    let live = wanted(Offer { depth: 5, ..Offer::default() });
    ledger.follow(&live, &all());
    heard(&mut ledger, open(5), &live);
    assert_eq!(shown(&ledger.follow(&here, &all())), ["close in 5", "say unwant 5", "expect 6", "say want 6"]);
}

#[test]
fn what_is_not_wanted_any_more_ends_at_once_also_while_it_ends() {
    let mut ledger = Ledger::new("base");
    let (here, nothing) = (local(1, IMAGE, true, true), Local::default());
    ledger.follow(&here, &all());
    heard(&mut ledger, open(1), &here);
    heard(&mut ledger, want(7), &here);
    heard(&mut ledger, close(1), &here);
    assert_eq!(shown(&ledger.follow(&nothing, &all())), ["close in 1", "say unwant 1", "end out 7"]);
    assert_eq!(heard(&mut ledger, Control::Unwant { channel: 7 }, &nothing), ["close out 7"]);
    assert!(ledger.ended_in(1, &nothing, &all()).is_empty() && ledger.ended_out(7, END).is_empty());
}

#[test]
fn what_no_peer_may_say_is_a_violation() {
    let here = local(1, IMAGE, true, true);
    let says = |controls: &[Control]| {
        let mut ledger = Ledger::new("base");
        ledger.follow(&here, &all());
        controls.iter().map(|control| ledger.hear(control.clone(), &here, &all()).is_ok()).collect::<Vec<_>>()
    };
    assert_eq!(says(&[open(1), open(1)]), [true, false]);
    assert_eq!(says(&[want(7), want(8)]), [true, false]);
    assert_eq!(says(&[Control::Ready]), [false]);
    assert_eq!(says(&[open(1), close(1), close(1)]), [true, true, false]);
    assert_eq!(says(&[open(1), close(1), open(1)]), [true, true, false]);
    // For channels that are not known any more nothing is wrong.
    assert_eq!(says(&[open(99), close(99), Control::Unwant { channel: 99 }]), [true, true, true]);
}

#[test]
fn what_others_have_brought_is_had_for_a_rule_that_says_onward_alone() {
    let onward = rules(r#"{ "topics": { "base_rule": "out", "onward": true } }"#);
    let mut here = local(1, IMAGE, false, false);
    let channel = here.channels.values_mut().next().expect("there is one");
    channel.brought = Some(Offer { depth: 5, ..Offer::default() });
    for (rules, acts) in [(&onward, &["open out 1"][..]), (&all(), &[])] {
        let mut ledger = Ledger::new("base");
        assert_eq!(shown(&ledger.hear(want(1), &here, rules).expect("it may be said")), acts);
    }
}

#[test]
fn what_was_opened_and_cannot_be_here_is_unwanted_and_wanted_again_when_it_is_tried_again() {
    let mut ledger = Ledger::new("base");
    let here = local(1, IMAGE, true, false);
    ledger.follow(&here, &all());
    assert_eq!(heard(&mut ledger, open(1), &here), ["open in 1 for 1"]);
    assert_eq!(shown(&ledger.failed_in(1, "there is no memory")), ["close in 1", "say unwant 1"]);
    assert_eq!(ledger.states().map(|(_, _, state)| state.clone()).collect::<Vec<_>>(), [State::Refused("there is no memory".to_owned())]);
    // Changes of the domain are not a reason, and nothing that crosses it means anything.
    assert!(ledger.follow(&here, &all()).is_empty());
    assert!(heard(&mut ledger, open(1), &here).is_empty() && heard(&mut ledger, close(1), &here).is_empty());
    assert!(ledger.failed_in(1, "a second time").is_empty());
    assert_eq!(shown(&ledger.retry(&here, &all())), ["expect 2", "say want 2"]);
    assert!(ledger.retry(&here, &all()).is_empty());
    assert_eq!(heard(&mut ledger, open(2), &here), ["open in 2 for 1"]);
    ledger.failed_in(2, "there is no memory");
    // Nobody wants it any more: nothing is to be said that was not.
    assert!(ledger.follow(&Local::default(), &all()).is_empty());
}

#[test]
fn what_could_not_be_opened_for_the_peer_is_tried_again_and_refused_once() {
    let mut ledger = Ledger::new("base");
    let here = local(1, IMAGE, false, true);
    assert_eq!(heard(&mut ledger, want(7), &here), ["open out 7"]);
    assert_eq!(shown(&ledger.failed_out(7, "the manager is away")), ["say refuse 7"]);
    assert!(ledger.follow(&here, &all()).is_empty());
    assert_eq!(shown(&ledger.retry(&here, &all())), ["open out 7"]);
    assert!(ledger.failed_out(7, "the manager is away").is_empty());
    assert_eq!(shown(&ledger.retry(&here, &all())), ["open out 7"]);
    assert_eq!(shown(&ledger.failed_out(7, "there is no memory")), ["say refuse 7"]);
    assert_eq!(shown(&ledger.retry(&here, &all())), ["open out 7"]);
    assert_eq!(ledger.states().map(|(_, _, state)| state.clone()).collect::<Vec<_>>(), [State::Open]);
}
