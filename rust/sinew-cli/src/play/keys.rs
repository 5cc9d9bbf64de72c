//! Keys, on a terminal.

use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use ratatui::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use ratatui::crossterm::terminal;

use super::Happened;
use crate::failure::Done;
use crate::interrupt::unwatched;

/// How often it is looked whose the terminal is.
const OFTEN: Duration = Duration::from_millis(100);
/// How often it is looked whether somebody has pressed a key.
const KEY_OFTEN: Duration = Duration::from_millis(20);
/// By then whoever asked to be stopped is, or nobody stops him: one whose shell has gone.
const STOPPED_BY: Duration = Duration::from_secs(1);

/// What a key asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    Pause,
    Step,
    Faster,
    Slower,
    End,
}

/// As long as it is there, keys come one by one: while it is in the foreground of its terminal. Elsewhere they are the shell's, and who takes them is stopped.
pub struct Keys(Arc<Mutex<Mode>>);

/// Of the terminal.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// As the shell, or whoever is in the foreground, wants it.
    Others,
    /// Key by key.
    Keys,
    /// Of others, for good.
    Over,
}

impl Keys {
    /// None where nobody can press keys.
    pub fn new(events: Sender<Happened>) -> Done<Option<Keys>> {
        if !std::io::stdin().is_terminal() || !std::io::stderr().is_terminal() {
            return Ok(None);
        }
        let goes_on = Arc::new(AtomicBool::new(false));
        signal_hook::flag::register(signal_hook::consts::SIGCONT, Arc::clone(&goes_on)).map_err(unwatched)?;
        let mode = Arc::new(Mutex::new(Mode::Others));
        let keys = Keys(Arc::clone(&mode));
        keys.0.lock().unwrap_or_else(PoisonError::into_inner).follow()?;
        std::thread::spawn(move || {
            loop {
                let now = {
                    let mut mode = mode.lock().unwrap_or_else(PoisonError::into_inner);
                    if mode.follow().is_err() {
                        return;
                    }
                    *mode
                };
                match now {
                    Mode::Over => return,
                    Mode::Others => std::thread::sleep(OFTEN),
                    Mode::Keys => match next_event() {
                        Ok(Some(event)) if is_stop(&event) => stop(&mode, &goes_on),
                        Ok(event) => {
                            let key = event.as_ref().and_then(key_of);
                            if key.is_some_and(|key| events.send(Happened::Key(key)).is_err()) {
                                return;
                            }
                        }
                        Err(_) => return,
                    },
                }
            }
        });
        Ok(Some(keys))
    }
}

impl Drop for Keys {
    fn drop(&mut self) {
        let mut mode = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if *mode == Mode::Keys && is_in_front() {
            let _ = terminal::disable_raw_mode();
        }
        *mode = Mode::Over;
    }
}

impl Mode {
    /// Makes it that of keys where they are this program's.
    fn follow(&mut self) -> std::io::Result<()> {
        match (*self, is_in_front()) {
            (Mode::Over, _) => {}
            (_, false) => *self = Mode::Others,
            (Mode::Keys, true) => {}
            (Mode::Others, true) => {
                // The shell has made it its own meanwhile, which the library does not know.
                terminal::disable_raw_mode()?;
                terminal::enable_raw_mode()?;
                *self = Mode::Keys;
            }
        }
        Ok(())
    }
}

/// Whether the terminal is this program's just now. One that is not that of its session nobody else has.
pub fn is_in_front() -> bool {
    rustix::termios::tcgetpgrp(std::io::stdin()).map_or(true, |front| front == rustix::process::getpgrp())
}

/// None: there was none for a moment. That is not waited for in the library: it reads what comes, though the terminal may be another's by then, and a read stops who is
/// not in front, as often as somebody lets him go on.
fn next_event() -> std::io::Result<Option<Event>> {
    if event::poll(Duration::ZERO)? {
        return event::read().map(Some);
    }
    std::thread::sleep(KEY_OFTEN);
    Ok(None)
}

/// Ctrl-Z, of which a terminal that gives key by key makes no signal either.
fn is_stop(event: &Event) -> bool {
    matches!(event, Event::Key(KeyEvent { code: KeyCode::Char('z'), modifiers: KeyModifiers::CONTROL, kind: KeyEventKind::Press, .. }))
}

/// Until the shell lets it go on, there or here.
fn stop(mode: &Mutex<Mode>, goes_on: &AtomicBool) {
    {
        let mut mode = mode.lock().unwrap_or_else(PoisonError::into_inner);
        if *mode != Mode::Keys || terminal::disable_raw_mode().is_err() {
            return;
        }
        *mode = Mode::Others;
    }
    goes_on.store(false, Ordering::SeqCst);
    let _ = rustix::process::kill_current_process_group(rustix::process::Signal::TSTP);
    // Another thread may take the signal, and this one runs until it has: it must not take the terminal once more.
    let until = Instant::now() + STOPPED_BY;
    while !goes_on.load(Ordering::SeqCst) && Instant::now() < until {
        std::thread::sleep(KEY_OFTEN);
    }
}

fn key_of(event: &Event) -> Option<Key> {
    let Event::Key(KeyEvent { code, modifiers, kind: KeyEventKind::Press | KeyEventKind::Repeat, .. }) = event else { return None };
    Some(match code {
        // A terminal that gives key by key makes no signal of it.
        KeyCode::Char('c') if modifiers.contains(KeyModifiers::CONTROL) => Key::End,
        // A zero byte is one with a modifier.
        _ if !modifiers.is_empty() => return None,
        KeyCode::Char(' ') => Key::Pause,
        KeyCode::Char('s') => Key::Step,
        KeyCode::Up => Key::Faster,
        KeyCode::Down => Key::Slower,
        KeyCode::Char('q') => Key::End,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_ask_for_what_the_help_says() {
        let key = |code| key_of(&Event::Key(KeyEvent::new(code, KeyModifiers::NONE)));
        let all = [KeyCode::Char(' '), KeyCode::Char('s'), KeyCode::Up, KeyCode::Down, KeyCode::Char('q'), KeyCode::Char('x')];
        let asked = [Some(Key::Pause), Some(Key::Step), Some(Key::Faster), Some(Key::Slower), Some(Key::End), None];
        assert_eq!(all.map(key), asked);
        let with_control = |code| key_of(&Event::Key(KeyEvent::new(code, KeyModifiers::CONTROL)));
        assert_eq!([KeyCode::Char('c'), KeyCode::Char(' ')].map(with_control), [Some(Key::End), None]);
    }
}
