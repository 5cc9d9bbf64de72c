//! `sinew record`: what is published is in the files, whatever happens to the recorder.

mod common;
#[path = "common/record.rs"]
mod record;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

use common::{IMAGE, Running, eventually, is_stopped};
use record::{NUMBER, Recorder, Scene, connected, number, read, read_so_far};
use sinew::Qos;
use sinew::msg::{Type, schema};
use sinew::raw::{Client, Provider, Publisher};
use sinew_bag::{Bag, qos};

/// A recorder into a file, and whom it hears.
fn of_numbers() -> (Scene, Publisher, PathBuf, Recorder) {
    let scene = Scene::new();
    let (numbers, path) = (scene.publisher("number", NUMBER, &Qos::default()), scene.path("a.mcap"));
    let recorder = Recorder::start(&scene.domain, &format!("-o {}", path.display()));
    connected(&numbers);
    (scene, numbers, path, recorder)
}

fn image(stamp_ns: u64, size: usize) -> Vec<u8> {
    let data: Vec<u8> = (0..size).map(|at| (at as u64 * (stamp_ns + 1)) as u8).collect();
    let frame_id = [&5_u32.to_le_bytes()[..], b"left\0", &[0; 3]].concat();
    [&[0, 1, 0, 0][..], &stamp_ns.to_le_bytes(), &frame_id, &640_u32.to_le_bytes(), &(size as u32).to_le_bytes(), &data].concat()
}

#[test]
fn a_topic_with_variants_is_recorded_and_who_cannot_read_it_is_said() {
    let scene = Scene::new();
    let choice = scene.publisher("choice", "test/Choice{value:(uint32|string);}", &Qos::default());
    let path = scene.path("choice.mcap");
    let recorder = Recorder::start(&scene.domain, &format!("-o {}", path.display()));
    connected(&choice);
    let seven = [0, 1, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0];
    choice.publish(&[&seven]).unwrap();
    recorder.has_received(1);
    let (status, _, complaint) = recorder.interrupt();
    assert!(status.success() && complaint.contains("topic 'choice' has variants"), "{complaint}");
    assert_eq!(read(&path)["/choice"], [seven]);
}

#[test]
fn every_message_is_recorded_as_it_was_published() {
    let scene = Scene::new();
    let map = scene.publisher("map", NUMBER, &Qos { transient_local: true, ..Qos::keep_last(1) });
    map.publish(&[&number(7)]).unwrap();
    let images = scene.publisher("camera/image", IMAGE, &Qos { reliable: true, ..Qos::keep_last(20) });
    let empty = scene.publisher("stop", "test/Stop{}", &Qos::default());
    for (name, compression) in [("plain", "none"), ("lz4", "lz4"), ("zstd", "zstd")] {
        let path = scene.path(name);
        let recorder = Recorder::start(&scene.domain, &format!("-o {} --compression {compression}", path.display()));
        [&map, &images, &empty].into_iter().for_each(connected);
        let sizes = [3, 100, 5000, 70_000, 3_000_000, 0];
        let published: Vec<_> = sizes.iter().enumerate().map(|(n, size)| image(n as u64, *size)).collect();
        for image in &published {
            images.publish(&[image]).unwrap();
        }
        empty.publish(&[&[0, 1, 0, 0]]).unwrap();
        recorder.has_received(8);
        let (status, text, _) = recorder.interrupt();
        assert!(status.success() && text.contains("8 messages of 3 topics") && text.contains(", none lost"), "{text}");

        let read = read(&path);
        assert_eq!(read["/map"], [number(7)], "it was kept for who comes late");
        assert!(read["/camera/image"] == published, "{name}");
        assert_eq!(read["/stop"], [[0, 1, 0, 0, 0]], "ROS has no message without bytes");
        let bag = Bag::open(&path).unwrap();
        let topic = bag.topics().map(|(_, topic)| topic).find(|topic| topic.name == "/camera/image").unwrap();
        let ty: Type = IMAGE.parse().unwrap();
        assert_eq!(schema::parse(&topic.type_name, &topic.schema_encoding, &topic.schema), Ok(ty));
        assert_eq!((topic.message_encoding.as_str(), topic.type_name.as_str()), ("cdr", "robot/msg/Image"));
        assert_eq!(qos::from_yaml(&topic.metadata[qos::OFFERED_QOS]), Ok(Qos { reliable: true, ..Qos::keep_last(20) }));
        scene.has_no_recorder(&[&map, &images, &empty]);
    }
}

