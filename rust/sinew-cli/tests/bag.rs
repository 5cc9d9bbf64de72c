//! `sinew bag info`: what is in files, also in those that were cut.

mod common;

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use common::Domain;
use sinew_bag::{Compression, Stamp, Topic, Writer};

/// A second of two topics, of which one lost messages.
fn write(path: &Path, compression: Compression) {
    let mut writer = Writer::create(path, compression).unwrap();
    let topic = |name: &str| Topic {
        name: name.into(),
        message_encoding: "cdr".into(),
        type_name: "test/msg/Number".into(),
        schema_encoding: "ros2msg".into(),
        schema: "uint64 value".into(),
        ..Default::default()
    };
    let ids = ["/imu", "/odometry"].map(|name| writer.add_topic(&topic(name)).unwrap());
    for n in 0..=10 {
        let time = 1_700_000_000_000_000_000 + u64::from(n) * 100_000_000;
        let stamp = Stamp { sequence: n, log_time: time, publish_time: time };
        writer.write(ids[0], &stamp, &[&[0, 1, 0, 0], &u64::from(n).to_le_bytes()]).unwrap();
        if n == 0 {
            writer.write(ids[1], &stamp, &[&[0, 1, 0, 0], &[0; 8]]).unwrap();
            writer.flush().unwrap();
        }
    }
    writer.write_metadata("sinew.lost", [("/imu".to_owned(), "4".to_owned())].into()).unwrap();
    writer.finish().unwrap();
}

fn file(folder: &tempfile::TempDir) -> PathBuf {
    let path = folder.path().join("a.mcap");
    write(&path, Compression::None);
    path
}

#[test]
fn a_file_is_shown_with_its_topics() {
    let (domain, folder) = (Domain::new(), tempfile::tempdir().unwrap());
    let path = file(&folder);
    let mut command = domain.command(&format!("bag info {}", path.display()));
    let text = String::from_utf8(command.env("TZ", "UTC").output().unwrap().stdout).unwrap();
    let expected = format!(
        "file      {}
size      {:.2} kB
begin     2023-11-14 22:13:20.000 +00:00
end       2023-11-14 22:13:21.000 +00:00
duration  1.000 s
messages  12
chunks    2, not compressed, 516 B
writer    sinew {} for ros2
lost      4 messages lost while it was recorded

topic      type             messages     rate  lost  encoding  schema
/imu       test/msg/Number        11  10.0 Hz     4  cdr       ros2msg
/odometry  test/msg/Number         1        -     0  cdr       ros2msg
",
        path.display(),
        fs::metadata(&path).unwrap().len() as f64 / 1000.0,
        env!("CARGO_PKG_VERSION")
    );
    assert_eq!(text, expected);
}

#[test]
fn a_file_is_told_as_json() {
    let (domain, folder) = (Domain::new(), tempfile::tempdir().unwrap());
    let told = domain.json(&format!("bag info {}", file(&folder).display()));
    assert_eq!((&told["messages"], &told["lost"], &told["cut"]), (&12.into(), &4.into(), &serde_json::Value::Null));
    assert_eq!(told["topics"][0]["hz"], 10.0);
    assert_eq!(told["chunks"][0]["compression"], "none");
}

#[test]
fn a_compressed_file_says_how_much() {
    let (domain, folder) = (Domain::new(), tempfile::tempdir().unwrap());
    let path = folder.path().join("a.mcap");
    write(&path, Compression::Zstd);
    let text = domain.text(&format!("bag info {}", path.display()));
    assert!(text.contains("chunks    2, zstd, ") && text.contains(" B of 516 B ("), "{text}");
}

#[test]
fn of_a_file_that_was_cut_it_is_shown_what_is_whole() {
    let (domain, folder) = (Domain::new(), tempfile::tempdir().unwrap());
    let path = file(&folder);
    let bytes = fs::read(&path).unwrap();
    let last = bytes.windows(12).position(|window| window == [&[0, 1, 0, 0][..], &10_u64.to_le_bytes()].concat()).unwrap();
    fs::write(&path, &bytes[..last]).unwrap();
    let text = domain.text(&format!("bag info {}", path.display()));
    assert!(text.contains("messages  11\n") && text.contains("not whole it ends within a record, which begins "), "{text}");
    assert_eq!(domain.json(&format!("bag info {}", path.display()))["topics"][0]["messages"], 10);
}

