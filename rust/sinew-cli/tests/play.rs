//! `sinew play`: subscribers get what is in files, of sinew and of others.

mod common;
#[path = "common/play.rs"]
mod play;

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Duration;

use common::{IMAGE, Running, eventually};
use mcap::records::MessageHeader;
use play::{Due, NUMBER, Player, Scene, all, just, number, take, topic};
use sinew::Qos;
use sinew::raw::Subscriber;
use sinew_bag::{Compression, Stamp, Writer};

#[test]
fn subscribers_that_are_there_get_every_message_as_it_was_recorded() {
    let scene = Scene::new();
    let images: Vec<_> = [10, 100_000, 3_000_000]
        .map(|size: u32| {
            [&[0, 1, 0, 0][..], &[9; 8], &[1, 0, 0, 0, 0, 0, 0, 0], &[5; 4], &size.to_le_bytes(), &vec![size as u8; size as usize]].concat()
        })
        .into();
    let mut messages: Vec<_> = images.iter().map(|image| Due(1, "/camera/image", image.clone())).collect();
    messages.extend((0..200).map(|n| Due(2, "/number", number(n))));
    messages.push(Due(3, "/stop", vec![0, 1, 0, 0, 0]));
    let topics = [("/camera/image", IMAGE), ("/number", NUMBER), ("/stop", "test/Stop{}")]
        .map(|(name, signature)| topic(name, signature, &Qos::reliable()));
    let path = scene.file("a.mcap", &topics, &messages);
    let (camera, numbers) = (scene.subscriber("camera/image", IMAGE, &Qos::reliable()), scene.every("number"));
    let stop = scene.subscriber("stop", "test/Stop{}", &Qos::reliable());
    let told = scene.play(&path, "");
    assert_eq!((&told["messages"], &told["failed"], &told["topics"][0]["name"]), (&204.into(), &0.into(), &"camera/image".into()));
    assert!(just(&camera, 3) == images);
    assert_eq!(just(&numbers, 200), (0..200).map(number).collect::<Vec<_>>());
    assert_eq!(just(&stop, 1), [[0, 1, 0, 0]], "the byte for others is gone");
}

#[test]
fn publishers_offer_what_the_recorded_ones_did() {
    let scene = Scene::new();
    let offered = Qos { transient_local: true, reliable: true, deadline: Some(Duration::from_secs(1)), ..Qos::keep_last(3) };
    let path = scene.file("a", &[topic("/map", NUMBER, &offered)], &[Due(0, "/map", number(7))]);
    let asks = Qos { transient_local: true, reliable: true, deadline: Some(Duration::from_secs(2)), ..Qos::keep_last(1) };
    let map = scene.subscriber("map", NUMBER, &asks);
    scene.play(&path, "");
    assert_eq!(take(&map), number(7), "else they would not be connected");
}

#[test]
fn a_publisher_of_ros_2_that_had_for_ever_to_show_that_it_is_alive_is_played() {
    let scene = Scene::new();
    let manual = Qos { manual_by_topic: true, ..Qos::reliable() };
    let path = scene.file("a", &[topic("/number", NUMBER, &manual)], &[Due(0, "/number", number(7))]);
    let numbers = scene.every("number");
    assert_eq!(scene.play(&path, "")["refused"], serde_json::json!([]));
    assert_eq!(take(&numbers), number(7));
}

