//! What gateways say to each other, as bytes.

use std::path::Path;
use std::time::Duration;

use proptest::prelude::*;
use sinew_gateway::protocol::{
    Answer, CALL_STREAM, CallHead, Control, End, Had, Hello, Kind, LOOK_STREAM, MAX_CATALOGUE, MAX_CONTROL, Offer, Packing, REPAIR_STREAM,
    RecordHead, Refusal, RepairHead, Status, TOPIC_STREAM, TopicHead, Want,
};

const MOST: u64 = 1 << 26;

/// The bytes of a golden vector.
fn vector(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../spec/vectors/gateway").join(name).with_extension("hex");
    let text = std::fs::read_to_string(path).expect("the vector is there");
    let digits = text.lines().flat_map(|line| line.split('#').next().unwrap_or_default().split_whitespace());
    digits.map(|byte| u8::from_str_radix(byte, 16).expect("two digits")).collect()
}

fn latched() -> Offer {
    Offer { depth: 5, reliable: true, transient_local: true, ..Offer::default() }
}

fn samples() -> Vec<(&'static str, Control)> {
    let hello = Hello {
        version: 1,
        id: std::array::from_fn(|at| at as u8),
        name: "drone 1".to_owned(),
        tag: "drone".to_owned(),
        node: "gateway_00010203".to_owned(),
        compression: 3,
        max_message: MOST,
        clock: 3_600_000_000_000,
    };
    let image = Want {
        channel: 7,
        kind: Kind::Topic,
        name: "camera/image".to_owned(),
        signature: "robot/Image{width:uint32;data:uint8[];}".to_owned(),
        response: String::new(),
        offer: latched(),
    };
    let number = "calc/Number{value:uint32;}".to_owned();
    let double = Want {
        channel: 8,
        kind: Kind::Service,
        name: "double".to_owned(),
        signature: number.clone(),
        response: number,
        offer: Offer::default(),
    };
    let offer = Offer { deadline: Some(Duration::from_millis(33)), lifespan: Some(Duration::from_millis(100)), ..latched() };
    let text = "field 'width' is uint64 there, and uint32 here".to_owned();
    vec![
        ("Hello", Control::Hello(hello)),
        ("Want", Control::Want(image)),
        ("WantService", Control::Want(double)),
        ("Unwant", Control::Unwant { channel: 7 }),
        ("Open", Control::Open { channel: 7, ordered: true, after: 12, offer }),
        ("Close", Control::Close { channel: 7, end: End { sent: 11, last: 12 } }),
        ("Refuse", Control::Refuse { channel: 7, reason: Refusal::Type, text }),
        ("Ready", Control::Ready),
        ("Onward", Control::Onward { channel: 7 }),
        ("Taken", Control::Taken { channel: 7, sequence: 12 }),
        ("Anew", Control::Anew { channel: 7 }),
        ("Forgotten", Control::Forgotten),
    ]
}

#[test]
fn every_control_message_is_encoded_as_its_golden_vector_and_decoded_from_it() {
    for (name, control) in samples() {
        let bytes = vector(name);
        assert_eq!(control.encode(), bytes, "{name}");
        assert_eq!(Control::decode(&bytes[4..]), Ok(Some(control)), "{name}");
    }
}