#[test]
fn times_are_those_of_the_calendar() {
    let (_scene, numbers, path, recorder) = of_numbers();
    let now = || std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_nanos() as u64;
    let before = now();
    numbers.publish(&[&number(1)]).unwrap();
    recorder.has_received(1);
    let after = now();
    recorder.interrupt();
    let times = Bag::open(&path).unwrap().times().unwrap();
    // Clocks are compared by a measurement.
    let tolerance = 1_000_000;
    assert!((before - tolerance..=after + tolerance).contains(&times.0), "{before} {times:?} {after}");
}

#[test]
fn only_what_is_asked_for_is_recorded_also_when_it_comes_later() {
    let scene = Scene::new();
    let path = scene.path("a.mcap");
    let recorder = Recorder::start(&scene.domain, &format!("-o {} --exclude **/debug -- camera/** lidar", path.display()));
    let publishers =
        ["camera/left", "camera/left/debug", "imu", "lidar"].map(|topic| (topic, scene.publisher(topic, NUMBER, &Qos::default())));
    connected(&publishers[0].1);
    connected(&publishers[3].1);
    publishers.iter().for_each(|(_, publisher)| publisher.publish(&[&number(1)]).unwrap());
    recorder.has_received(2);
    recorder.interrupt();
    assert_eq!(read(&path).into_keys().collect::<Vec<_>>(), ["/camera/left", "/lidar"]);
}

#[test]
fn what_services_send_is_recorded_where_it_is_asked_for() {
    let scene = Scene::new();
    let other = scene.domain.node("asks");
    let answer = |call: sinew::raw::Call| call.answer(&[&number(7)]).unwrap();
    let _provider = Provider::new(&scene.node, "add", NUMBER, NUMBER, &Default::default(), answer).unwrap();
    let client = Client::new(&other, "add", NUMBER, NUMBER, &Default::default()).unwrap();
    let numbers = scene.publisher("number", NUMBER, &Qos::default());
    for (name, arguments, expected) in
        [("a", "", 0), ("b", " --services", 2), ("c", " --services -- number add", 2), ("d", " --services number", 0)]
    {
        let path = scene.path(name);
        let recorder = Recorder::start(&scene.domain, &format!("-o {}{arguments}", path.display()));
        connected(&numbers);
        // Again, as long as it is not connected with both halves.
        let is_there = || {
            client.call(&[&number(5)], std::time::Duration::from_secs(30)).unwrap();
            numbers.publish(&[&number(1)]).unwrap();
            std::thread::sleep(std::time::Duration::from_millis(20));
            read_so_far(&path).len() == 1 + expected
        };
        assert!(eventually(is_there), "{name}");
        recorder.interrupt();
        scene.has_no_recorder(&[&numbers]);
        let read = read(&path);
        assert_eq!(read.len(), 1 + expected);
        if expected > 0 {
            let has = |topic: &str, value: u64| read[topic][0].windows(8).any(|bytes| bytes == value.to_le_bytes());
            assert!(has("/add@request", 5) && has("/add@response", 7), "{read:?}");
        }
    }
}

#[test]
fn files_are_split_by_size_and_each_is_whole() {
    let scene = Scene::new();
    let images = scene.publisher("camera/image", IMAGE, &Qos::default());
    let path = scene.path("drive.mcap");
    let recorder = Recorder::start(&scene.domain, &format!("-o {} --split-size 1MB --json", path.display()));
    connected(&images);
    let published: Vec<_> = (0..6).map(|n| image(n, 600_000)).collect();
    for (n, image) in published.iter().enumerate() {
        images.publish(&[image]).unwrap();
        recorder.has_received(n as u64 + 1);
    }
    let (_, text, _) = recorder.interrupt();
    let told: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!((&told["messages"], &told["lost"], &told["topics"][0]["name"]), (&6.into(), &0.into(), &"camera/image".into()));
    let files = told["files"].as_array().unwrap();
    assert_eq!(files.len(), 3);
    let mut found = Vec::new();
    for (n, file) in files.iter().enumerate() {
        let path = scene.path(&format!("drive_{n}.mcap"));
        assert_eq!(file["path"], path.to_str().unwrap());
        assert_eq!(Bag::open(&path).unwrap().cut(), None);
        found.extend(read(&path).remove("/camera/image").unwrap());
    }
    assert!(found == published);
}