#[test]
fn topics_are_chosen_left_out_and_renamed() {
    let scene = Scene::new();
    let names = ["/camera/left", "/camera/right", "/imu"];
    let messages: Vec<_> = names.iter().enumerate().map(|(n, name)| Due(0, name, number(n as u64))).collect();
    let path = scene.file("a", &names.map(|name| topic(name, NUMBER, &Qos::reliable())), &messages);
    let played = |arguments: &str| {
        scene.play(&path, arguments)["topics"]
            .as_array()
            .unwrap()
            .iter()
            .map(|topic| topic["name"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(played(""), ["camera/left", "camera/right", "imu"]);
    assert_eq!(played(" --topics camera/* --exclude **/right"), ["camera/left"]);
    let replayed = scene.every("replay/imu");
    assert_eq!(played(" -t /imu --remap imu:=/replay/imu"), ["replay/imu"]);
    assert_eq!(take(&replayed), number(2));
    let (status, complaint) = scene.domain.complaint(&format!("play {} --exclude **", path.display()));
    assert_eq!(status, 3);
    assert!(complaint.contains("no topic of it is asked for; `sinew bag info`"), "{complaint}");
    let names = ["/sum@request", "/sum@response"];
    let path = scene.file("services", &names.map(|name| topic(name, NUMBER, &Qos::reliable())), &[Due(0, names[0], number(1))]);
    let (status, complaint) = scene.domain.complaint(&format!("play {}", path.display()));
    assert_eq!(status, 3);
    assert!(complaint.contains("nothing in it but what services sent, which is not played"), "{complaint}");
}

#[test]
fn a_name_that_no_file_has_is_refused_before_anything_is_played() {
    let scene = Scene::new();
    let path = scene.numbers("/number", 1);
    let other = scene.file("other", &[topic("/imu", NUMBER, &Qos::reliable())], &[Due(0, "/imu", number(1))]);
    let numbers = scene.every("number");
    let files = format!("play {} {}", path.display(), other.display());
    for (arguments, hint) in [
        ("--remap nubmer:=other", "no topic 'nubmer' is in it: did you mean 'number'?"),
        ("--topics number --topics nubmer", "no topic 'nubmer' is in it: did you mean 'number'?"),
        ("--exclude lidar", "no topic 'lidar' is in it: `sinew bag info` lists those that there are"),
    ] {
        let (status, complaint) = scene.domain.complaint(&format!("{files} {arguments}"));
        assert_eq!((status, complaint), (3, format!("error: {hint}\n")));
    }
    assert!(all(&numbers).is_empty());
    let (status, said) = scene.domain.complaint(&format!("{files} --remap imu:=other --exclude camera/*"));
    assert_eq!((status, said.as_str()), (0, "warning: no topic in it is like 'camera/*'\n"));
    assert_eq!(take(&numbers), number(0));
}

#[test]
fn what_is_no_recording_in_a_folder_is_left_out_and_the_others_are_played() {
    let scene = Scene::new();
    scene.file("b.mcap", &[topic("/number", NUMBER, &Qos::reliable())], &[Due(0, "/number", number(1))]);
    std::fs::write(scene.folder.path().join("a.mcap"), "").unwrap();
    std::fs::write(scene.folder.path().join("c.mcap"), "of a stranger").unwrap();
    std::fs::create_dir(scene.folder.path().join("d.mcap")).unwrap();
    let numbers = scene.every("number");
    let (status, said) = scene.domain.complaint(&format!("play {}", scene.folder.path().display()));
    assert!(status == 0 && said.contains("a.mcap is empty") && said.contains("c.mcap is neither") && said.contains("d.mcap "), "{said}");
    assert_eq!(take(&numbers), number(1));
}

#[test]
fn a_file_of_a_folder_that_cannot_be_opened_makes_it_fail_before_it_plays_and_bag_info_when_it_has_shown_the_others() {
    let scene = Scene::new();
    scene.file("b.mcap", &[topic("/number", NUMBER, &Qos::reliable())], &[Due(0, "/number", number(1))]);
    std::os::unix::fs::symlink("none", scene.folder.path().join("a.mcap")).unwrap();
    let numbers = scene.every("number");
    let folder = scene.folder.path().display();
    let (status, said) = scene.domain.complaint(&format!("play {folder}"));
    assert!(status == 1 && said.contains("a.mcap cannot be read: ") && said.contains(": name the other files"), "{said}");
    assert!(all(&numbers).is_empty());
    let output = scene.domain.run(&format!("bag info --json {folder}"));
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8(output.stdout).unwrap().contains("b.mcap"));
}

fn now_ns() -> i64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    now.tv_sec * 1_000_000_000 + now.tv_nsec
}

/// When the last of the next so many messages was published.
fn published_ns(subscriber: &Subscriber, count: i64) -> i64 {
    (1..count).for_each(|_| drop(take(subscriber)));
    subscriber.take(Duration::from_secs(30)).unwrap().expect("a message comes").info().source_time_ns
}

/// Plays a folder of 80 files, a number in each, in a shell that has set its limits before.
fn play_eighty(scene: &Scene, limits: &str) -> Output {
    for n in 0..80 {
        scene.file(&format!("{n}.mcap"), &[topic("/number", NUMBER, &Qos::reliable())], &[Due(n, "/number", number(n))]);
    }
    let script = format!("{limits} && exec {} play {}", env!("CARGO_BIN_EXE_sinew"), scene.folder.path().display());
    Command::new("bash").args(["-c", &script]).env("SINEW_DOMAIN", scene.domain.path()).output().unwrap()
}

#[test]
fn all_files_of_a_folder_are_played_where_it_may_have_as_many_descriptors() {
    let scene = Scene::new();
    let numbers = scene.every("number");
    let output = play_eighty(&scene, "ulimit -S -n 50");
    assert!(output.status.success(), "{output:?}");
    assert_eq!(just(&numbers, 80), (0..80).map(number).collect::<Vec<_>>());
}

#[test]
fn it_fails_before_it_plays_where_it_may_not_have_descriptors_for_all_files_of_a_folder() {
    let scene = Scene::new();
    let numbers = scene.every("number");
    let output = play_eighty(&scene, "ulimit -n 50");
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(!said.contains("left out") && said.contains("raise the limit (`ulimit -n`), or name fewer files"), "{said}");
    assert!(all(&numbers).is_empty());
}

#[test]
fn a_part_of_it_is_played() {
    let scene = Scene::new();
    let path = scene.numbers("/number", 10);
    let numbers = scene.every("number");
    scene.play(&path, " --start 30ms --duration 40ms");
    assert_eq!(just(&numbers, 4), (3..7).map(number).collect::<Vec<_>>());
    let (status, complaint) = scene.domain.complaint(&format!("play {} --start 1s", path.display()));
    assert_eq!((status, complaint.as_str()), (3, "error: there is no message so late: it is 90.000ms long\n"));
}

#[test]
fn messages_are_not_played_before_they_are_due() {
    let scene = Scene::new();
    let path = scene.numbers("/number", 21);
    let numbers = scene.every("number");
    for (rate, length_ns) in [("0.5", 400_000_000), ("1", 200_000_000), ("4", 50_000_000)] {
        let before = now_ns();
        scene.play(&path, &format!(" --rate {rate}"));
        let last = published_ns(&numbers, 21);
        assert!(last - before >= length_ns, "{rate}");
        assert!(all(&numbers).is_empty());
    }
    assert_eq!(scene.domain.complaint("play --rate 0 a").0, 2);
}

#[test]
fn what_is_due_while_it_is_stopped_does_not_come_at_once_when_it_goes_on() {
    let scene = Scene::new();
    let path = scene.numbers("/number", 300);
    let numbers = scene.every("number");
    let player = Player::start(&scene, &path, "");
    take(&numbers);
    let signal = |signal| nix::sys::signal::kill(nix::unistd::Pid::from_raw(player.0.id() as i32), signal).unwrap();
    signal(nix::sys::signal::Signal::SIGSTOP);
    assert!(eventually(|| common::is_stopped(player.0.id() as i32)));
    let before = 1 + all(&numbers).len() as i64;
    std::thread::sleep(Duration::from_secs(3)); // as long as all of it
    let went_on = now_ns();
    signal(nix::sys::signal::Signal::SIGCONT);
    let last = published_ns(&numbers, 300 - before);
    // The first of them is due at once, and some may be before the player hears of it.
    let length_ns = (300 - before) * 10_000_000;
    assert!(last - went_on >= length_ns / 2, "{before}");
}

#[test]
fn it_begins_again_at_the_end_until_it_is_interrupted() {
    let scene = Scene::new();
    let path = scene.numbers("/number", 3);
    let numbers = scene.every("number");
    let player = Player::start(&scene, &path, " --loop --rate 10");
    for n in 0..30 {
        assert_eq!(take(&numbers), number(n % 3));
    }
    let told = player.interrupt();
    assert!(told["messages"].as_u64().unwrap() >= 30);
}

#[test]
fn a_round_is_as_long_as_what_was_recorded_whatever_of_it_is_played_and_never_without_a_length() {
    let scene = Scene::new();
    let topics = ["/map", "/number"].map(|name| topic(name, NUMBER, &Qos::reliable()));
    let both = scene.file("both", &topics, &[Due(0, "/map", number(0)), Due(600, "/number", number(0))]);
    let single = scene.file("single", &topics[..1], &[Due(0, "/map", number(0))]);
    for (path, arguments, length_ns) in [
        (&both, " --loop --topics map", 600_000_000),
        (&both, " --loop --topics map --duration 400ms", 400_000_000),
        (&single, " --loop", 100_000_000),
    ] {
        let maps = scene.every("map");
        let before = now_ns();
        let player = Player::start(&scene, path, arguments);
        let last = published_ns(&maps, 11);
        assert!(last - before >= 10 * length_ns, "{arguments}");
        player.interrupt();
    }
}

/// Of two topics, a chunk each, of which one is damaged.
fn damaged(scene: &Scene) -> PathBuf {
    let path = scene.folder.path().join("damaged");
    let mut writer = Writer::create(&path, Compression::Lz4).unwrap();
    for (n, name) in ["/whole", "/damaged"].into_iter().enumerate() {
        let id = writer.add_topic(&topic(name, NUMBER, &Qos::reliable())).unwrap();
        let time = 1_700_000_000_000_000_000 + n as u64;
        writer.write(id, &Stamp { sequence: 0, log_time: time, publish_time: time }, &[&number(0x0102_0304_0506_0708)]).unwrap();
        writer.flush().unwrap();
    }
    writer.finish().unwrap();
    let mut bytes = std::fs::read(&path).unwrap();
    let summary = mcap::Summary::read(&bytes).unwrap().unwrap();
    let chunk = summary.chunk_indexes.iter().max_by_key(|chunk| chunk.chunk_start_offset).unwrap();
    let end = (chunk.compressed_data_offset().unwrap() + chunk.compressed_size) as usize;
    bytes[end - 20..end].fill(0x55);
    std::fs::write(&path, bytes).unwrap();
    path
}

#[test]
fn what_is_damaged_of_a_file_is_told_at_the_end_and_makes_it_fail_and_the_rest_is_played() {
    let scene = Scene::new();
    let (path, whole) = (damaged(&scene), scene.every("whole"));
    let output = scene.domain.run(&format!("play --json {}", path.display()));
    let told: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((output.status.code(), &told["messages"], &told["failed"]), (Some(1), &1.into(), &0.into()));
    let why = told["left_out"][0].as_str().unwrap();
    assert!(why.starts_with(&format!("{}: the chunk at byte ", path.display())), "{told}");
    assert_eq!(told["left_out"].as_array().unwrap().len(), 1);
    take(&whole);
    let play = format!("play {}", path.display());
    let output = scene.domain.run(&play);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.code() == Some(1) && text.ends_with(&format!("  left out: {why}\n")), "{text}");
    // Where it has no end either.
    let file = File::options().write(true).open(&path).unwrap();
    file.set_len(file.metadata().unwrap().len() - 1).unwrap();
    let (status, said) = scene.domain.complaint(&play);
    assert!(status == 1 && said.contains("is not whole: "), "{said}");
}

