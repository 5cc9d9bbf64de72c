//! What is played: topics of files, and their publishers.

use std::collections::HashMap;
use std::time::Duration;

use sinew::msg::encapsulation::{ENCAPSULATION, normalize};
use sinew::msg::{Type, schema, transcode};
use sinew::raw::{Loan, Publisher, PublisherOptions};
use sinew::{ErrorKind, Node, Qos};
use sinew_bag::{Message, Topic, TopicId, qos};

use super::merged::Part;
use crate::commands::play::Play;
use crate::domain::{canonical, is_of_service};
use crate::failure::{Done, Failure};
use crate::output::{say, shown};
use crate::patterns::Topics;

/// A subscriber that every message is to reach may make it wait so long.
const LONGEST_WAIT: Duration = Duration::from_secs(1);

/// Topics of files by the number of the file, and what becomes of their messages.
pub struct Tracks {
    tracks: HashMap<(usize, TopicId), Track>,
    pub publishers: Vec<Published>,
    pub refused: Vec<Refused>,
}

/// A topic of a file.
struct Track {
    publisher: usize,
    encoding: Encoding,
}

enum Encoding {
    Cdr,
    /// CDR of messages that take nothing, behind which a recorder writes something for others.
    Nothing,
    Ros1(Type),
}

/// A topic of the domain.
pub struct Published {
    pub name: String,
    pub qos: Qos,
    pub publisher: Publisher,
    /// Messages.
    pub played: u64,
    /// That could not be published.
    pub failed: u64,
    /// The first reason.
    pub why: Option<String>,
}

/// A topic of a file that is not played.
pub struct Refused {
    pub name: String,
    pub why: String,
}

/// A topic of a file, as it would be played.
struct Plan {
    key: (usize, TopicId),
    name: String,
    ty: Type,
    encoding: Encoding,
    qos: Qos,
}

impl Tracks {
    /// Publishers for the topics that are asked for. Takes from the parts what is not played.
    pub fn new(node: &Node, asked: &Play, parts: &mut [Part]) -> Done<Tracks> {
        let wanted = asked.patterns().topics().map_err(Failure::of)?;
        let (mut plans, mut refused) = (Vec::new(), Vec::new());
        for (file, part) in parts.iter().enumerate() {
            for (id, topic) in part.bag.topics().filter(|(_, topic)| is_wanted(&wanted, topic)) {
                match plan((file, id), asked, topic) {
                    Ok(plan) => plans.push(plan),
                    Err(why) => refused.push(Refused { name: topic.name.clone(), why }),
                }
            }
        }
        // One publisher for all of a topic, which offers what each of the recorded ones did.
        let mut offers: Vec<(String, String, Qos)> = Vec::new();
        let mut of_plans = Vec::new();
        for plan in &plans {
            let signature = plan.ty.to_string();
            let known = offers.iter().position(|(name, known, _)| *name == plan.name && *known == signature);
            of_plans.push(known.unwrap_or(offers.len()));
            match known {
                Some(at) => offers[at].2 = qos::stronger(offers[at].2.clone(), plan.qos.clone()),
                None => offers.push((plan.name.clone(), signature, plan.qos.clone())),
            }
        }
        let mut publishers = Vec::new();
        let of_offers: Vec<Option<usize>> = offers
            .into_iter()
            .map(|(name, signature, qos)| {
                let options = PublisherOptions { max_blocking: Some(LONGEST_WAIT), ..Default::default() };
                match Publisher::new(node, &name, &signature, &qos, options) {
                    Ok(publisher) => publishers.push(Published { name, qos, publisher, played: 0, failed: 0, why: None }),
                    Err(why) => {
                        let is_name = why.kind() == ErrorKind::InvalidArgument;
                        let remedy = if is_name { format!(" --remap {name}:=OTHER plays it under another name.") } else { String::new() };
                        refused.push(Refused { name, why: format!("{why}{remedy}") });
                        return None;
                    }
                }
                Some(publishers.len() - 1)
            })
            .collect();
        let tracks = plans
            .into_iter()
            .zip(of_plans)
            .filter_map(|(plan, offer)| of_offers[offer].map(|publisher| (plan.key, Track { publisher, encoding: plan.encoding })));
        let tracks: HashMap<_, _> = tracks.collect();
        for (file, part) in parts.iter_mut().enumerate() {
            part.topics = part.bag.topics().map(|(id, _)| id).filter(|id| tracks.contains_key(&(file, *id))).collect();
        }
        Ok(Tracks { tracks, publishers, refused })
    }

