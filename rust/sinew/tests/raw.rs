//! Streams of types that are known when the program runs.

mod common;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use common::{Domain, LONG, eventually};
use sinew::raw::{Client, Delivery, Frame, Frames, Provider, Publisher, PublisherOptions, Subscriber, SubscriberOptions, WhenFull};
use sinew::{ErrorKind, Event, Events, Ghost, Qos};

const IMAGE: &str = "robot/Image{width:uint32;data:uint8[];}";
const NUMBER: &str = "test/Number{value:uint64;}";

fn image(width: u32, data: &[u8]) -> Vec<u8> {
    let mut stream = vec![0, 1, 0, 0];
    stream.extend(width.to_le_bytes());
    stream.extend((data.len() as u32).to_le_bytes());
    stream.extend(data);
    stream
}

fn number(value: u64) -> Vec<u8> {
    [&[0, 1, 0, 0][..], &value.to_le_bytes()].concat()
}

fn number_in(frame: &Frame) -> u64 {
    frame.reader().unwrap().number().unwrap()
}

fn connected(publisher: &Publisher) {
    assert!(eventually(|| publisher.statistics().subscribers == 1), "the subscriber does not come");
}

#[test]
fn what_is_loaned_is_read_where_it_was_written() {
    let domain = Domain::new();
    let (camera, viewer) = (domain.node("camera"), domain.node("viewer"));
    let publisher = Publisher::new(&camera, "image", IMAGE, &Qos::default(), Default::default()).unwrap();
    let subscriber = Subscriber::new(&viewer, "image", IMAGE, &Qos::default(), Default::default()).unwrap();
    connected(&publisher);

    let stream = image(640, &[7; 100_000]);
    let mut loan = publisher.loan(stream.len() + 1000).unwrap();
    loan.bytes()[..stream.len()].copy_from_slice(&stream);
    loan.publish(stream.len()).unwrap();

    let frame = subscriber.take(LONG).unwrap().expect("it comes");
    assert_eq!(frame.to_vec(), stream);
    assert_eq!(frame.size(), stream.len());
    let info = frame.info();
    assert_eq!((info.publisher.as_str(), info.sequence, info.delivery), ("camera", 1, Delivery::View));
    assert!(info.source_time_ns <= info.receive_time_ns);
    assert_eq!(publisher.statistics().bytes_copied + subscriber.statistics().bytes_copied, 0);
}

#[test]
fn a_frame_outlives_subscriber_node_and_publisher() {
    let domain = Domain::new();
    let camera = domain.node("camera");
    let publisher = Publisher::new(&camera, "image", IMAGE, &Qos::default(), Default::default()).unwrap();
    let viewer = domain.node("viewer");
    let subscriber = Subscriber::new(&viewer, "image", IMAGE, &Qos::default(), Default::default()).unwrap();
    connected(&publisher);
    let stream = image(1, &[9; 50_000]);
    publisher.publish(&[&stream[..10], &stream[10..]]).unwrap();
    let frame = subscriber.take(LONG).unwrap().expect("it comes");
    drop((subscriber, viewer, publisher, camera));
    assert_eq!(frame.to_vec(), stream);
}

#[test]
fn callbacks_get_messages_in_order_on_a_thread_of_the_node() {
    let domain = Domain::new();
    let node = domain.node("node");
    let publisher = Publisher::new(&node, "n", NUMBER, &Qos::reliable(), Default::default()).unwrap();
    let (sender, received) = mpsc::channel();
    let _subscriber = Subscriber::with_callback(&node, "n", NUMBER, &Qos::reliable(), Default::default(), move |frame| {
        sender.send((std::thread::current().id(), number_in(&frame))).unwrap();
    })
    .unwrap();
    connected(&publisher);
    for value in 0..1000 {
        publisher.publish(&[&number(value)]).unwrap();
    }
    for value in 0..1000 {
        let (thread, got) = received.recv_timeout(LONG).unwrap();
        assert_eq!(got, value);
        assert_ne!(thread, std::thread::current().id());
    }
}

#[test]
fn a_subscriber_may_be_dropped_in_its_own_callback() {
    let domain = Domain::new();
    let node = domain.node("node");
    let publisher = Publisher::new(&node, "n", NUMBER, &Qos::default(), Default::default()).unwrap();
    let slot = Arc::new(Mutex::new(None::<Subscriber>));
    let (calls, emptied) = (Arc::new(AtomicUsize::new(0)), Arc::clone(&slot));
    let counted = Arc::clone(&calls);
    let subscriber = Subscriber::with_callback(&node, "n", NUMBER, &Qos::default(), Default::default(), move |_| {
        counted.fetch_add(1, Ordering::Relaxed);
        let own = emptied.lock().unwrap().take();
        drop(own);
    });
    *slot.lock().unwrap() = Some(subscriber.unwrap());
    connected(&publisher);
    publisher.publish(&[&number(1)]).unwrap();
    assert!(eventually(|| publisher.statistics().subscribers == 0));
    assert_eq!(calls.load(Ordering::Relaxed), 1);
    // What the callback kept is let go of with it.
    assert!(eventually(|| Arc::strong_count(&slot) == 1));
}

