//! Pictures on a terminal: of two pixels each, one above the other, letters are made.

use std::io::{IsTerminal, Write};
use std::sync::{Mutex, PoisonError};

use anstyle::{Reset, RgbColor, Style};
use image::{RgbImage, imageops};

use crate::cli::Color;
use crate::failure::{Done, Failure};
use crate::interrupt::before_interrupt;
use crate::output::out;

/// The upper half in the colour of the letter, the lower in that behind it.
const UPPER_HALF: char = '\u{2580}';
/// Where nobody says how large a terminal is.
const USUAL: (u16, u16) = (80, 24);

/// Where they are drawn.
pub struct Screen {
    is_terminal: bool,
    /// Of the picture that is there.
    rows: u32,
}

impl Screen {
    /// The standard output, if it takes colours.
    pub fn new(color: Color) -> Done<Screen> {
        let is_terminal = std::io::stdout().is_terminal();
        match color {
            Color::Never => Err(Failure::Refused("a picture consists of colours: --color never leaves nothing of it".to_owned())),
            Color::Auto if !is_terminal => {
                Err(Failure::Failed("the output is no terminal: --color always draws pictures all the same".to_owned()))
            }
            _ => {
                if is_terminal {
                    leave_no_colors()?;
                }
                Ok(Screen { is_terminal, rows: 0 })
            }
        }
    }

    /// As large as the terminal lets it be. On a terminal in place of the one before.
    pub fn show(&mut self, picture: &RgbImage) -> Done {
        let (columns, lines) = if self.is_terminal { ratatui::crossterm::terminal::size().unwrap_or(USUAL) } else { USUAL };
        let (width, height) = fitted(picture.dimensions(), (columns.into(), 2 * u32::from(lines.saturating_sub(1))));
        let smaller = width < picture.width() && height < picture.height();
        let scaled = if smaller {
            imageops::thumbnail(picture, width, height) // the mean of all its pixels
        } else {
            imageops::resize(picture, width, height, imageops::FilterType::Nearest)
        };
        let mut text = Vec::new();
        if self.is_terminal && self.rows > 0 {
            write!(text, "\x1b[{}A", self.rows)?;
        }
        draw(&scaled, &mut text)?;
        self.rows = height.div_ceil(2);
        let mut out = out();
        out.write_all(&text)?;
        Ok(out.flush()?)
    }
}

/// Whoever interrupts the command in the middle of a picture goes on in the terminal's own colours. Once: a topic that comes again with another type is drawn by another screen.
fn leave_no_colors() -> Done {
    static ONCE: Mutex<bool> = Mutex::new(false);
    let mut is_done = ONCE.lock().unwrap_or_else(PoisonError::into_inner);
    if !*is_done {
        // After a picture that is being written, of which a terminal throws away at Ctrl-C what it has not shown yet.
        before_interrupt(|| {
            let mut out = out();
            let _ = write!(out, "{Reset}").and_then(|()| out.flush());
        })?;
        *is_done = true;
    }
    Ok(())
}

/// The greatest size of the same proportions, of an even height.
fn fitted((width, height): (u32, u32), (most_width, most_height): (u32, u32)) -> (u32, u32) {
    let scale = (f64::from(most_width) / f64::from(width)).min(f64::from(most_height) / f64::from(height));
    let scaled = |length: u32, most: u32| ((f64::from(length) * scale).round() as u32).clamp(1, most.max(1));
    (scaled(width, most_width), scaled(height, most_height).next_multiple_of(2))
}

fn draw(picture: &RgbImage, to: &mut impl Write) -> Done {
    let color = |x: u32, y: u32| {
        let [red, green, blue] = picture.get_pixel(x, y).0;
        Some(RgbColor(red, green, blue).into())
    };
    for y in (0..picture.height()).step_by(2) {
        let mut before = Style::new();
        for x in 0..picture.width() {
            let style = Style::new().fg_color(color(x, y)).bg_color(color(x, y + 1));
            if style != before {
                write!(to, "{style}")?;
                before = style;
            }
            write!(to, "{UPPER_HALF}")?;
        }
        writeln!(to, "{Reset}")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_are_as_large_as_the_terminal_lets_them_be() {
        assert_eq!(fitted((1920, 1080), (80, 46)), (80, 46), "45 of an even height");
        assert_eq!(fitted((1, 1), (80, 46)), (46, 46));
        assert_eq!(fitted((1, 10_000), (80, 46)), (1, 46));
        assert_eq!(fitted((u32::MAX, 1), (80, 46)), (80, 2));
        assert_eq!(fitted((640, 480), (0, 0)), (1, 2), "a terminal that does not say how large it is");
    }

    #[test]
    fn two_rows_of_pixels_are_a_line_of_letters() {
        let picture = RgbImage::from_raw(2, 2, vec![255, 0, 0, 255, 0, 0, 0, 0, 255, 0, 255, 0]).unwrap();
        let mut text = Vec::new();
        draw(&picture, &mut text).unwrap();
        let line = "\x1b[38;2;255;0;0m\x1b[48;2;0;0;255m\u{2580}\x1b[38;2;255;0;0m\x1b[48;2;0;255;0m\u{2580}\x1b[0m\n";
        assert_eq!(String::from_utf8(text).unwrap(), line);
    }
}