    /// Reads a message to where its subscribers will read it. None: there is a reason, which is noted.
    pub fn ready(&mut self, file: usize, message: &Message) -> Option<(usize, Loan<'_>, usize)> {
        let track = self.tracks.get(&(file, message.topic))?;
        let published = &mut self.publishers[track.publisher];
        match read(&published.publisher, &track.encoding, message) {
            Ok((loan, used)) => Some((track.publisher, loan, used)),
            Err(why) => {
                published.failed += 1;
                published.why.get_or_insert(why);
                None
            }
        }
    }
}

fn is_wanted(wanted: &Topics, topic: &Topic) -> bool {
    let name = canonical(&topic.name);
    wanted.has(name) && !is_of_service(name)
}

fn plan(key: (usize, TopicId), asked: &Play, topic: &Topic) -> Result<Plan, String> {
    let name = canonical(&topic.name);
    let remapped = asked.remap.iter().find(|(old, _)| canonical(old) == name).map_or(name, |(_, new)| canonical(new));
    let (encoding, schema) = (topic.message_encoding.as_str(), topic.schema_encoding.as_str());
    if schema.is_empty() {
        return Err(format!("the file does not say what its messages ('{encoding}') consist of"));
    }
    let ty = || schema::parse(&topic.type_name, schema, &topic.schema).map_err(|why| why.to_string());
    let (ty, encoding) = match encoding {
        "cdr" => {
            let ty = ty()?;
            let encoding = if schema::padding(&ty).is_empty() { Encoding::Cdr } else { Encoding::Nothing };
            (ty, encoding)
        }
        "ros1" => {
            let ty = ty()?;
            (ty.clone(), Encoding::Ros1(ty))
        }
        other => return Err(format!("its messages are encoded as '{other}', and those as 'cdr' and 'ros1' can be played")),
    };
    let offered = topic.metadata.get(qos::OFFERED_QOS).map_or("", String::as_str);
    let qos = qos::from_yaml(offered).unwrap_or_else(|why| {
        say!("topic '{}' is played as a reliable one: {}", shown(&topic.name), shown(&why.to_string()));
        Qos::reliable()
    });
    Ok(Plan { key, name: remapped.to_owned(), ty, encoding, qos })
}

fn read<'a>(publisher: &'a Publisher, encoding: &Encoding, message: &Message) -> Result<(Loan<'a>, usize), String> {
    let stream = match encoding {
        Encoding::Ros1(ty) => {
            let bytes = message.to_vec().map_err(|why| why.to_string())?;
            Some(transcode::from_ros1(ty, &bytes).map_err(|why| why.to_string())?)
        }
        Encoding::Cdr | Encoding::Nothing => None,
    };
    let size = match (&stream, encoding) {
        (Some(stream), _) => stream.len() as u64,
        (None, Encoding::Nothing) => message.size.min(ENCAPSULATION as u64),
        (None, _) => message.size,
    };
    let size = size as usize; // of something in a file, or in memory
    let mut loan = publisher.loan(size).map_err(|why| why.to_string())?;
    let room = &mut loan.bytes()[..size];
    let Some(stream) = stream else {
        message.read(room).map_err(|why| why.to_string())?;
        // Some writers say there what they have added at the end, which no stream of sinew says.
        let used = match (normalize(room), encoding) {
            (Some((_, used)), Encoding::Cdr) => used,
            _ => size,
        };
        return Ok((loan, used));
    };
    room.copy_from_slice(&stream);
    Ok((loan, size))
}
