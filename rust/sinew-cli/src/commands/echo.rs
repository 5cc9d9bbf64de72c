//! `sinew topic echo`: messages of any type as text.

use std::io::Write;
use std::time::{Duration, Instant};

use image::RgbImage;
use sinew::msg::Type;
use sinew::msg::path::Path;
use sinew::msg::print::{self, PrintError};
use sinew::raw::{Frame, Subscriber, SubscriberOptions};
use sinew::{DomainTopic, ErrorKind, Ghost, Node, Qos};

use crate::beyond::{Beyond, Far};
use crate::cli::{Cli, Echo};
use crate::domain::{Followed, View, canonical, join, type_of};
use crate::failure::{Done, Failure};
use crate::output::{counted, out, say, shown};
use crate::picture::{Pictures, Screen};
use crate::typed;

/// Prints messages until there were as many as asked for.
pub fn echo(cli: &Cli, asked: &Echo) -> Done {
    let node = join(cli, "echo")?;
    let most = if asked.once { Some(1) } else { asked.count };
    // Who asks for nothing that would end it leaves it open while nodes are built and started again.
    let outlasts = most.is_none() && asked.timeout.is_none();
    let what = asked.path();
    let (mut source, path) = Source::find(&node, canonical(&what))?;
    let mut printer = Printer::new(cli, asked, &source, path)?;
    let mut messages = source.subscribe(&node, asked)?;
    printer.head()?;
    let mut printed = 0;
    while most.is_none_or(|most| printed < most) {
        match messages.take(asked.timeout) {
            Ok(Some(frame)) => {
                printer.print(&frame)?;
                printed += 1;
            }
            Err(error) if error.kind() == ErrorKind::Closed && outlasts => {
                drop(messages);
                let again;
                (again, messages) = source.again(&node, asked)?;
                if again.signature != source.signature {
                    printer = printer.of_other(&again, path)?;
                }
                source = again;
            }
            Err(error) if error.kind() == ErrorKind::Closed => {
                return Err(Failure::Negative(format!("topic '{}' is gone", shown(&source.name))));
            }
            Ok(None) => return Err(Failure::Negative(format!("no message came on topic '{}' in time", shown(&source.name)))),
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// Where messages come from.
struct Source {
    name: String,
    signature: String,
    ty: Type,
    is_kept: bool,
    /// Else it is to come here, for which somebody has to want it: a ghost does not.
    is_here: bool,
}

impl Source {
    /// What is called so, and the path behind its name.
    fn find<'w>(node: &Node, what: &'w str) -> Done<(Source, &'w str)> {
        let view = View::of(node)?;
        match find(&view, what) {
            Err(Failure::Negative(why)) => {
                let beyond = Beyond::of(node, &view);
                let (name, path) = split(what, |name| beyond.topics.contains_key(name)).ok_or(Failure::Negative(why))?;
                let far = &beyond.topics[name];
                say!("{} has it: it comes here while this runs", far.places());
                Ok((Source::far(name, far)?, path))
            }
            found => found.and_then(|(topic, path)| Ok((Source::here(&view, topic)?, path))),
        }
    }

    fn here(view: &View, topic: &DomainTopic) -> Done<Source> {
        Ok(Source {
            name: topic.name.clone(),
            signature: topic.signature.clone(),
            ty: type_of(topic)?,
            is_kept: view.keeps(topic.id),
            is_here: true,
        })
    }

    fn far(name: &str, far: &Far) -> Done<Source> {
        Ok(Source {
            name: name.to_owned(),
            signature: far.signature.clone(),
            ty: far.ty().map_err(Failure::Failed)?,
            is_kept: far.offered.transient_local,
            is_here: false,
        })
    }

    fn subscribe(&self, node: &Node, asked: &Echo) -> sinew::Result<Subscriber> {
        let depth = if asked.image { 1 } else { Qos::default().depth }; // a terminal may be slower than a camera
        let qos = Qos { transient_local: self.is_kept, ..Qos::keep_last(depth) };
        let options = SubscriberOptions { ghost: if self.is_here { Ghost::Observer } else { Ghost::No }, ..Default::default() };
        Subscriber::new(node, &self.name, &self.signature, &qos, options)
    }

    /// The same topic when somebody publishes it again, and its messages. Says that it waits.
    fn again(&self, node: &Node, asked: &Echo) -> Done<(Source, Subscriber)> {
        say!("'{}' is gone: waiting until somebody publishes it again", shown(&self.name));
        let followed = Followed::new(node)?;
        let mut view = View::default();
        loop {
            const NOW_AND_THEN: Duration = Duration::from_secs(1);
            if let Some(changed) = followed.changed_until(Instant::now() + NOW_AND_THEN) {
                view = changed;
            }
            // A topic that only has subscribers cannot tell whether messages are kept.
            let topic = view.state.topic(&self.name).filter(|topic| view.endpoints(topic.id, true).next().is_some());
            if let Some(topic) = topic {
                let source = Source::here(&view, topic)?;
                match source.subscribe(node, asked) {
                    Ok(messages) => return Ok((source, messages)),
                    // It has gone again meanwhile.
                    Err(why) if [ErrorKind::Unavailable, ErrorKind::Disconnected, ErrorKind::TypeMismatch].contains(&why.kind()) => {}
                    Err(why) => return Err(why.into()),
                }
            }
        }
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

/// How messages are printed.
struct Printer<'a> {
    cli: &'a Cli,
    asked: &'a Echo,
    ty: Type,
    path: Path,
    /// They are pictures that are to be drawn.
    drawn: Option<Drawn>,
}

impl<'a> Printer<'a> {
    fn new(cli: &'a Cli, asked: &'a Echo, source: &Source, path: &str) -> Done<Printer<'a>> {
        typed::check(&format!("topic '{}' carries", shown(&source.name)), &source.ty, "", asked.type_name.as_deref())?;
        let path = Path::new(&source.ty, path).map_err(|why| Failure::Negative(format!("topic '{}': {why}", shown(&source.name))))?;
        let drawn = asked.image.then(|| Drawn::new(cli, path.target())).transpose()?;
        Ok(Printer { cli, asked, ty: source.ty.clone(), path, drawn })
    }

    /// The same for a topic that has come again with another type, which is said.
    fn of_other(self, source: &Source, path: &str) -> Done<Printer<'a>> {
        let (topic, name) = (shown(&source.name), shown(&source.ty.name()));
        if self.asked.csv {
            return Err(Failure::Negative(format!(
                "topic '{topic}' carries {name} now, whose values are not those that the first line names"
            )));
        }
        say!("'{topic}' carries another type now: {name}");
        Printer::new(self.cli, self.asked, source, path)
    }

    /// What stands before the first message.
    fn head(&self) -> Done {
        if self.asked.csv {
            let mut out = out();
            print::csv_head(self.path.target(), &mut out)?;
            writeln!(out)?;
            out.flush()?;
        }
        Ok(())
    }

    fn print(&mut self, frame: &Frame) -> Done {
        if let Some(drawn) = &mut self.drawn {
            return drawn.draw(&self.path, frame);
        }
        let info = frame.info();
        let mut text = Vec::new();
        let printed = self.print_to(frame, &mut text);
        let mut out = out();
        if let Err(why) = printed {
            let (publisher, name) = (shown(&info.publisher), shown(&self.ty.name()));
            return Err(Failure::Failed(format!("message {} of '{publisher}' is no {name}: {why}", info.sequence)));
        }
        let for_programs = self.cli.json || self.asked.csv;
        if info.missed > 0 {
            let missed = format!("{} of '{}' missed", counted(info.missed, "message"), shown(&info.publisher));
            // Neither JSON nor CSV has comments.
            if for_programs { say!("{missed}") } else { writeln!(out, "# {missed}")? }
        }
        out.write_all(&text)?;
        match (for_programs, self.path.is_whole()) {
            (true, _) => writeln!(out)?,
            (false, true) => writeln!(out, "---")?,
            (false, false) => {}
        }
        Ok(out.flush()?)
    }

    /// Into memory: of a message that is none, nothing is printed.
    fn print_to(&self, frame: &Frame, to: &mut Vec<u8>) -> Result<(), PrintError> {
        let mut reader = frame.reader()?;
        let Some(ty) = self.path.find(&mut reader)? else {
            // An element or a value that this message has not.
            to.extend_from_slice(if self.cli.json {
                b"null"
            } else if self.asked.csv {
                b""
            } else {
                b"null\n"
            });
            return Ok(());
        };
        if self.cli.json {
            print::json(&mut reader, ty, to)
        } else if self.asked.csv {
            print::csv(&mut reader, ty, to)
        } else {
            print::yaml(&mut reader, ty, (!self.asked.full).then_some(self.asked.most), to)
        }
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
