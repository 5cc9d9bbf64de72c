//! Messages of types of this program.

mod common;

use std::collections::{BTreeMap, HashMap};
use std::sync::mpsc;

use common::{Domain, LONG, eventually};
use serde::{Deserialize, Serialize};
use sinew::msg::Type;
use sinew::{Client, ErrorKind, Messages, Provider, Publisher, Qos, Slice, Subscriber, raw, signature_of};

#[derive(Serialize, Deserialize, PartialEq, Debug)]
#[serde(rename = "robot/Header")]
struct Header<'a> {
    stamp_ns: u64,
    frame_id: &'a str,
}

#[derive(Serialize, Deserialize, PartialEq, Debug)]
#[serde(rename = "robot/Scan")]
struct Scan<'a> {
    #[serde(borrow)]
    header: Header<'a>,
    ranges: Slice<'a, f32>,
    is_clear: bool,
    stamps: Slice<'a, u64>,
}
sinew::message!(Scan<'a>);

#[derive(Serialize, Deserialize, PartialEq, Debug, Clone, Copy)]
#[serde(rename = "robot/Mode(int32)")]
enum Mode {
    Off,
    On,
}

#[derive(Serialize, Deserialize, PartialEq, Debug)]
enum Shape {
    Nothing,
    Circle { radius: f64 },
    Box(u16, u16),
    Named(String),
}

/// Something of everything.
#[derive(Serialize, Deserialize, PartialEq, Debug)]
#[serde(rename = "robot/Every")]
struct Every {
    small: i8,
    wide: i64,
    real: f64,
    text: String,
    modes: Vec<Mode>,
    matrix: [[f32; 2]; 2],
    shapes: Vec<Shape>,
    perhaps: Option<Option<u16>>,
    ordered: BTreeMap<String, u64>,
    flags: Vec<bool>,
    pair: (u8, String),
    last: u8,
}
sinew::message!(Every);

#[derive(Serialize, Deserialize, PartialEq, Debug)]
struct Add {
    a: i64,
    b: i64,
}
#[derive(Serialize, Deserialize, PartialEq, Debug)]
struct Sum<'a> {
    sum: i64,
    #[serde(borrow)]
    by: &'a str,
}
/// It is written as two bytes, and read of one.
#[derive(Serialize, Deserialize, Debug)]
struct Unread {
    #[serde(skip_deserializing)]
    seq: u8,
    mode: u8,
}
sinew::message!(Unread);
sinew::message!(Add);
sinew::message!(Sum<'a>);

fn every() -> Every {
    Every {
        small: -3,
        wide: i64::MIN,
        real: 0.5,
        text: "größer".to_owned(),
        modes: vec![Mode::On, Mode::Off],
        matrix: [[1.0, 2.0], [3.0, 4.0]],
        shapes: vec![Shape::Nothing, Shape::Circle { radius: 2.5 }, Shape::Box(1, 2), Shape::Named("x".to_owned())],
        perhaps: Some(None),
        ordered: BTreeMap::from([("a".to_owned(), 1), ("b".to_owned(), 2)]),
        flags: vec![true, false, true],
        pair: (9, "nine".to_owned()),
        last: 255,
    }
}

fn connected<T: sinew::Message>(publisher: &Publisher<T>) {
    assert!(eventually(|| publisher.statistics().subscribers == 1), "the subscriber does not come");
}

#[test]
fn any_type_is_received_as_it_was_published() {
    let domain = Domain::new();
    let node = domain.node("node");
    let publisher = Publisher::<Every>::new(&node, "every", &Qos::default()).unwrap();
    let subscriber = Subscriber::<Every>::new(&node, "every", &Qos::default()).unwrap();
    connected(&publisher);
    publisher.publish(&every()).unwrap();
    let received = subscriber.take(LONG).unwrap().expect("it comes");
    assert_eq!(received.read().unwrap(), every());
    assert_eq!(received.info().publisher, "node");
}

#[test]
fn a_stream_is_what_the_signature_says() {
    let domain = Domain::new();
    let node = domain.node("node");
    let publisher = Publisher::<Every>::new(&node, "every", &Qos::default()).unwrap();
    let signature = signature_of::<Every>().unwrap();
    let subscriber = raw::Subscriber::new(&node, "every", &signature, &Qos::default(), Default::default()).unwrap();
    connected(&publisher);
    publisher.publish(&every()).unwrap();
    let frame = subscriber.take(LONG).unwrap().expect("it comes");
    let ty: Type = signature.parse().unwrap();
    let mut reader = frame.reader().unwrap();
    reader.skip_value(&ty).unwrap();
    assert_eq!(reader.left(), 0);
}

#[test]
fn slices_lie_where_their_publisher_wrote_them() {
    let domain = Domain::new();
    let (lidar, viewer) = (domain.node("lidar"), domain.node("viewer"));
    let publisher = Publisher::<Scan>::new(&lidar, "scan", &Qos::default()).unwrap();
    let subscriber = Subscriber::<Scan>::new(&viewer, "scan", &Qos::default()).unwrap();
    connected(&publisher);
    let ranges: Vec<f32> = (0..100_000).map(|n| n as f32).collect();
    let header = Header { stamp_ns: 5, frame_id: "laser" };
    let scan = Scan { header, ranges: ranges[..].into(), is_clear: true, stamps: vec![1, 2].into() };
    publisher.publish(&scan).unwrap();
    let received = subscriber.take(LONG).unwrap().expect("it comes");
    let read = received.read().unwrap();
    assert_eq!(read, scan);
    let lies_in_frame = |at: *const u8| received.frame().extents().any(|extent| extent.as_ptr_range().contains(&at));
    assert!(lies_in_frame(read.ranges.as_ptr().cast()));
    assert!(lies_in_frame(read.stamps.as_ptr().cast()));
    assert!(lies_in_frame(read.header.frame_id.as_ptr()));
    assert_eq!(publisher.statistics().bytes_copied + subscriber.statistics().bytes_copied, 0);
}

#[test]
fn room_is_written_in_shared_memory() {
    let domain = Domain::new();
    let node = domain.node("node");
    let publisher = Publisher::<Scan>::new(&node, "scan", &Qos::default()).unwrap();
    let subscriber = Subscriber::<Scan>::new(&node, "scan", &Qos::default()).unwrap();
    connected(&publisher);
    let header = Header { stamp_ns: 5, frame_id: "laser" };
    let scan = Scan { header, ranges: Slice::room(5000), is_clear: false, stamps: Slice::room(3) };
    let mut loan = publisher.loan(&scan).unwrap();
    assert_eq!(loan.room::<u64>(0).unwrap_err().to_string(), "room 0 is for float32, not for uint64");
    assert_eq!(loan.room::<u64>(2).unwrap_err().kind(), ErrorKind::InvalidArgument);
    loan.room::<f32>(0).unwrap().fill(1.5);
    loan.room::<u64>(1).unwrap()[2] = 7;
    loan.publish().unwrap();
    let received = subscriber.take(LONG).unwrap().expect("it comes");
    let read = received.read().unwrap();
    assert_eq!((read.ranges.len(), read.ranges[4999]), (5000, 1.5));
    assert_eq!(*read.stamps, [0, 0, 7]);
}

#[test]
fn room_for_nothing_is_an_empty_slice_wherever_it_stands() {
    #[derive(Serialize, Deserialize)]
    struct Cloud<'a> {
        stamp: u64,
        #[serde(borrow)]
        points: Slice<'a, f64>,
    }
    sinew::message!(Cloud<'a>);
    let domain = Domain::new();
    let node = domain.node("node");
    let publisher = Publisher::<Cloud>::new(&node, "cloud", &Qos::default()).unwrap();
    let subscriber = Subscriber::<Cloud>::new(&node, "cloud", &Qos::default()).unwrap();
    connected(&publisher);
    let mut loan = publisher.loan(&Cloud { stamp: 7, points: Slice::room(0) }).unwrap();
    assert!(loan.room::<f64>(0).unwrap().is_empty());
    assert_eq!(loan.room::<f32>(0).unwrap_err().kind(), ErrorKind::InvalidArgument);
    loan.publish().unwrap();
    let received = subscriber.take(LONG).unwrap().expect("it comes");
    let read = received.read().unwrap();
    assert_eq!((read.stamp, read.points.len()), (7, 0));
}

#[test]
fn bytes_are_lent_in_whatever_order_the_numbers_of_the_stream_are() {
    #[derive(Serialize, Deserialize)]
    struct Blob<'a> {
        #[serde(borrow)]
        data: &'a [u8],
    }
    sinew::message!(Blob<'a>);
    let domain = Domain::new();
    let node = domain.node("node");
    let publisher = raw::Publisher::new(&node, "blob", &signature_of::<Blob>().unwrap(), &Qos::keep_last(2), Default::default()).unwrap();
    let subscriber = Subscriber::<Blob>::new(&node, "blob", &Qos::keep_last(2)).unwrap();
    assert!(eventually(|| publisher.statistics().subscribers == 1));
    for stream in [[0, 1, 0, 0, 3, 0, 0, 0, 7, 8, 9], [0, 0, 0, 0, 0, 0, 0, 3, 7, 8, 9]] {
        publisher.publish(&[&stream]).unwrap();
        assert_eq!(subscriber.take(LONG).unwrap().expect("it comes").read().unwrap().data, [7, 8, 9]);
    }
}

#[test]
fn what_is_no_message_of_the_type_is_an_error() {
    let domain = Domain::new();
    let node = domain.node("node");
    let signature = signature_of::<Every>().unwrap();
    let wild = raw::Publisher::new(&node, "every", &signature, &Qos::keep_last(512), Default::default()).unwrap();
    let subscriber = Subscriber::<Every>::new(&node, "every", &Qos::keep_last(512)).unwrap();
    assert!(eventually(|| wild.statistics().subscribers == 1));
    let publisher = Publisher::<Every>::new(&node, "own", &Qos::default()).unwrap();
    let own = raw::Subscriber::new(&node, "own", &signature, &Qos::default(), Default::default()).unwrap();
    connected(&publisher);
    publisher.publish(&every()).unwrap();
    let right = own.take(LONG).unwrap().expect("it comes").to_vec();
    for cut in 4..right.len() - 1 {
        wild.publish(&[&right[..cut]]).unwrap();
        let received = subscriber.take(LONG).unwrap().expect("it comes");
        assert_eq!(received.read().unwrap_err().kind(), ErrorKind::InvalidMessage, "cut at {cut}");
    }
    for at in 4..right.len() {
        for byte in [0xff, 0x80, 0x01] {
            let mut wrong = right.clone();
            wrong[at] ^= byte;
            wild.publish(&[&wrong]).unwrap();
            // No more than that it comes back.
            let _ = subscriber.take(LONG).unwrap().expect("it comes").read();
        }
    }
}

#[test]
fn topics_of_other_types_are_refused_with_the_field_that_differs() {
    #[derive(Serialize, Deserialize)]
    #[serde(rename = "robot/Scan")]
    struct Other<'a> {
        #[serde(borrow)]
        header: Header<'a>,
        ranges: Slice<'a, f64>,
        is_clear: bool,
        stamps: Slice<'a, u64>,
    }
    sinew::message!(Other<'a>);
    let domain = Domain::new();
    let node = domain.node("node");
    let _publisher = Publisher::<Scan>::new(&node, "scan", &Qos::default()).unwrap();
    let error = Subscriber::<Other>::new(&node, "scan", &Qos::default()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TypeMismatch);
    assert!(error.to_string().contains("field 'ranges' differs"), "{error}");
}

#[test]
fn types_that_cannot_be_messages_are_refused_where_they_are_used() {
    #[derive(Serialize, Deserialize)]
    struct Letter {
        letter: char,
    }
    sinew::message!(Letter);
    let domain = Domain::new();
    let error = Publisher::<Letter>::new(&domain.node("node"), "letters", &Qos::default()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    assert!(error.to_string().contains("Letter is no type of messages: a char"), "{error}");
}

#[test]
fn variants_of_an_enumeration_are_numbered_in_their_order_and_other_values_are_those_of_a_structure() {
    #[derive(Serialize, Deserialize, PartialEq, Debug)]
    #[serde(rename = "robot/Gear(uint8)")]
    enum Gear {
        Low = 3,
        High = 7,
    }
    #[derive(Serialize, Deserialize, PartialEq, Debug)]
    #[serde(rename = "robot/Fault(uint8)")]
    struct Fault(u8);
    #[derive(Serialize, Deserialize, PartialEq, Debug)]
    struct Drive {
        gears: [Gear; 2],
        fault: Fault,
    }
    sinew::message!(Drive);
    let domain = Domain::new();
    let node = domain.node("node");
    let publisher = Publisher::<Drive>::new(&node, "drive", &Qos::default()).unwrap();
    let signature = "Drive{gears:robot/Gear(uint8)[2];fault:robot/Fault(uint8);}";
    let raw = raw::Subscriber::new(&node, "drive", signature, &Qos::default(), Default::default()).unwrap();
    connected(&publisher);
    let drive = Drive { gears: [Gear::Low, Gear::High], fault: Fault(7) };
    publisher.publish(&drive).unwrap();
    assert_eq!(raw.take(LONG).unwrap().expect("it comes").to_vec()[4..], [0, 1, 7]);
}

#[test]
fn a_type_with_skipped_variants_is_refused_unless_these_are_the_last_ones() {
    #[derive(Serialize, Deserialize)]
    #[serde(rename = "robot/Estop(uint8)")]
    enum Estop {
        Released,
        #[serde(skip)]
        Unknown,
        Pressed,
    }
    #[derive(Serialize, Deserialize)]
    enum Target {
        #[serde(skip)]
        Unknown,
        Speed(f64),
        Place {
            x: f64,
        },
    }
    /// By other names, too, which have no numbers.
    #[derive(Serialize, Deserialize, PartialEq, Debug)]
    #[serde(rename = "robot/Light(uint8)")]
    enum Light {
        #[serde(alias = "Dark")]
        Off,
        #[serde(alias = "Bright")]
        On,
        #[serde(skip)]
        Unknown,
    }
    #[derive(Serialize, Deserialize, PartialEq, Debug)]
    struct Lights {
        all: Vec<Light>,
    }
    sinew::message!(Estop);
    sinew::message!(Target);
    sinew::message!(Lights);
    fn is_refused<T: sinew::Message>(_skipped: &T, why: &str) {
        let error = signature_of::<T>().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidArgument);
        assert!(error.to_string().contains(why), "{error}");
    }
    is_refused(&Estop::Unknown, "variant 'Pressed' of the enum 'robot/Estop(uint8)' is written as 2 and read as 1");
    is_refused(&Target::Unknown, "variant 'Speed' of the enum 'Target' is written as 1 and read as 0: put skipped variants last");
    let domain = Domain::new();
    let node = domain.node("node");
    let publisher = Publisher::<Lights>::new(&node, "lights", &Qos::default()).unwrap();
    let subscriber = Subscriber::<Lights>::new(&node, "lights", &Qos::default()).unwrap();
    connected(&publisher);
    assert_eq!(publisher.publish(&Lights { all: vec![Light::Unknown] }).unwrap_err().kind(), ErrorKind::InvalidMessage);
    let lights = Lights { all: vec![Light::On, Light::Off] };
    publisher.publish(&lights).unwrap();
    assert_eq!(subscriber.take(LONG).unwrap().expect("it comes").read().unwrap(), lights);
}

#[test]
fn arrays_of_more_than_32_elements_are_arrays_by_serde_big_array() {
    #[derive(Serialize, Deserialize, PartialEq, Debug)]
    struct Pose {
        #[serde(with = "serde_big_array::BigArray")]
        covariance: [f64; 36],
        last: u8,
    }
    sinew::message!(Pose);
    assert_eq!(signature_of::<Pose>().unwrap(), "Pose{covariance:float64[36];last:uint8;}");
    let domain = Domain::new();
    let node = domain.node("node");
    let publisher = Publisher::<Pose>::new(&node, "pose", &Qos::default()).unwrap();
    let subscriber = Subscriber::<Pose>::new(&node, "pose", &Qos::default()).unwrap();
    connected(&publisher);
    let pose = Pose { covariance: std::array::from_fn(|n| n as f64), last: 9 };
    publisher.publish(&pose).unwrap();
    assert_eq!(subscriber.take(LONG).unwrap().expect("it comes").read().unwrap(), pose);
}

#[test]
fn a_message_that_leaves_a_field_out_is_refused() {
    #[derive(Serialize, Deserialize)]
    struct Skips {
        #[serde(skip_serializing_if = "is_zero")]
        number: u8,
        all: HashMap<String, String>,
    }
    fn is_zero(number: &u8) -> bool {
        *number == 0
    }
    sinew::message!(Skips);
    let domain = Domain::new();
    let publisher = Publisher::<Skips>::new(&domain.node("node"), "skips", &Qos::default()).unwrap();
    publisher.publish(&Skips { number: 1, all: HashMap::new() }).unwrap();
    let error = publisher.publish(&Skips { number: 0, all: HashMap::new() }).unwrap_err();
    assert!(error.to_string().contains("'number'"), "{error}");
    assert_eq!(publisher.statistics().published, 1);
}

#[test]
fn a_message_that_is_not_serialized_as_it_is_deserialized_is_refused() {
    #[derive(Serialize, Deserialize)]
    struct Unwritten {
        #[serde(skip_serializing)]
        _seq: u8,
        mode: u8,
    }
    sinew::message!(Unwritten);
    fn is_refused<T: sinew::Message>(message: &T::Read<'_>) {
        let domain = Domain::new();
        let publisher = Publisher::<T>::new(&domain.node("node"), "mode", &Qos::default()).unwrap();
        for error in [publisher.publish(message).unwrap_err(), publisher.loan(message).unwrap_err()] {
            assert_eq!(error.kind(), ErrorKind::InvalidMessage);
            assert!(error.to_string().contains("it is not serialized as it is deserialized: "), "{error}");
        }
        assert_eq!(publisher.statistics().published, 0);
    }
    is_refused::<Unread>(&Unread { seq: 1, mode: 2 });
    is_refused::<Unwritten>(&Unwritten { _seq: 1, mode: 2 });
}

#[test]
fn requests_and_responses_that_are_not_serialized_as_they_are_deserialized_are_refused() {
    let domain = Domain::new();
    let node = domain.node("node");
    let (sender, errors) = mpsc::channel();
    let _provider = Provider::<Add, Unread>::new(&node, "mode", &Default::default(), move |call| {
        sender.send(call.answer(&Unread { seq: 1, mode: 2 })).unwrap();
    })
    .unwrap();
    let client = Client::<Add, Unread>::new(&node, "mode", &Default::default()).unwrap();
    assert_eq!(client.call(&Add { a: 1, b: 2 }, LONG).unwrap_err().kind(), ErrorKind::Failed);
    assert_eq!(errors.recv_timeout(LONG).unwrap().unwrap_err().kind(), ErrorKind::InvalidMessage);
    let client = Client::<Unread, Add>::new(&node, "set", &Default::default()).unwrap();
    let request = Unread { seq: 1, mode: 2 };
    for error in [client.call(&request, LONG).unwrap_err(), client.start(&request, LONG).unwrap_err()] {
        assert_eq!(error.kind(), ErrorKind::InvalidMessage);
    }
    assert_eq!(client.statistics().calls, 0);
}

#[tokio::test]
async fn a_task_gets_messages() {
    let domain = Domain::new();
    let node = domain.node("node");
    let publisher = Publisher::<Add>::new(&node, "add", &Qos::default()).unwrap();
    let mut messages = Messages::<Add>::new(&node, "add", &Qos::default(), Default::default()).unwrap();
    connected(&publisher);
    publisher.publish(&Add { a: 1, b: 2 }).unwrap();
    assert_eq!(messages.recv().await.read().unwrap(), Add { a: 1, b: 2 });
    assert_eq!(messages.frames().lost(), 0);
}

#[test]
fn callbacks_get_messages() {
    let domain = Domain::new();
    let node = domain.node("node");
    let publisher = Publisher::<Add>::new(&node, "add", &Qos::default()).unwrap();
    let (sender, sums) = mpsc::channel();
    let _subscriber = Subscriber::<Add>::with_callback(&node, "add", &Qos::default(), Default::default(), move |received| {
        let add = received.read().unwrap();
        sender.send(add.a + add.b).unwrap();
    })
    .unwrap();
    connected(&publisher);
    publisher.publish(&Add { a: 1, b: 2 }).unwrap();
    assert_eq!(sums.recv_timeout(LONG), Ok(3));
}

#[tokio::test]
async fn services_have_requests_and_responses_of_types() {
    let domain = Domain::new();
    let node = domain.node("node");
    let _provider = Provider::<Add, Sum>::new(&node, "add", &Default::default(), |call| {
        let add = call.request().unwrap();
        let sum = Sum { sum: add.a + add.b, by: "me" };
        if sum.sum == 0 { call.fail("that is nothing") } else { call.answer(&sum) }.unwrap();
    })
    .unwrap();
    let client = Client::<Add, Sum>::new(&node, "add", &Default::default()).unwrap();
    let response = client.start(&Add { a: 2, b: 3 }, LONG).unwrap().await.unwrap();
    assert_eq!(response.read().unwrap(), Sum { sum: 5, by: "me" });
    let error = client.call(&Add { a: 1, b: -1 }, LONG).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Failed);
    assert!(error.to_string().contains("that is nothing"), "{error}");
}