#[test]
fn what_has_nothing_to_play_is_not_played_again_and_again() {
    let scene = Scene::new();
    let (numbers, damaged) = (scene.numbers("/number", 3), damaged(&scene));
    let broken = scene.folder.path().join("broken");
    of_others(&broken, &[("/state", "ros1", "test/State", "ros1msg", "string name\n")], &[(0, vec![9])]);
    for (path, arguments, why) in [
        (&numbers, "--duration 0s", "nothing in it can be played again and again: there is no message in that part of it\n"),
        (&numbers, "--start 3ms --duration 2ms", "there is no message in that part of it\n"),
        (&damaged, "--topics damaged", "what is there of it cannot be read\n"),
        (&broken, "--rate 2", "the first message of 'state' cannot, since "),
    ] {
        let mut player = Running::new(&mut scene.domain.command(&format!("play --loop {} {arguments}", path.display())));
        assert!(eventually(|| player.0.try_wait().unwrap().is_some()), "{arguments}");
        let (status, text, said) = player.end();
        assert_eq!((status, text.as_str()), (Some(3), ""), "{said}");
        assert!(said.contains(why), "{arguments}: {said}");
    }
}

#[test]
fn what_is_left_out_of_every_round_is_said_once() {
    let scene = Scene::new();
    let whole = scene.every("whole");
    let player = Running::new(&mut scene.domain.command(&format!("play --loop {}", damaged(&scene).display())));
    for _ in 0..5 {
        take(&whole);
    }
    common::interrupt(&player);
    let (status, _, said) = player.end();
    assert_eq!((status, said.matches("messages are left out").count()), (Some(0), 1), "{said}");
}