#[test]
fn streams_begin_as_their_golden_vectors() {
    let head = TopicHead { channel: 7, index: 0 };
    let record =
        RecordHead { sequence: 12, origin: 0x1122_3344_5566_7788, age_ns: 1_500_000, packing: Packing::None, size: 15, unpacked: 15 };
    let bytes = vector("TopicStream");
    let (first, second) = (1 + TopicHead::SIZE, 1 + TopicHead::SIZE + RecordHead::SIZE);
    assert_eq!((bytes[0], [head.encode(), record.encode()].concat()), (TOPIC_STREAM, bytes[..second].to_vec()));
    assert_eq!(TopicHead::decode(bytes[1..first].try_into().expect("as long")), head);
    assert_eq!(RecordHead::decode(bytes[first..second].try_into().expect("as long"), MOST), Ok(record));

    let repair = RepairHead { channel: 7, sequence: 12, size: 1_000_000, first: 499_712, repairs: 58, index: 4 };
    let bytes = vector("RepairStream");
    assert_eq!((bytes[0], repair.encode()), (REPAIR_STREAM, bytes[..=RepairHead::SIZE].to_vec()));
    assert_eq!(RepairHead::decode(bytes[1..=RepairHead::SIZE].try_into().expect("as long")), Ok(repair));

    let call = CallHead { channel: 8, call: 3, packing: Packing::None, size: 8, unpacked: 8 };
    let bytes = vector("CallStream");
    assert_eq!((bytes[0], call.encode()), (CALL_STREAM, bytes[..=CallHead::SIZE].to_vec()));
    assert_eq!(CallHead::decode(bytes[1..=CallHead::SIZE].try_into().expect("as long"), MOST), Ok(call));

    let answer = Answer { status: Status::Executed, packing: Packing::None, size: 8, unpacked: 8 };
    let bytes = vector("AnswerStream");
    assert_eq!(answer.encode(), bytes[..Answer::SIZE]);
    assert_eq!(Answer::decode(bytes[..Answer::SIZE].try_into().expect("as long"), MOST), Ok(answer));
}

fn catalogue() -> Vec<Had> {
    let number = "calc/Number{value:uint32;}".to_owned();
    let image = "robot/Image{width:uint32;data:uint8[];}".to_owned();
    vec![
        Had { kind: Kind::Topic, name: "camera/image".to_owned(), signature: image, response: String::new(), offer: latched() },
        Had { kind: Kind::Service, name: "double".to_owned(), signature: number.clone(), response: number, offer: Offer::default() },
    ]
}

#[test]
fn a_catalogue_is_encoded_as_its_golden_vector_and_decoded_from_it() {
    let bytes = vector("LookStream");
    assert_eq!(bytes[0], LOOK_STREAM);
    let (head, body) = bytes[1..].split_at(Answer::SIZE);
    let size = body.len() as u32;
    let told = Answer { status: Status::Executed, packing: Packing::None, size, unpacked: size };
    assert_eq!((head, body), (&told.encode()[..], &Had::encode_all(&catalogue())[..]));
    assert_eq!(Had::decode_all(body), Ok(catalogue()));
    for end in 1..body.len() {
        let whole = Had::encode_all(&catalogue()[..1]).len();
        assert_eq!(Had::decode_all(&body[..end]).is_ok(), end == whole, "{end} bytes");
    }
}

#[test]
fn of_a_catalogue_that_is_too_large_what_does_not_fit_is_left_out() {
    let entry = |at: usize, size: usize| Had { name: format!("n{at}"), signature: "s".repeat(size), ..catalogue().swap_remove(0) };
    let many: Vec<Had> = (0..5000).map(|at| entry(at, 10)).collect();
    assert_eq!(Had::decode_all(&Had::encode_all(&many)).map(|told| told.len()), Ok(4096));
    let large: Vec<Had> = (0..200).map(|at| entry(at, 32_000)).collect();
    let bytes = Had::encode_all(&large);
    assert!(bytes.len() <= MAX_CATALOGUE && bytes.len() > MAX_CATALOGUE - 33_000);
    assert_eq!(Had::decode_all(&bytes).map(|told| told[..] == large[..told.len()]), Ok(true));
    let one = Had::encode_all(&catalogue()[..1]);
    assert!(Had::decode_all(&one.repeat(4096)).is_ok() && Had::decode_all(&one.repeat(4097)).is_err());
}

#[test]
fn a_message_that_ends_early_or_late_is_a_violation() {
    for (name, control) in samples() {
        let bytes = control.encode();
        for end in 4..bytes.len() {
            assert!(Control::decode(&bytes[4..end]).is_err(), "{name}, {} bytes", end - 4);
        }
        assert!(Control::decode(&[&bytes[4..], &[0]].concat()).is_err(), "{name} with a byte behind it");
    }
}

#[test]
fn a_message_of_a_type_that_is_yet_to_come_is_skipped() {
    for kind in 12..=255 {
        assert_eq!(Control::decode(&[kind, 1, 2, 3]), Ok(None));
    }
    assert!(Control::decode(&[0]).is_err());
}

