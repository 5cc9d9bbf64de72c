//! `sinew topic echo`: messages of any type as text.

use std::io::Write;

use image::RgbImage;
use sinew::msg::Type;
use sinew::msg::path::Path;
use sinew::msg::print::{self, PrintError};
use sinew::raw::{Frame, Subscriber, SubscriberOptions};
use sinew::{DomainTopic, ErrorKind, Ghost, Qos};

use crate::beyond::{Beyond, Far};
use crate::cli::{Cli, Echo};
use crate::domain::{View, canonical, join, type_of};
use crate::failure::{Done, Failure};
use crate::output::{counted, out, shown};
use crate::picture::{Pictures, Screen};

/// Prints messages until there were as many as asked for.
pub fn echo(cli: &Cli, asked: &Echo) -> Done {
    let node = join(cli, "echo")?;
    let view = View::of(&node)?;
    let what = canonical(&asked.what);
    let beyond;
    let (topic, path) = match find(&view, what) {
        Err(Failure::Negative(why)) => {
            beyond = Beyond::of(&node, &view);
            let (name, path) = split(what, |name| beyond.topics.contains_key(name)).ok_or(Failure::Negative(why))?;
            let far = &beyond.topics[name];
            anstream::eprintln!("{} has it: it comes here while this runs", far.places());
            (Source::far(name, far)?, path)
        }
        found => found.and_then(|(topic, path)| Ok((Source::here(&view, topic)?, path)))?,
    };
    let ty = topic.ty;
    let path = Path::new(&ty, path).map_err(|why| Failure::Negative(format!("topic '{}': {why}", topic.name)))?;

    let mut drawn = asked.image.then(|| Drawn::new(cli, path.target())).transpose()?;

    let depth = if asked.image { 1 } else { 0 }; // a terminal may be slower than a camera
    let qos = Qos { transient_local: topic.is_kept, ..Qos::keep_last(depth) };
    let options = SubscriberOptions { ghost: if topic.is_here { Ghost::Observer } else { Ghost::No }, ..Default::default() };
    let messages = Subscriber::new(&node, topic.name, topic.signature, &qos, options)?;

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

/// Where messages come from.
struct Source<'a> {
    name: &'a str,
    signature: &'a str,
    ty: Type,
    is_kept: bool,
    /// Else it is to come here, for which somebody has to want it: a ghost does not.
    is_here: bool,
}

impl<'a> Source<'a> {
    fn here(view: &View, topic: &'a DomainTopic) -> Done<Source<'a>> {
        Ok(Source { name: &topic.name, signature: &topic.signature, ty: type_of(topic)?, is_kept: view.keeps(topic.id), is_here: true })
    }

    fn far(name: &'a str, far: &'a Far) -> Done<Source<'a>> {
        Ok(Source {
            name,
            signature: &far.signature,
            ty: far.ty().map_err(Failure::Failed)?,
            is_kept: far.offered.transient_local,
            is_here: false,
        })
    }
}

/// Where the name of a topic may end, and the path behind it begins.
fn ends(what: &str) -> Vec<usize> {
    let ends = what.char_indices().filter(|(_, letter)| ['.', '[', '<'].contains(letter)).map(|(at, _)| at);
    ends.chain([what.len()]).collect()
}

/// The name of a topic, and the path behind it. Names of topics may have dots, too: the longest one counts.
fn split(what: &str, is_there: impl Fn(&str) -> bool) -> Option<(&str, &str)> {
    let end = ends(what).into_iter().rev().find(|end| is_there(&what[..*end]))?;
    let path = &what[end..];
    Some((&what[..end], path.strip_prefix('.').unwrap_or(path)))
}

fn find<'a, 'w>(view: &'a View, what: &'w str) -> Done<(&'a DomainTopic, &'w str)> {
    let split = split(what, |name| view.state.topic(name).is_some());
    let (name, path) = split.unwrap_or((&what[..ends(what)[0]], ""));
    Ok((view.topic(name)?, path))
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
