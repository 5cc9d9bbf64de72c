//! `sinew topic echo --image`: pictures as letters of two colours.

mod common;

use std::fs::File;
use std::io::{Cursor, Read};
use std::os::unix::process::ExitStatusExt;

use anstream::adapter::strip_str;
use common::{Domain, Running, eventually, interrupt};
use image::{ImageFormat, Rgb, RgbImage};
use nix::pty::{Winsize, openpty};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use sinew::msg::value::Value;
use sinew::raw::Publisher;
use sinew::{Node, Qos};

const IMAGE: &str = "sensor_msgs/Image{header:std_msgs/Header{stamp_ns:uint64;frame_id:string;};height:uint32;width:uint32;encoding:string;is_bigendian:uint8;step:uint32;data:uint8[];}";
const COMPRESSED: &str = "sensor_msgs/CompressedImage{format:string;data:uint8[];}";

const RED: [u8; 3] = [255, 0, 0];
const GREEN: [u8; 3] = [0, 255, 0];
const BLUE: [u8; 3] = [0, 0, 255];
const WHITE: [u8; 3] = [255, 255, 255];

/// A publisher that keeps its newest message for who comes late.
fn camera(domain: &Domain, signature: &str, message: &serde_json::Value) -> (Node, Publisher) {
    let node = domain.node("camera");
    let qos = Qos { transient_local: true, ..Qos::keep_last(1) };
    let publisher = Publisher::new(&node, "camera/image", signature, &qos, Default::default()).unwrap();
    let stream = Value::from_json(&message.to_string()).unwrap().to_stream(&signature.parse().unwrap()).unwrap();
    publisher.publish(&[&stream]).unwrap();
    (node, publisher)
}

/// The colours of the upper and of the lower half of each letter.
fn drawn(text: &str) -> Vec<Vec<[[u8; 3]; 2]>> {
    let line = |line: &str| {
        let (mut letters, mut colors) = (Vec::new(), [[0; 3]; 2]);
        let mut rest = line;
        while let Some(letter) = rest.chars().next() {
            if letter == '\u{2580}' {
                letters.push(colors);
                rest = &rest[letter.len_utf8()..];
                continue;
            }
            let (code, behind) = rest.strip_prefix("\x1b[").unwrap().split_once('m').unwrap();
            let numbers: Vec<u8> = code.split(';').map(|number| number.parse().unwrap()).collect();
            match numbers[..] {
                [38, 2, red, green, blue] => colors[0] = [red, green, blue],
                [48, 2, red, green, blue] => colors[1] = [red, green, blue],
                [0] => {}
                _ => panic!("{code}"),
            }
            rest = behind;
        }
        letters
    };
    text.lines().map(line).collect()
}

/// Red and green above, blue and white below, each a quarter.
fn is_of_four_colors(text: &str) -> bool {
    let letters = drawn(text);
    let (height, width) = (letters.len(), letters[0].len());
    let left_and_right = |upper, lower| [vec![[upper; 2]; width / 2], vec![[lower; 2]; width / 2]].concat();
    let upper_half = letters[..height / 2].iter().all(|line| *line == left_and_right(RED, GREEN));
    let lower_half = letters[height.div_ceil(2)..].iter().all(|line| *line == left_and_right(BLUE, WHITE));
    let middle = height % 2 == 0 || letters[height / 2][0] == [RED, BLUE] && letters[height / 2][width - 1] == [GREEN, WHITE];
    (width, height) == (46, 23) && upper_half && lower_half && middle
}

#[test]
fn a_picture_is_drawn_pixel_by_pixel() {
    let domain = Domain::new();
    let (blue_green_red, white) = ([[0, 0, 255], [0, 255, 0], [255, 0, 0]], [255; 3]);
    let data = [&blue_green_red[0][..], &blue_green_red[1], &[9, 9], &blue_green_red[2], &white, &[9, 9]].concat();
    let message = serde_json::json!({"height": 2, "width": 2, "encoding": "bgr8", "step": 8, "data": data});
    let _camera = camera(&domain, IMAGE, &message);
    let text = domain.text("topic echo --image --once --color always camera/image");
    assert!(is_of_four_colors(&text), "{text}");
}

#[test]
fn a_picture_in_a_part_of_a_message_is_drawn() {
    let domain = Domain::new();
    let signature = "demo/Pair{stamp:uint8;left:demo/Picture{width:uint16;height:uint16;encoding:string;pixels:uint8[12];};}";
    let pixels = [RED, GREEN, BLUE, WHITE].concat();
    let message = serde_json::json!({"left": {"width": 2, "height": 2, "encoding": "rgb8", "pixels": pixels}});
    let _camera = camera(&domain, signature, &message);
    let text = domain.text("topic echo --image --once --color always camera/image.left");
    assert!(is_of_four_colors(&text), "{text}");
    let (status, said) = domain.complaint("topic echo --image --once --color always camera/image");
    assert_eq!(
        (status, strip_str(&said).to_string().as_str()),
        (3, "error: demo/Pair is no picture: it lacks width, height, encoding, data\n")
    );
}

#[test]
fn compressed_pictures_are_drawn() {
    for format in [ImageFormat::Png, ImageFormat::Jpeg] {
        let domain = Domain::new();
        let color = |x, y| Rgb(if y < 32 { [RED, GREEN] } else { [BLUE, WHITE] }[x as usize / 32]);
        let mut file = Cursor::new(Vec::new());
        RgbImage::from_fn(64, 64, color).write_to(&mut file, format).unwrap();
        let message = serde_json::json!({"format": "whatever they call it", "data": file.into_inner()});
        let _camera = camera(&domain, COMPRESSED, &message);
        let text = domain.text("topic echo --image --once --color always camera/image");
        let letters = drawn(&text);
        let near = |drawn: [u8; 3], wanted: [u8; 3]| drawn.iter().zip(wanted).all(|(drawn, wanted)| drawn.abs_diff(wanted) < 16);
        let corners = [(0, 0, RED), (0, 45, GREEN), (22, 0, BLUE), (22, 45, WHITE)];
        assert!(corners.iter().all(|(y, x, color)| near(letters[*y][*x][0], *color)), "{format:?}: {text}");
    }
}

