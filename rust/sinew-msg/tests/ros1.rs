//! Whatever is said to be a message of ROS 1 becomes a message, or a complaint.

mod common;

use common::any_value;
use proptest::prelude::*;
use sinew_msg::stream::Reader;
use sinew_msg::{print, transcode};

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2000) })]

    #[test]
    fn bytes_of_strangers_become_a_message_of_the_type_or_a_complaint((ty, value) in any_value(), garbage: Vec<u8>, at in any::<proptest::sample::Index>(), wrong: u8) {
        // The body of a stream is much like a message of ROS 1.
        let body = value.to_stream(&ty).unwrap().split_off(4);
        let mut changed = body.clone();
        if !changed.is_empty() {
            *at.get_mut(&mut changed) ^= wrong;
        }
        for message in [&garbage, &body, &changed] {
            let Ok(stream) = transcode::from_ros1(&ty, message) else { continue };
            prop_assert!(stream.len() <= 2 * message.len() + 16, "{} of {}", stream.len(), message.len());
            let mut reader = Reader::new(&[&stream]).unwrap();
            prop_assert!(print::json(&mut reader, &ty, &mut std::io::sink()).is_ok(), "{}", ty);
            prop_assert_eq!(reader.left(), 0);
        }
    }
}