#[test]
fn files_are_split_by_time() {
    let scene = Scene::new();
    let numbers = scene.publisher("number", NUMBER, &Qos::default());
    let recorder = Recorder::start(&scene.domain, &format!("-o {} --split-time 1ms", scene.path("a").display()));
    connected(&numbers);
    for n in 0..3 {
        numbers.publish(&[&number(n)]).unwrap();
        recorder.has_received(n + 1);
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    recorder.interrupt();
    for n in 0..3 {
        assert_eq!(read(&scene.path(&format!("a_{n}")))["/number"], [number(n)]);
    }
}

#[test]
fn a_recorder_that_is_killed_leaves_what_it_wrote() {
    let scene = Scene::new();
    let images = scene.publisher("camera/image", IMAGE, &Qos::default());
    let numbers = scene.publisher("number", NUMBER, &Qos::default());
    for compression in ["none", "zstd"] {
        for killed_after in [1, 5, 12] {
            let path = scene.path(&format!("{compression}-{killed_after}"));
            let recorder = Recorder::start(&scene.domain, &format!("-o {} -z {compression}", path.display()));
            connected(&images);
            connected(&numbers);
            let published: Vec<_> = (0..killed_after).map(|n| image(n, 700_000)).collect();
            for (n, image) in published.iter().enumerate() {
                numbers.publish(&[&number(n as u64)]).unwrap();
                images.publish(&[image]).unwrap();
            }
            recorder.has_received(2 * killed_after);
            // What is small is written within a second.
            let are_there =
                |read: BTreeMap<String, Vec<Vec<u8>>>| read.len() == 2 && read.values().all(|messages| messages.len() == published.len());
            assert!(eventually(|| are_there(read_so_far(&path))));
            recorder.signal("-KILL");
            recorder.end();
            scene.has_no_recorder(&[&images, &numbers]);
            let bag = Bag::open(&path).unwrap();
            assert!(bag.cut().is_some());
            let read = read(&path);
            assert!(read["/camera/image"] == published);
            assert_eq!(read["/number"].len() as u64, killed_after);
        }
    }
}

#[test]
fn a_recorder_that_is_killed_at_any_moment_leaves_a_file_that_is_shown_and_read() {
    let scene = Scene::new();
    let images = scene.publisher("camera/image", IMAGE, &Qos::default());
    let published: Vec<_> = (0..6).map(|n| image(n, if n % 3 == 0 { 500_000 } else { 100 })).collect();
    for (compression, sizes) in [("none", [1, 100_000, 1_000_000, 20_000_000]), ("lz4", [1, 1000, 10_000, 50_000])] {
        for size in sizes {
            let path = scene.path(&format!("{compression}-{size}"));
            let recorder = Recorder::start(&scene.domain, &format!("-o {} -z {compression}", path.display()));
            connected(&images);
            let is_over = AtomicBool::new(false);
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    let again = published.iter().cycle();
                    again.take_while(|_| !is_over.load(Ordering::Relaxed)).for_each(|image| images.publish(&[image]).unwrap());
                });
                let is_so_big = eventually(|| path.metadata().unwrap().len() >= size);
                recorder.signal("-KILL");
                is_over.store(true, Ordering::Relaxed);
                assert!(is_so_big, "{compression} {size}");
            });
            recorder.end();
            scene.has_no_recorder(&[&images]);
            let told = scene.domain.json(&format!("bag info {}", path.display()));
            assert!(told["cut"].is_string(), "{told}");
            let read = read_so_far(&path).remove("/camera/image").unwrap_or_default();
            assert_eq!(told["messages"].as_u64(), Some(read.len() as u64));
            for message in read {
                let stamp = u64::from_le_bytes(message[4..12].try_into().unwrap());
                assert!(published.get(stamp as usize) == Some(&message), "{compression} {size}: {stamp}");
            }
        }
    }
}