#[test]
fn of_a_file_that_was_cut_before_it_says_what_was_lost_that_is_not_known() {
    let (domain, folder) = (Domain::new(), tempfile::tempdir().unwrap());
    let path = file(&folder);
    let bytes = fs::read(&path).unwrap();
    let at = bytes.windows(10).position(|window| window == b"sinew.lost").unwrap();
    fs::write(&path, &bytes[..at]).unwrap();
    let told = domain.json(&format!("bag info {}", path.display()));
    assert_eq!((&told["lost"], &told["topics"][0]["lost"]), (&serde_json::Value::Null, &serde_json::Value::Null), "{told}");
    let text = domain.text(&format!("bag info {}", path.display()));
    assert!(text.contains("     ?  cdr "), "{text}");
}

#[test]
fn files_of_a_folder_are_shown_one_after_the_other() {
    let (domain, folder) = (Domain::new(), tempfile::tempdir().unwrap());
    for n in [10, 2] {
        write(&folder.path().join(format!("a_{n}.mcap")), Compression::None);
    }
    let text = domain.text(&format!("bag info --json {}", folder.path().display()));
    let files: Vec<serde_json::Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(files[0]["file"].as_str().unwrap().ends_with("a_2.mcap") && files[1]["file"].as_str().unwrap().ends_with("a_10.mcap"));
}

#[test]
fn what_cannot_be_read_of_a_folder_is_said_and_the_others_are_shown() {
    let (domain, folder) = (Domain::new(), tempfile::tempdir().unwrap());
    let empty = folder.path().join("a.mcap");
    fs::write(&empty, "").unwrap();
    let of_folder = format!("bag info --json {}", folder.path().display());
    let (status, complaint) = domain.complaint(&of_folder);
    assert!(status == 1 && complaint.ends_with("has no file that can be read\n"), "{complaint}");
    write(&folder.path().join("b.mcap"), Compression::None);
    let output = domain.run(&of_folder);
    let (text, said) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert!(output.status.success() && text.contains("b.mcap") && text.lines().count() == 1, "{text}{said}");
    assert!(said.starts_with("warning: left out: ") && said.contains("a.mcap is empty"), "{said}");
    assert_eq!(domain.complaint(&format!("bag info {}", empty.display())).0, 1, "it is named");
}

#[test]
fn what_cannot_be_read_is_said_with_what_to_do() {
    let (domain, folder) = (Domain::new(), tempfile::tempdir().unwrap());
    let path = folder.path().join("a.bag");
    fs::write(&path, "#ROSBAG V1.2\n").unwrap();
    let (status, complaint) = domain.complaint(&format!("bag info {}", path.display()));
    assert_eq!(status, 1);
    assert!(complaint.contains("is a bag of ROS 1 before version 2.0, which is not read"), "{complaint}");
    fs::remove_file(path).unwrap();
    let (_, complaint) = domain.complaint(&format!("bag info {}", folder.path().display()));
    assert!(complaint.contains("has no file to be read"), "{complaint}");
    fs::write(folder.path().join("a.db3"), "").unwrap();
    let (_, complaint) = domain.complaint(&format!("bag info {}", folder.path().display()));
    assert!(complaint.contains("but a database of rosbag2: `pip install rosbags`"), "{complaint}");
}

#[test]
fn files_whose_names_are_no_text_are_told_as_json_nevertheless() {
    let (domain, folder) = (Domain::new(), tempfile::tempdir().unwrap());
    let name = |name: &[u8]| folder.path().join(OsStr::from_bytes(name));
    [name(b"a\xff.mcap"), name(b"b.mcap")].iter().for_each(|path| write(path, Compression::None));
    let text = domain.text(&format!("bag info --json {}", folder.path().display()));
    let told: Vec<serde_json::Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let is_told = |end: &&str| told.iter().any(|told| told["file"].as_str().unwrap().ends_with(end));
    assert!(told.len() == 2 && ["/a\u{fffd}.mcap", "/b.mcap"].iter().all(is_told), "{text}");

    for (arguments, written) in [("", &b"c\xff.mcap"[..]), (" --split-time 1h", b"c\xff_0.mcap")] {
        let mut command = domain.command(&format!("record --json --max-duration 10ms{arguments} -o"));
        let output = command.arg(name(b"c\xff.mcap")).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        let told: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(told["files"][0]["path"], &*name(written).to_string_lossy());
        assert!(name(written).exists());
    }
}