#[test]
fn what_no_sender_may_say_is_a_violation() {
    let want = |change: &dyn Fn(&mut Want)| {
        let mut want = match samples().swap_remove(1).1 {
            Control::Want(want) => want,
            other => panic!("{other:?}"),
        };
        change(&mut want);
        Control::decode(&Control::Want(want).encode()[4..])
    };
    assert!(want(&|_| ()).is_ok());
    assert!(want(&|want| want.name.clear()).is_err());
    assert!(want(&|want| want.name = "n".repeat(256)).is_err());
    assert!(want(&|want| want.name.push('\0')).is_err());
    assert!(want(&|want| want.signature = "s".repeat(32_769)).is_err());
    assert!(want(&|want| want.response.push('r')).is_err());
    // A bool that is 2, and a deadline of more than a hundred years.
    let mut open = samples().swap_remove(4).1.encode().split_off(4);
    open[5] = 2;
    assert!(Control::decode(&open).is_err());
    (open[5], open[27]) = (1, 0xff);
    assert!(Control::decode(&open).is_err());
    let close = |sent, last| Control::decode(&Control::Close { channel: 7, end: End { sent, last } }.encode()[4..]);
    assert!(close(0, u64::MAX).is_ok() && close(12, 12).is_ok() && close(13, 12).is_err());
}

#[test]
fn a_message_that_is_larger_than_is_taken_is_a_violation_packed_or_not() {
    let head = |packing, size, unpacked| RecordHead { sequence: 1, origin: 0, age_ns: 0, packing, size, unpacked };
    let decoded = |head: RecordHead| RecordHead::decode(head.encode()[..].try_into().expect("as long"), 1000);
    assert!(decoded(head(Packing::None, 1000, 1000)).is_ok());
    assert!(decoded(head(Packing::None, 1001, 1001)).is_err());
    assert!(decoded(head(Packing::None, 10, 11)).is_err());
    assert!(decoded(head(Packing::Zstd, 10, 1000)).is_ok());
    assert!(decoded(head(Packing::Zstd, 10, 1001)).is_err());
    assert!(decoded(head(Packing::Lz4, 1001, 10)).is_err());
    assert!(decoded(RecordHead { sequence: 0, ..head(Packing::None, 1, 1) }).is_err());
}

#[test]
fn the_longest_message_fits_and_a_text_that_is_too_long_is_cut_between_characters() {
    let long = "s".repeat(32_768);
    let want =
        Want { channel: u32::MAX, kind: Kind::Service, name: "n".repeat(255), signature: long.clone(), response: long, offer: latched() };
    assert!(Control::Want(want).encode().len() <= MAX_CONTROL);
    let text = format!("{}ä", "t".repeat(16_383));
    let refuse = Control::Refuse { channel: 1, reason: Refusal::Domain, text }.encode();
    match Control::decode(&refuse[4..]) {
        Ok(Some(Control::Refuse { text, .. })) => assert_eq!(text, "t".repeat(16_383)),
        other => panic!("{other:?}"),
    }
}

proptest! {
    #[test]
    fn no_bytes_make_the_decoder_fail_otherwise_than_with_a_violation(bytes in prop::collection::vec(any::<u8>(), 0..300), kind in 0..10_u8) {
        let _ = Control::decode(&bytes);
        let _ = Control::decode(&[&[kind], &bytes[..]].concat());
        if let Some(head) = bytes.first_chunk() {
            let _ = RecordHead::decode(head, MOST);
        }
        if let Some(head) = bytes.first_chunk() {
            let _ = CallHead::decode(head, MOST);
        }
        if let Some(head) = bytes.first_chunk() {
            let _ = Answer::decode(head, MOST);
        }
    }

    #[test]
    fn what_is_decoded_is_encoded_as_it_was(at in 0..10_usize, change in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4)) {
        let mut bytes = samples().swap_remove(at).1.encode().split_off(4);
        for (index, byte) in change {
            let index = index.index(bytes.len());
            bytes[index] = byte;
        }
        if let Ok(Some(control)) = Control::decode(&bytes) {
            prop_assert_eq!(&control.encode()[4..], &bytes);
        }
    }
}
