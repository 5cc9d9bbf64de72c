//! The examples, as somebody runs them who has read them.

mod common;

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use common::Domain;

/// Ends with the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn example(name: &str, domain: &Domain) -> Command {
    let test = std::env::current_exe().expect("this test is a program");
    let programs: PathBuf = test.ancestors().nth(2).expect("tests lie in deps/").join("examples");
    let mut command = Command::new(programs.join(name));
    command.env("SINEW_DOMAIN", domain.options().domain).stdout(Stdio::piped());
    command
}

#[test]
fn a_viewer_sees_the_images_of_a_camera() {
    let domain = Domain::new();
    let _camera = Running(example("camera", &domain).spawn().expect("the example was built"));
    let viewer = example("viewer", &domain).arg("3").spawn().expect("the example was built");
    let output = viewer.wait_with_output().expect("it ends");
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).expect("it prints text");
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines.len(), 3);
    for line in lines {
        let sequence: u64 = line.split(' ').nth(1).and_then(|number| number.parse().ok()).expect("it says which");
        assert!(line.contains(&format!("of 1920x1080, rgb8: mean {}", sequence % 256)), "{line}");
    }
}