/// Draws a picture on a terminal that shows the beginning of it.
fn drawing(domain: &Domain) -> ((Node, Publisher), Running, File) {
    // No two letters of it are of the same colours: more than a terminal takes while nobody looks at it.
    let data: Vec<u8> = (0..200 * 200_u32).flat_map(|pixel| [(pixel % 200) as u8, (pixel / 200) as u8, 7]).collect();
    let camera = camera(domain, IMAGE, &serde_json::json!({"height": 200, "width": 200, "encoding": "rgb8", "step": 600, "data": data}));
    let size = Winsize { ws_row: 101, ws_col: 200, ws_xpixel: 0, ws_ypixel: 0 };
    let terminal = openpty(&size, None).unwrap();
    let mut command = domain.command("topic echo --image --color always camera/image");
    let echo = Running(command.stdout(terminal.slave).spawn().unwrap());
    drop(command);
    let mut looks = File::from(terminal.master);
    looks.read_exact(&mut [0; 1024]).unwrap();
    (camera, echo, looks)
}

#[test]
fn who_interrupts_it_in_the_middle_of_a_picture_has_a_terminal_in_its_own_colours() {
    let domain = Domain::new();
    let (_camera, mut echo, mut looks) = drawing(&domain);
    interrupt(&echo);
    let mut shown = Vec::new();
    // Ends with an error when nobody has the other end any more.
    let _ = looks.read_to_end(&mut shown);
    assert_eq!(echo.0.wait().unwrap().signal(), Some(Signal::SIGINT as i32));
    let shown = String::from_utf8(shown).unwrap();
    assert!(shown.contains("\x1b[38;2;") && shown.ends_with("\x1b[0m"), "{}", &shown[shown.len() - 100..]);
}

#[test]
fn who_ends_it_does_not_wait_for_a_terminal_that_takes_nothing() {
    let domain = Domain::new();
    let (_camera, mut echo, _looks) = drawing(&domain);
    kill(Pid::from_raw(echo.0.id() as i32), Signal::SIGTERM).unwrap();
    assert!(eventually(|| echo.0.try_wait().unwrap().is_some()), "it waits");
    assert_eq!(echo.0.wait().unwrap().signal(), Some(Signal::SIGTERM as i32));
}

#[test]
fn what_is_no_picture_is_refused_with_the_reason() {
    let complaint = |signature: &str, message: serde_json::Value| {
        let domain = Domain::new();
        let _camera = camera(&domain, signature, &message);
        let output = domain.run("topic echo --image --once --color always camera/image");
        assert_eq!(output.stdout, b"");
        (output.status.code(), strip_str(std::str::from_utf8(&output.stderr).unwrap()).to_string())
    };
    let of_message = |why: &str| (Some(1), format!("error: message 1 of 'camera' cannot be drawn: {why}\n"));
    let message = serde_json::json!({"height": 480, "width": 640, "encoding": "rgb8", "data": [1, 2, 3]});
    assert_eq!(complaint(IMAGE, message), of_message("640 x 480 pixels of rgb8 do not fit into 3 bytes"));
    let message = serde_json::json!({"height": 1, "width": 1, "step": 2, "encoding": "rgb8", "data": [1, 2, 3]});
    assert_eq!(complaint(IMAGE, message), of_message("its step is 2, and a row of 1 pixels of rgb8 takes 3 bytes"));
    let message = serde_json::json!({"format": "h264\u{1b}", "data": [0, 0, 0, 1]});
    assert_eq!(complaint(COMPRESSED, message), of_message("what is called 'h264\u{fffd}' is neither JPEG nor PNG"));
    let (status, said) = complaint(COMPRESSED, serde_json::json!({"format": "png", "data": b"\x89PNG\r\n\x1a\nbroken"}));
    assert_eq!((status, said.starts_with("error: message 1 of 'camera' cannot be drawn: ")), (Some(1), true), "{said}");

    let of_type = |why: &str| (Some(3), format!("error: A is no picture: {why}\n"));
    let nothing = || serde_json::json!({});
    assert_eq!(complaint("A{width:uint32;data:uint8[];}", nothing()), of_type("it lacks height, encoding"));
    let floats = "A{width:uint32;height:uint32;encoding:string;data:float32[];}";
    assert_eq!(complaint(floats, nothing()), of_type("its field 'data' is float32[], and uint8[] is expected"));
}

#[test]
fn pictures_are_drawn_only_where_colours_can_be_seen() {
    let domain = Domain::new();
    let message = serde_json::json!({"height": 1, "width": 1, "encoding": "mono8", "data": [1]});
    let _camera = camera(&domain, IMAGE, &message);
    let complaint = |arguments: &str| domain.complaint(&format!("topic echo --image --once {arguments}"));
    let (status, said) = complaint("camera/image");
    assert_eq!((status, said.as_str()), (1, "error: the output is no terminal: --color always draws pictures all the same\n"));
    let (status, said) = complaint("--color never camera/image");
    assert_eq!((status, said.as_str()), (2, "error: a picture consists of colours: --color never leaves nothing of it\n"));
    assert_eq!(complaint("--json camera/image").0, 2);
}
