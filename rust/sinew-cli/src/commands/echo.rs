//! `sinew topic echo`: messages of any type as text.

use std::io::Write;

use image::RgbImage;
use sinew::msg::Type;
use sinew::msg::path::Path;
use sinew::msg::print::{self, PrintError};
use sinew::raw::{Frame, Subscriber, SubscriberOptions};
use sinew::{DomainTopic, ErrorKind, Qos};

use crate::cli::{Cli, Echo};
use crate::domain::{View, canonical, join, type_of};
use crate::failure::{Done, Failure};
use crate::output::{counted, out, shown};
use crate::picture::{Pictures, Screen};

/// Prints messages until there were as many as asked for.
pub fn echo(cli: &Cli, asked: &Echo) -> Done {
    let node = join(cli, "echo")?;
    let view = View::of(&node)?;
    let (topic, path) = find(&view, &asked.what)?;
    let ty = type_of(topic)?;
    let path = Path::new(&ty, path).map_err(|why| Failure::Negative(format!("topic '{}': {why}", topic.name)))?;

    let mut drawn = asked.image.then(|| Drawn::new(cli, path.target())).transpose()?;

    let depth = if asked.image { 1 } else { 0 }; // a terminal may be slower than a camera
    let qos = Qos { transient_local: view.keeps(topic.id), ..Qos::keep_last(depth) };
    let options = SubscriberOptions { ghost: true, ..Default::default() };
    let messages = Subscriber::new(&node, &topic.name, &topic.signature, &qos, options)?;

    if asked.csv {
        let mut out = out();
        print::csv_head(path.target(), &mut out)?;
        writeln!(out)?;
        out.flush()?;
    }
    let most = if asked.once { Some(1) } else { asked.count };
    let mut printed = 0;
    while most.is_none_or(|most| printed < most) {
        match messages.take(asked.timeout) {
            Ok(Some(frame)) => {
                match &mut drawn {
                    Some(drawn) => drawn.draw(&path, &frame)?,
                    None => print(cli, asked, &ty, &path, &frame)?,
                }
                printed += 1;
            }
            Err(error) if error.kind() == ErrorKind::Closed => return Err(Failure::Negative(format!("topic '{}' is gone", topic.name))),
            Ok(None) => return Err(Failure::Negative(format!("no message came on topic '{}' in time", topic.name))),
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// The topic, and the path behind it. Names of topics may have dots, too: the longest one counts.
fn find<'a, 'w>(view: &'a View, what: &'w str) -> Done<(&'a DomainTopic, &'w str)> {
    let what = canonical(what);
    let ends = what.char_indices().filter(|(_, letter)| ['.', '[', '<'].contains(letter)).map(|(at, _)| at);
    let ends: Vec<usize> = ends.chain([what.len()]).collect();
    for end in ends.iter().rev() {
        if let Some(topic) = view.state.topic(&what[..*end]) {
            let path = &what[*end..];
            return Ok((topic, path.strip_prefix('.').unwrap_or(path)));
        }
    }
    view.topic(&what[..ends[0]]).map(|topic| (topic, ""))
}

fn print(cli: &Cli, asked: &Echo, ty: &Type, path: &Path, frame: &Frame) -> Done {
    let info = frame.info();
    let mut text = Vec::new();
    let printed = print_to(cli, asked, path, frame, &mut text);
    let mut out = out();
    if let Err(why) = printed {
        let (publisher, name) = (shown(&info.publisher), shown(&ty.name()));
        return Err(Failure::Failed(format!("message {} of '{publisher}' is no {name}: {why}", info.sequence)));
    }
    if info.missed > 0 && !cli.json && !asked.csv {
        writeln!(out, "# {} of '{}' missed", counted(info.missed, "message"), shown(&info.publisher))?;
    }
    out.write_all(&text)?;
    match (cli.json || asked.csv, path.is_whole()) {
        (true, _) => writeln!(out)?,
        (false, true) => writeln!(out, "---")?,
        (false, false) => {}
    }
    Ok(out.flush()?)
}

/// Into memory: of a message that is none, nothing is printed.
fn print_to(cli: &Cli, asked: &Echo, path: &Path, frame: &Frame, to: &mut Vec<u8>) -> Result<(), PrintError> {
    let mut reader = frame.reader()?;
    let Some(ty) = path.find(&mut reader)? else {
        // An element or a value that this message has not.
        to.extend_from_slice(if cli.json {
            b"null"
        } else if asked.csv {
            b""
        } else {
            b"null\n"
        });
        return Ok(());
    };
    if cli.json {
        print::json(&mut reader, ty, to)
    } else if asked.csv {
        print::csv(&mut reader, ty, to)
    } else {
        print::yaml(&mut reader, ty, (!asked.full).then_some(asked.most), to)
    }
}

/// Pictures, and where they are drawn.
struct Drawn {
    pictures: Pictures,
    screen: Screen,
}

impl Drawn {
    fn new(cli: &Cli, ty: &Type) -> Done<Drawn> {
        Ok(Drawn { pictures: Pictures::of(ty).map_err(Failure::Negative)?, screen: Screen::new(cli.color)? })
    }

    fn draw(&mut self, path: &Path, frame: &Frame) -> Done {
        let picture = self.picture(path, frame).map_err(|why| {
            let info = frame.info();
            Failure::Failed(format!("message {} of '{}' cannot be drawn: {why}", info.sequence, shown(&info.publisher)))
        })?;
        self.screen.show(&picture)
    }

    fn picture(&self, path: &Path, frame: &Frame) -> Result<RgbImage, String> {
        let mut reader = frame.reader().map_err(|why| why.to_string())?;
        match path.find(&mut reader).map_err(|why| why.to_string())? {
            Some(_) => self.pictures.read(&mut reader),
            None => Err(format!("it has no {}", shown(&path.to_string()))),
        }
    }
}