#[test]
fn who_shows_by_itself_that_it_is_alive_says_how_often() {
    let domain = Domain::new();
    let node = domain.node("node");
    let qos = Qos { manual_by_topic: true, ..Qos::default() };
    for error in [
        Publisher::new(&node, "n", NUMBER, &qos, Default::default()).unwrap_err(),
        Subscriber::new(&node, "n", NUMBER, &qos, Default::default()).unwrap_err(),
    ] {
        assert_eq!(error.kind(), ErrorKind::InvalidArgument);
        assert!(error.to_string().contains("topic 'n': manual_by_topic needs `lease` too"), "{error}");
    }
    let qos = Qos { lease: Some(LONG), ..qos };
    let publisher = Publisher::new(&node, "n", NUMBER, &qos, Default::default()).unwrap();
    let _subscriber = Subscriber::new(&node, "n", NUMBER, &qos, Default::default()).unwrap();
    connected(&publisher);
}

#[test]
fn what_would_be_nothing_or_the_usual_to_the_library_is_refused() {
    let domain = Domain::new();
    let node = domain.node("node");
    let is_refused = |qos: Qos, why: &str| {
        for error in [
            Publisher::new(&node, "n", NUMBER, &qos, Default::default()).unwrap_err(),
            Subscriber::new(&node, "n", NUMBER, &qos, Default::default()).unwrap_err(),
            Frames::new(&node, "n", NUMBER, &qos, Default::default()).unwrap_err(),
        ] {
            assert_eq!(error.kind(), ErrorKind::InvalidArgument);
            assert!(error.to_string().contains(why), "{error}");
        }
    };
    let zero = Some(Duration::ZERO);
    is_refused(Qos::keep_last(0), "topic 'n': keep_last(0) is out of range, 1 to 512");
    is_refused(Qos { deadline: zero, ..Qos::default() }, "topic 'n': a deadline of 0 ns is out of range");
    is_refused(Qos { lifespan: zero, ..Qos::default() }, "topic 'n': a lifespan of 0 ns is out of range");
    is_refused(Qos { lease: zero, ..Qos::default() }, "topic 'n': a lease of 0 ns is out of range");
    for qos in [Qos::keep_last(1), Qos::reliable(), Qos { lifespan: Some(Duration::from_nanos(1)), ..Qos::default() }] {
        Publisher::new(&node, "n", NUMBER, &qos, Default::default()).unwrap();
    }
}

#[test]
fn events_and_who_is_told_of_them_are_asked_for_together() {
    let domain = Domain::new();
    let node = domain.node("node");
    let qos = Qos::default();
    for (events, is_told, why) in [
        (Events::MATCHED, false, "topic 'n': events are asked for, but on_event is None"),
        (Events::default(), true, "topic 'n': on_event is there, but no events are asked for"),
    ] {
        let on_event = || is_told.then(|| Box::new(|_: Event| {}) as Box<dyn FnMut(Event) + Send>);
        let publisher = PublisherOptions { events, on_event: on_event(), ..Default::default() };
        let subscriber = SubscriberOptions { events, on_event: on_event(), ..Default::default() };
        for error in [
            Publisher::new(&node, "n", NUMBER, &qos, publisher).unwrap_err(),
            Subscriber::new(&node, "n", NUMBER, &qos, subscriber).unwrap_err(),
        ] {
            assert_eq!(error.kind(), ErrorKind::InvalidArgument);
            assert!(error.to_string().contains(why), "{error}");
        }
    }
}

