//! Any bytes as what a program of ROS 1 says: the first one chooses as what.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use sinew_gateway::ros1::header::Header;
use sinew_gateway::ros1::xml::{self, Call};
use sinew_msg::ros1::{Definition, Plan};
use sinew_msg::stream::Reader;

fuzz_target!(|bytes: &[u8]| {
    let Some((kind, bytes)) = bytes.split_first() else { return };
    match kind % 4 {
        0 => {
            let text = String::from_utf8_lossy(bytes);
            question(&text);
            let _ = xml::read_answer(&text);
        }
        1 => header(bytes),
        2 => definition(&String::from_utf8_lossy(bytes)),
        _ => message(bytes),
    }
});

fn question(text: &str) {
    // Carriage returns and the like are read as XML has them, and what is no value of ours cannot be written.
    if let Ok(call) = Call::read(text)
        && call.arguments.is_empty()
        && call.method.bytes().all(|byte| byte.is_ascii_graphic())
    {
        assert_eq!(Call::read(&call.write()), Ok(call), "NOT TRUE: what is read is written and read again as the same");
    }
}

fn header(bytes: &[u8]) {
    if let Ok(header) = Header::decode(bytes) {
        assert_eq!(Header::decode(&header.encode()[4..]), Ok(header), "NOT TRUE: what is decoded is encoded and decoded again as the same");
    }
}

fn definition(text: &str) {
    let Ok(definition) = Definition::read("fuzz/Main", text) else { return };
    let again = Definition::read("fuzz/Main", &definition.text()).map(|again| again.md5sum());
    assert_eq!(again, Ok(definition.md5sum()), "NOT TRUE: its text is a definition of the same type");
    if let Ok(ty) = definition.ty() {
        assert_eq!(Plan::new(&ty, &definition).err(), None, "NOT TRUE: messages of it can go over as those of its own type");
    }
}

/// With whatever a message may have.
static ANY: LazyLock<Plan> = LazyLock::new(|| {
    let parts = "===\nMSG: std_msgs/Header\nuint32 seq\ntime stamp\nstring frame_id\n===\nMSG: fuzz/Empty\n===\nMSG: fuzz/Part\nuint8 a\nfloat64[] b\nstring[2] c\n";
    let text = format!(
        "Header header\nbool[] yes\nPart[] parts\nPart[2] two\nuint16[3] three\nEmpty[] none\nEmpty one\nduration d\nstring s\n{parts}"
    );
    let definition = Definition::read("fuzz/Any", &text).expect("it is one");
    Plan::new(&definition.ty().expect("it is not large"), &definition).expect("it is its own")
});

/// Through a stream, and back.
fn over(bytes: &[u8]) -> Option<Vec<u8>> {
    let size = ANY.size_of_stream(bytes).ok()?;
    assert!(size <= 64 * (bytes.len() + 64) + (1 << 20), "NOT TRUE: a stream is not much larger than its message: {size}");
    let mut stream = vec![0; size];
    ANY.write_stream(bytes, &mut stream).expect("NOT TRUE: what has a size can be written");
    let seq = u32::from_le_bytes(*bytes.first_chunk().expect("NOT TRUE: it has a header"));
    let mut back = Vec::new();
    let written = Reader::new(&[&stream[..]]).and_then(|reader| ANY.write_message(reader, seq, &mut back));
    written.expect("NOT TRUE: what was written is a stream");
    Some(back)
}

fn message(bytes: &[u8]) {
    // True may have been another number than 1.
    let Some(back) = over(bytes) else { return };
    assert!(over(&back).expect("NOT TRUE: what comes back is a message") == back, "NOT TRUE: it comes back as it was");
    let alike = |(was, is): (&u8, &u8)| was == is || (*was > 1 && *is == 1);
    assert!(back.len() == bytes.len() && bytes.iter().zip(&back).all(alike), "NOT TRUE: nothing else changes");
}