#[test]
fn what_was_lost_is_counted_and_stands_in_the_file() {
    let scene = Scene::new();
    let numbers = scene.publisher("number", NUMBER, &Qos::default());
    let path = scene.path("a.mcap");
    let recorder = Recorder::start(&scene.domain, &format!("-o {} --json", path.display()));
    connected(&numbers);
    numbers.publish(&[&number(0)]).unwrap();
    recorder.has_received(1);
    recorder.signal("-STOP");
    let published = 3000;
    (1..published).for_each(|n| numbers.publish(&[&number(n)]).unwrap());
    recorder.signal("-CONT");
    let is_last_there = || read_so_far(&path).get("/number").and_then(|numbers| numbers.last().cloned()) == Some(number(published - 1));
    assert!(eventually(is_last_there));
    let (_, text, _) = recorder.interrupt();
    let told: serde_json::Value = serde_json::from_str(&text).unwrap();
    let lost = told["lost"].as_u64().unwrap();
    assert!(lost > 0);
    assert_eq!(told["messages"].as_u64().unwrap() + lost, published);
    let bag = Bag::open(&path).unwrap();
    assert_eq!(bag.metadata("sinew.lost").unwrap()["/number"], lost.to_string());
}

#[test]
fn what_was_lost_just_before_the_end_stands_in_the_file() {
    for round in 0..10 {
        let scene = Scene::new();
        let numbers = scene.publisher("number", NUMBER, &Qos::default());
        // To let go of these takes longer than to end a file.
        let silent: Vec<_> = (0..100).map(|n| scene.publisher(&format!("silent_{n}"), NUMBER, &Qos::default())).collect();
        let path = scene.path("a.mcap");
        let recorder = Recorder::start(&scene.domain, &format!("-o {} --json", path.display()));
        connected(&numbers);
        silent.iter().for_each(connected);
        numbers.publish(&[&number(0)]).unwrap();
        recorder.has_received(1);
        recorder.signal("-STOP");
        assert!(eventually(|| is_stopped(recorder.child.id() as i32)));
        let published = 3000;
        (1..published).for_each(|n| numbers.publish(&[&number(n)]).unwrap());
        recorder.signal("-CONT");
        recorder.has_counted(published);
        let (_, text, _) = recorder.interrupt();
        let told: serde_json::Value = serde_json::from_str(&text).unwrap();
        let lost = told["lost"].as_u64().unwrap();
        assert!(lost > 0, "{round}: {told}");
        let bag = Bag::open(&path).unwrap();
        let in_file = bag.metadata("sinew.lost").and_then(|lost| lost.get("/number").cloned());
        assert_eq!(in_file, Some(lost.to_string()), "{round}");
    }
}

#[test]
fn what_a_recorder_had_lost_when_it_was_killed_stands_in_the_file() {
    let (scene, numbers, path, recorder) = of_numbers();
    let number_of = |lost: &BTreeMap<String, String>| lost.get("/number").map_or(0, |lost| lost.parse::<u64>().unwrap());
    let lost = || Bag::open(&path).unwrap().metadata("sinew.lost").map(number_of);
    assert!(eventually(|| lost() == Some(0)), "it says so of nothing, too");
    numbers.publish(&[&number(0)]).unwrap();
    recorder.has_received(1);
    recorder.signal("-STOP");
    assert!(eventually(|| is_stopped(recorder.child.id() as i32)));
    let published = 3000;
    (1..published).for_each(|n| numbers.publish(&[&number(n)]).unwrap());
    recorder.signal("-CONT");
    let written = || read_so_far(&path).get("/number").map_or(0, |numbers| numbers.len() as u64);
    let are_told = || lost().is_some_and(|lost| lost > 0 && written() + lost == published);
    assert!(eventually(are_told), "{} {:?}", written(), lost());
    recorder.signal("-KILL");
    recorder.end();
    let told = scene.domain.json(&format!("bag info {}", path.display()));
    assert!(told["cut"].is_string(), "{told}");
    assert_eq!((told["lost"].as_u64(), told["topics"][0]["lost"].as_u64()), (lost(), lost()));
}

#[test]
fn a_full_disk_is_told_of_and_leaves_what_was_written() {
    let scene = Scene::new();
    let images = scene.publisher("camera/image", IMAGE, &Qos::default());
    let path = scene.path("a.mcap");
    let mut command = Command::new("bash");
    // As a disk with 2000 KiB, where writing fails.
    let line = format!("trap '' XFSZ; ulimit -f 2000; exec {} record -o {}", env!("CARGO_BIN_EXE_sinew"), path.display());
    command.args(["-c", &line]).env("SINEW_DOMAIN", scene.domain.path());
    let recorder = Recorder::of(&scene.domain, command);
    connected(&images);
    let published: Vec<_> = (0..4).map(|n| image(n, 600_000)).collect();
    published.iter().for_each(|image| images.publish(&[image]).unwrap());
    let (status, told, complaint) = recorder.end();
    assert_eq!(status.code(), Some(1));
    assert!(told.contains("3 messages of 1 topic") && told.contains("camera/image: 1 of 4 lost"), "{told}");
    assert!(complaint.contains("a.mcap cannot be written: File too large") && complaint.contains("can be read"), "{complaint}");
    assert_eq!(Bag::open(&path).unwrap().cut(), None, "there was room for the summary");
    assert!(read(&path)["/camera/image"] == published[..3]);
}

