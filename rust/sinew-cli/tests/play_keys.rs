//! `sinew play` on a terminal: its keys, and whose they are.

mod common;
#[path = "common/play.rs"]
mod play;
#[path = "common/terminal.rs"]
mod terminal;

use std::fs::File;
use std::io::Write;
use std::process::{Command, Stdio};
use std::time::Duration;

use common::eventually;
use play::{Player, Scene, all, number, take};
use sinew::raw::Subscriber;
use terminal::Stopped;

#[test]
fn on_a_terminal_keys_step_pause_and_end() {
    let scene = Scene::new();
    let path = scene.numbers("/number", 3);
    let numbers = scene.every("number");
    let terminal = nix::pty::openpty(None, None).unwrap();
    let mut command = scene.domain.command(&format!("play {} --paused --loop", path.display()));
    command.stdin(terminal.slave.try_clone().unwrap()).stderr(terminal.slave).stdout(Stdio::piped());
    let player = command.spawn().unwrap();
    drop(command);
    let mut keys = File::from(terminal.master);
    let mut press = |key: &str| keys.write_all(key.as_bytes()).unwrap();
    assert!(eventually(|| numbers.statistics().publishers == 1));
    for n in 0..2 {
        press("s");
        assert_eq!(take(&numbers), number(n));
        assert!(numbers.take(Duration::from_millis(20)).unwrap().is_none());
    }
    press(" ");
    for n in 2..9 {
        assert_eq!(take(&numbers), number(n % 3));
    }
    press("q");
    let output = player.wait_with_output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success() && text.contains(" messages of 1 topic in "), "{text}");
}

#[test]
fn a_terminal_that_takes_nothing_holds_up_nothing_that_is_played() {
    let scene = Scene::new();
    let path = scene.numbers("/number", 3);
    let numbers = scene.every("number");
    let terminal = Stopped::new();
    let mut command = scene.domain.command(&format!("play {} --paused --loop", path.display()));
    let mut player = Player(command.stdin(terminal.theirs()).stderr(terminal.theirs()).stdout(terminal.theirs()).spawn().unwrap());
    drop(command);
    assert!(eventually(|| numbers.statistics().publishers == 1));
    for n in 0..9 {
        terminal.press("s");
        assert_eq!(take(&numbers), number(n % 3));
        std::thread::sleep(Duration::from_millis(100)); // in some of which its line is due
    }
    terminal.press("q");
    assert!(eventually(|| player.0.try_wait().unwrap().is_some()), "it waits for the terminal");
    assert_eq!(player.0.wait().unwrap().code(), Some(0));
}

#[test]
fn in_the_background_of_a_shell_it_plays_and_leaves_the_keys_to_that() {
    let scene = Scene::new();
    let (path, pid_file) = (scene.numbers("/number", 3), scene.folder.path().join("pid"));
    let numbers = scene.every("number");
    let terminal = nix::pty::openpty(None, None).unwrap();
    let mut shell = Command::new("setsid");
    shell.args(["--ctty", "--wait", "bash", "--norc", "--noprofile", "-i"]).env("SINEW_DOMAIN", scene.domain.path());
    shell.stdin(terminal.slave.try_clone().unwrap()).stdout(terminal.slave.try_clone().unwrap()).stderr(terminal.slave);
    let shell = Player(shell.spawn().unwrap());
    let mut keys = File::from(terminal.master);
    let shown = keys.try_clone().unwrap();
    let mut looks = keys.try_clone().unwrap();
    // Else the shell waits for somebody who looks.
    std::thread::spawn(move || std::io::copy(&mut looks, &mut std::io::sink()));
    let mut press = |text: &str| keys.write_all(text.as_bytes()).unwrap();
    let plays_on = |numbers: &Subscriber| {
        all(numbers);
        (0..10).for_each(|_| drop(take(numbers)));
    };

    press(&format!("{} play --loop --rate 0.5 {} & echo $! > {}\n", env!("CARGO_BIN_EXE_sinew"), path.display(), pid_file.display()));
    let pid = || std::fs::read_to_string(&pid_file).ok()?.trim().parse().ok();
    assert!(eventually(|| pid().is_some()));
    let player = OnTerminal(pid().unwrap());
    plays_on(&numbers);
    let mut press_until = |text: &str, is_done: &dyn Fn() -> bool| {
        assert!(eventually(|| {
            press(text);
            // Each of them may do it.
            std::thread::sleep(Duration::from_millis(200));
            is_done()
        }));
    };
    let is_in_front = || nix::unistd::tcgetpgrp(&shown).is_ok_and(|front| front.as_raw() == player.0);
    press_until("fg\n", &is_in_front);
    press_until("\x1a", &|| common::is_stopped(player.0));
    press_until("bg\n", &|| !common::is_stopped(player.0));
    plays_on(&numbers);
    press_until("echo somebody types\n", &|| true);
    plays_on(&numbers);
    assert!(!common::is_stopped(player.0));
    // Somebody else stops it while it waits for keys, and whoever lets it go on types on.
    for _ in 0..5 {
        press_until("fg\n", &is_in_front);
        nix::sys::signal::kill(nix::unistd::Pid::from_raw(player.0), nix::sys::signal::Signal::SIGSTOP).unwrap();
        assert!(eventually(|| !is_in_front()));
        // Nothing in it is a key, for the case that a late `fg` comes before it.
        press_until(&format!("bg\n{}", "true\n".repeat(20)), &|| true);
        plays_on(&numbers);
        assert!(!common::is_stopped(player.0));
    }
    drop((player, shell));
}

/// A job of a shell.
struct OnTerminal(i32);

impl Drop for OnTerminal {
    fn drop(&mut self) {
        let _ = nix::sys::signal::kill(nix::unistd::Pid::from_raw(self.0), nix::sys::signal::Signal::SIGKILL);
    }
}