#[test]
fn paused_it_plays_nothing() {
    let scene = Scene::new();
    let path = scene.numbers("/number", 3);
    let numbers = scene.every("number");
    let player = Player::start(&scene, &path, " --paused");
    assert!(eventually(|| numbers.statistics().publishers == 1));
    assert_eq!(player.interrupt()["messages"], 0);
    assert!(all(&numbers).is_empty());
}

#[test]
fn several_files_are_played_as_one() {
    let scene = Scene::new();
    let topics = |n: u64| [topic("/number", NUMBER, &Qos::reliable()), topic(&format!("/other{n}"), NUMBER, &Qos::reliable())];
    let file = |n: u64| {
        let messages: Vec<_> = (0..5).map(|i| Due(i * 4 + n * 2, "/number", number(i * 2 + n))).collect();
        scene.file(&format!("a_{n}.mcap"), &topics(n), &messages)
    };
    let (first, second) = (file(0), file(1));
    let numbers = scene.every("number");
    let told = scene.play(&first, &format!(" {}", second.display()));
    assert_eq!(told["topics"].as_array().unwrap().len(), 3, "one publisher for what both have");
    assert_eq!(just(&numbers, 10), (0..10).map(number).collect::<Vec<_>>());
    scene.play(scene.folder.path(), "");
    assert_eq!(just(&numbers, 10), (0..10).map(number).collect::<Vec<_>>());
}

