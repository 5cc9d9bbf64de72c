//! Keys, on a terminal.

use std::io::IsTerminal;
use std::sync::mpsc::Sender;

use ratatui::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use ratatui::crossterm::terminal;

use super::Happened;
use crate::failure::Done;

/// What a key asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    Pause,
    Step,
    Faster,
    Slower,
    End,
}

/// As long as it is there, keys come one by one.
pub struct Keys(());

impl Keys {
    /// None where nobody can press keys.
    pub fn new(events: Sender<Happened>) -> Done<Option<Keys>> {
        if !std::io::stdin().is_terminal() || !std::io::stderr().is_terminal() {
            return Ok(None);
        }
        terminal::enable_raw_mode()?;
        let keys = Keys(());
        std::thread::spawn(move || {
            while let Ok(event) = event::read() {
                if let Some(key) = key_of(&event)
                    && events.send(Happened::Key(key)).is_err()
                {
                    return;
                }
            }
        });
        Ok(Some(keys))
    }
}

impl Drop for Keys {
    fn drop(&mut self) {
        let _ = terminal::disable_raw_mode();
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