#[test]
fn it_ends_after_its_time_and_is_called_by_the_hour() {
    let scene = Scene::new();
    let mut command = scene.domain.command("record --max-duration 10ms --json");
    let output = command.current_dir(scene.folder.path()).output().unwrap();
    assert!(output.status.success());
    let told: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let name = told["files"][0]["path"].as_str().unwrap();
    assert!(name.starts_with("sinew_20") && name.ends_with(".mcap"), "{name}");
    assert_eq!((told["messages"].as_u64(), Bag::open(&scene.path(name)).unwrap().cut()), (Some(0), None));
}

#[test]
fn it_records_into_a_folder_under_the_usual_name_and_makes_one_that_is_not_there() {
    let (scene, folder) = (Scene::new(), tempfile::tempdir().unwrap());
    for into in ["", "new/drives/"] {
        let path = folder.path().join(into);
        let output = scene.domain.run(&format!("record --max-duration 10ms -o {}/{into}", folder.path().display()));
        assert!(output.status.success(), "{output:?}");
        let names: Vec<_> = std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        assert!(names.len() == 1 && names[0].starts_with("sinew_20") && names[0].ends_with(".mcap"), "{names:?}");
    }
}

#[test]
fn a_folder_that_is_not_there_or_cannot_be_made_is_a_failure() {
    let scene = Scene::new();
    std::fs::write(scene.path("file"), "dear").unwrap();
    let complaint =
        |verb: &str, into: &str| scene.domain.complaint(&format!("{verb} --max-duration 10ms -o {}", scene.path(into).display()));
    let (status, said) = complaint("record", "none/a.mcap");
    assert!(status == 1 && said.contains("a.mcap cannot be created: No such file or directory"), "{status}: {said}");
    for verb in ["record", "record --last 1s"] {
        let (status, said) = complaint(verb, "file/");
        assert!(status == 1 && said.contains("file/ cannot be made: "), "{status}: {said}");
    }
}

#[test]
fn a_file_that_is_there_stays_as_it_is() {
    let scene = Scene::new();
    let path = scene.path("a.mcap");
    std::fs::write(&path, "dear").unwrap();
    let (status, complaint) = scene.domain.complaint(&format!("record -o {}", path.display()));
    assert_eq!(status, 1);
    assert!(complaint.contains("cannot be created: File exists"), "{complaint}");
    assert_eq!(std::fs::read(&path).unwrap(), b"dear");
    assert_eq!(scene.domain.complaint("record --split-size 2parsecs").0, 2);
    assert_eq!(scene.domain.complaint("record --all imu").0, 2);
}

#[test]
fn recorders_that_start_at_once_in_one_folder_have_a_file_each() {
    let scene = Scene::new();
    let arguments = format!("record --max-duration 300ms -o {}/", scene.path("drives").display());
    let recorders: Vec<_> = (0..4).map(|_| Running::new(&mut scene.domain.command(&arguments))).collect();
    for recorder in recorders {
        let (status, _, said) = recorder.end();
        assert_eq!(status, Some(0), "{said}");
    }
    assert_eq!(std::fs::read_dir(scene.path("drives")).unwrap().count(), 4);
}

#[test]
fn a_size_without_its_unit_is_refused_with_how_it_is_written() {
    let scene = Scene::new();
    let record = format!("record --max-duration 10ms -o {}", scene.path("a.mcap").display());
    for size in ["--split-size 4 GB", "--split-size 999kB", "--last 1s --budget 2 GB"] {
        let (status, complaint) = scene.domain.complaint(&format!("{record} {size}"));
        assert!(status == 2 && complaint.contains("the unit stands right behind the number, as in 4GB"), "{size}: {complaint}");
    }
    let (_, complaint) = scene.domain.complaint(&format!("{record} --split-size 4 GB"));
    assert!(complaint.contains("4 B is less than 1.0 MB"), "{complaint}");
}