#[test]
fn to_withdraw_some_is_to_withdraw_one_at_least() {
    let domain = Domain::new();
    let node = domain.node("node");
    let create = |when_full| {
        let options = PublisherOptions { when_full, ..Default::default() };
        Publisher::new(&node, "n", NUMBER, &Qos::default(), options)
    };
    let error = create(WhenFull::WithdrawSome(0)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    assert!(error.to_string().contains("topic 'n'") && error.to_string().contains("use WhenFull::Refuse"), "{error}");
    for when_full in [WhenFull::WithdrawSome(1), WhenFull::Refuse] {
        create(when_full).unwrap();
    }
}

#[test]
fn errors_say_what_is_there_and_what_was_asked() {
    let domain = Domain::new();
    let node = domain.node("node");
    let _publisher = Publisher::new(&node, "camera/image", IMAGE, &Qos::default(), Default::default()).unwrap();
    let other = "robot/Image{width:uint64;data:uint8[];}";
    let error = Subscriber::new(&node, "camera/image", other, &Qos::default(), Default::default()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TypeMismatch);
    assert!(error.to_string().contains("field 'width' differs"), "{error}");

    let error = Subscriber::new(&node, "camera\0", IMAGE, &Qos::default(), Default::default()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    let error = Subscriber::new(&node, "x", "no signature", &Qos::default(), Default::default()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    let ghost = SubscriberOptions { ghost: Ghost::Observer, ..Default::default() };
    assert_eq!(Subscriber::new(&node, "nothing", IMAGE, &Qos::default(), ghost).unwrap_err().kind(), ErrorKind::Unavailable);
    assert_eq!(node.dispatch().unwrap_err().kind(), ErrorKind::InvalidArgument);
}

#[test]
fn events_tell_of_peers_and_of_policies_that_do_not_fit() {
    let domain = Domain::new();
    let node = domain.node("node");
    let (sender, events) = mpsc::channel();
    let options = SubscriberOptions {
        events: Events::MATCHED | Events::INCOMPATIBLE_QOS,
        on_event: Some(Box::new(move |event| sender.send(event).unwrap())),
        ..Default::default()
    };
    let asked = Qos { deadline: Some(Duration::from_secs(1)), ..Qos::default() };
    let _subscriber = Subscriber::new(&node, "n", NUMBER, &asked, options).unwrap();
    let other = domain.node("other");
    let _unfit = Publisher::new(&other, "n", NUMBER, &Qos::default(), Default::default()).unwrap();
    match events.recv_timeout(LONG).unwrap() {
        Event::IncompatibleQos { total: 1, node, text, .. } => {
            assert_eq!(node, "other");
            assert!(text.contains("deadline"), "{text}");
        }
        event => panic!("{event:?}"),
    }
    let _fit = Publisher::new(&other, "n", NUMBER, &asked, Default::default()).unwrap();
    assert!(matches!(events.recv_timeout(LONG).unwrap(), Event::Matched { current: 1, current_change: 1, .. }));
}

#[test]
fn callbacks_of_a_node_by_caller_run_where_it_is_dispatched() {
    let domain = Domain::new();
    let node = domain.node_by_caller("node");
    let publisher = Publisher::new(&node, "n", NUMBER, &Qos::default(), Default::default()).unwrap();
    let (sender, received) = mpsc::channel();
    let _subscriber = Subscriber::with_callback(&node, "n", NUMBER, &Qos::default(), Default::default(), move |frame| {
        sender.send((std::thread::current().id(), number_in(&frame))).unwrap();
    })
    .unwrap();
    connected(&publisher);
    publisher.publish(&[&number(5)]).unwrap();
    let mut got = None;
    assert!(eventually(|| {
        node.dispatch().unwrap();
        got = received.try_recv().ok();
        got.is_some()
    }));
    assert_eq!(got, Some((std::thread::current().id(), 5)));
}

#[tokio::test]
async fn a_task_gets_messages_and_the_newest_push_the_oldest_out() {
    let domain = Domain::new();
    let node = domain.node("node");
    let publisher = Publisher::new(&node, "n", NUMBER, &Qos::default(), Default::default()).unwrap();
    let mut frames = Frames::new(&node, "n", NUMBER, &Qos::keep_last(3), Default::default()).unwrap();
    connected(&publisher);
    publisher.publish(&[&number(1)]).unwrap();
    assert_eq!(number_in(&frames.recv().await), 1);
    for value in 2..=11 {
        publisher.publish(&[&number(value)]).unwrap();
        // It is counted before it pushes another one out.
        assert!(eventually(|| frames.subscriber().statistics().received == value && frames.lost() == value.saturating_sub(4)));
    }
    assert_eq!(frames.lost(), 7);
    assert_eq!([number_in(&frames.recv().await), number_in(&frames.recv().await), number_in(&frames.recv().await)], [9, 10, 11]);
}

#[tokio::test]
async fn a_task_gets_the_newest_of_each_publisher() {
    let domain = Domain::new();
    let kept = Qos { transient_local: true, ..Qos::keep_last(1) };
    let nodes = ["left", "middle", "right"].map(|name| domain.node(name));
    let publishers = nodes.each_ref().map(|node| Publisher::new(node, "n", NUMBER, &kept, Default::default()).unwrap());
    for (publisher, value) in publishers.iter().zip(1..) {
        publisher.publish(&[&number(value)]).unwrap();
    }
    let mut frames = Frames::new(&domain.node("viewer"), "n", NUMBER, &kept, Default::default()).unwrap();
    assert!(eventually(|| frames.subscriber().statistics().received == 3));
    publishers[0].publish(&[&number(4)]).unwrap();
    assert!(eventually(|| frames.subscriber().statistics().received == 4 && frames.lost() > 0));
    assert_eq!(frames.lost(), 1);
    let mut values = [number_in(&frames.recv().await), number_in(&frames.recv().await), number_in(&frames.recv().await)];
    values.sort_unstable();
    assert_eq!(values, [2, 3, 4]);
}

#[cfg(feature = "tokio")]
#[tokio::test]
async fn a_task_runs_the_callbacks_of_a_node_by_caller() {
    let domain = Domain::new();
    let node = domain.node_by_caller("node");
    let publisher = Publisher::new(&node, "n", NUMBER, &Qos::reliable(), Default::default()).unwrap();
    let mut frames = Frames::new(&node, "n", NUMBER, &Qos::reliable(), Default::default()).unwrap();
    let work = async {
        for value in 0..2000 {
            if publisher.statistics().subscribers == 0 {
                assert!(eventually(|| publisher.statistics().subscribers == 1));
            }
            publisher.publish(&[&number(value)]).unwrap();
            assert_eq!(number_in(&frames.recv().await), value);
        }
    };
    tokio::select! {
        ended = node.run() => panic!("{ended:?}"),
        () = work => {}
        () = tokio::time::sleep(LONG) => panic!("messages do not come"),
    }
}

#[test]
fn a_client_calls_and_a_provider_answers_or_fails() {
    let domain = Domain::new();
    let (asks, serves) = (domain.node("asks"), domain.node("serves"));
    let client = Client::new(&asks, "double", NUMBER, NUMBER, &Default::default()).unwrap();
    let provider = Provider::new(&serves, "double", NUMBER, NUMBER, &Default::default(), |call| {
        let value: u64 = call.reader().unwrap().number().unwrap();
        assert_eq!(call.info().publisher, "asks");
        let ended = match value {
            0 => call.fail("nothing cannot be doubled"),
            13 => return, // dropped
            _ => call.answer(&[&number(value * 2)]),
        };
        ended.unwrap();
    })
    .unwrap();
    assert_eq!(number_in(&client.call(&[&number(21)], LONG).unwrap()), 42);
    let error = client.call(&[&number(0)], LONG).unwrap_err();
    assert_eq!((error.kind(), error.to_string().contains("nothing cannot be doubled")), (ErrorKind::Failed, true), "{error}");
    assert_eq!(client.call(&[&number(13)], LONG).unwrap_err().kind(), ErrorKind::Failed);
    assert!(eventually(|| provider.statistics().running == 0));
    assert_eq!(client.statistics().answered, 1);
    drop(provider);
    let error = client.call(&[&number(1)], Duration::from_millis(20)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Timeout);
}

#[tokio::test]
async fn calls_of_a_task_end_with_their_answers_or_are_cancelled_when_dropped() {
    let domain = Domain::new();
    let node = domain.node("node");
    let (sender, kept) = mpsc::channel();
    let _provider = Provider::new(&node, "keep", NUMBER, NUMBER, &Default::default(), move |call| sender.send(call).unwrap()).unwrap();
    let client = Client::new(&node, "keep", NUMBER, NUMBER, &Default::default()).unwrap();
    let (first, second) = (client.start(number(1), None).unwrap(), client.start(number(2), None).unwrap());
    let calls = [kept.recv_timeout(LONG).unwrap(), kept.recv_timeout(LONG).unwrap()];
    drop(second);
    let [answered, cancelled] = calls;
    assert!(eventually(|| cancelled.is_cancelled()));
    let _ = cancelled.answer(&[&number(0)]);
    answered.answer(&[&number(10)]).unwrap();
    assert_eq!(number_in(&first.await.unwrap()), 10);
    let pending = client.start(number(3), Duration::from_millis(10)).unwrap();
    assert_eq!(pending.await.unwrap_err().kind(), ErrorKind::Timeout);
}

#[test]
fn a_call_may_be_given_up_with_its_client() {
    let domain = Domain::new();
    let node = domain.node("node");
    let client = Client::new(&node, "nobody", NUMBER, NUMBER, &Default::default()).unwrap();
    let response = client.start(number(1), None).unwrap();
    drop(client);
    drop(response);
    let _new = Client::new(&node, "nobody", NUMBER, NUMBER, &Default::default()).unwrap();
}