#[test]
fn what_is_whole_of_a_file_that_was_cut_is_played() {
    let scene = Scene::new();
    let path = scene.numbers("/number", 5);
    let bytes = std::fs::read(&path).unwrap();
    let last = bytes.windows(12).position(|window| window == number(4)).unwrap();
    std::fs::write(&path, &bytes[..last + 3]).unwrap();
    let numbers = scene.every("number");
    let output = scene.domain.run(&format!("play {}", path.display()));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success() && said.contains("is not whole: it ends within a record"), "{said}");
    assert_eq!(just(&numbers, 4), (0..4).map(number).collect::<Vec<_>>());
}

/// A file as others write it.
fn of_others(path: &Path, channels: &[(&str, &str, &str, &str, &str)], messages: &[(usize, Vec<u8>)]) {
    let mut writer = mcap::Writer::new(File::create(path).unwrap()).unwrap();
    let ids: Vec<_> = channels
        .iter()
        .map(|(topic, encoding, type_name, schema_encoding, schema)| {
            let schema =
                if schema_encoding.is_empty() { 0 } else { writer.add_schema(type_name, schema_encoding, schema.as_bytes()).unwrap() };
            writer.add_channel(schema, topic, encoding, &Default::default()).unwrap()
        })
        .collect();
    for (n, (channel, bytes)) in messages.iter().enumerate() {
        let time = 1_600_000_000_000_000_000 + n as u64;
        let header = MessageHeader { channel_id: ids[*channel], sequence: 0, log_time: time, publish_time: time };
        writer.write_to_known_channel(&header, bytes).unwrap();
    }
    writer.finish().unwrap();
}

