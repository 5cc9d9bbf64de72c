//! Publishes ten images a second, written where viewers read them: `cargo run --example camera`.

use std::thread::sleep;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use sinew::{Node, Publisher, Qos, Slice};

#[derive(Serialize, Deserialize)]
#[serde(rename = "robot/Image")]
struct Image<'a> {
    sequence: u64,
    height: u32,
    width: u32,
    #[serde(borrow)]
    encoding: &'a str,
    #[serde(borrow)]
    data: Slice<'a, u8>,
}
sinew::message!(Image<'a>);

fn main() -> sinew::Result<()> {
    let node = Node::new("camera")?;
    let images = Publisher::<Image>::new(&node, "camera/image", &Qos::keep_last(4))?;
    for sequence in 0.. {
        let (height, width) = (1080, 1920);
        let room = Slice::room(height as usize * width as usize * 3);
        let mut image = images.loan(&Image { sequence, height, width, encoding: "rgb8", data: room })?;
        image.room::<u8>(0)?.fill(sequence as u8);
        image.publish()?;
        sleep(Duration::from_millis(100));
    }
    Ok(())
}