#[test]
fn files_of_ros_2_and_of_ros_1_are_played_and_what_cannot_be_is_counted_and_makes_it_fail() {
    let scene = Scene::new();
    let path = scene.folder.path().join("a.mcap");
    let ros1 = "string name\nuint8 level\nfloat64[] values\n";
    let channels = [("/number", "cdr", "test/msg/Number", "ros2msg", "uint64 value"), ("/state", "ros1", "test/State", "ros1msg", ros1)];
    let state = [&2_u32.to_le_bytes()[..], b"ok", &[7], &1_u32.to_le_bytes(), &2.5_f64.to_le_bytes()].concat();
    of_others(&path, &channels, &[(0, number(5)), (1, state), (1, vec![9])]);
    let numbers = scene.subscriber("number", "test/msg/Number{value:uint64;}", &Qos::reliable());
    let states = scene.subscriber("state", "test/State{name:string;level:uint8;values:float64[];}", &Qos::default());
    let output = scene.domain.run(&format!("play --json {}", path.display()));
    assert_eq!(output.status.code(), Some(1));
    let told: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(take(&numbers), number(5));
    let expected = [&[0, 1, 0, 0, 3, 0, 0, 0][..], b"ok\0", &[7, 1, 0, 0, 0, 0, 0, 0, 0], &2.5_f64.to_le_bytes()].concat();
    assert_eq!(just(&states, 1), [expected]);
    assert_eq!((&told["messages"], &told["failed"]), (&2.into(), &1.into()));
    assert!(told["topics"][1]["why"].as_str().is_some_and(|why| !why.is_empty()), "{told}");
}

#[test]
fn what_a_writer_of_ros_2_says_of_padding_is_not_published() {
    let scene = Scene::new();
    let path = scene.folder.path().join("a.mcap");
    let channels = [("/level", "cdr", "test/msg/Level", "ros2msg", "uint8 value"), ("/none", "cdr", "test/msg/None", "ros2msg", "")];
    let padded = vec![0, 1, 0, 3, 7, 0, 0, 0];
    of_others(&path, &channels, &[(0, padded.clone()), (1, padded)]);
    let levels = scene.subscriber("level", "test/msg/Level{value:uint8;}", &Qos::reliable());
    assert_eq!(scene.play(&path, "")["messages"], 2);
    assert_eq!(take(&levels), [0, 1, 0, 0, 7]);
}

#[test]
fn topics_that_cannot_be_played_are_named_and_others_are_played() {
    let scene = Scene::new();
    let path = scene.folder.path().join("a.mcap");
    let channels = [
        ("/number", "cdr", "test/msg/Number", "ros2msg", "uint64 value"),
        ("/json", "json", "Any", "jsonschema", "{}"),
        ("/bare", "cdr", "", "", ""),
        ("/broken", "cdr", "test/msg/Broken", "ros2msg", "what is this"),
        ("/taken", "cdr", "test/msg/Number", "ros2msg", "uint64 value"),
    ];
    of_others(&path, &channels, &(0..5).map(|n| (n, number(n as u64))).collect::<Vec<_>>());
    let _taken = scene.subscriber("taken", "test/Text{value:string;}", &Qos::default());
    let numbers = scene.subscriber("number", "test/msg/Number{value:uint64;}", &Qos::default());
    let told = scene.play(&path, "");
    assert_eq!(told["messages"], 1);
    assert_eq!(take(&numbers), number(0));
    let refused: Vec<_> = told["refused"]
        .as_array()
        .unwrap()
        .iter()
        .map(|refused| (refused["name"].as_str().unwrap(), refused["why"].as_str().unwrap()))
        .collect();
    let why = |name: &str| refused.iter().find(|(is, _)| *is == name).unwrap_or_else(|| panic!("{name}: {refused:?}")).1;
    assert!(why("/json").contains("encoded as 'json', and those as 'cdr' and 'ros1' can be played"), "{refused:?}");
    assert!(why("/bare").contains("does not say what its messages"), "{refused:?}");
    assert!(!why("/broken").is_empty() && !why("taken").is_empty());
    let (status, complaint) = scene.domain.complaint(&format!("play {} --topics json", path.display()));
    assert_eq!(status, 1);
    assert!(complaint.contains("topic '/json' is not played") && complaint.contains("no topic can be played"), "{complaint}");
}
