//! Who else there is in the DDS domain. Pure.

use std::collections::{BTreeSet, HashMap};

use super::guid::Guid;
use super::names::{self, Role, role};
use super::qos::Qos;
use super::user_data;
use crate::bridge::{Key, Way};
use crate::protocol::Kind;
use crate::ros2::action::goals_of;

/// How requests and replies are told apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Convention {
    /// Beside the message, in what RTPS has for it: rmw_fastrtps, the one that most have.
    #[default]
    Beside,
    /// In 16 bytes before the message: rmw_cyclonedds.
    Within,
}

/// Of a participant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stranger {
    /// How its services work.
    pub convention: Convention,
    /// It is a bridge of the domain with this mark.
    pub bridges: Option<String>,
}

impl Stranger {
    /// As it is discovered.
    pub fn of(vendor: [u8; 2], user_data: &[u8]) -> Stranger {
        Stranger {
            convention: if vendor == CYCLONE { Convention::Within } else { Convention::Beside },
            bridges: user_data::value(user_data, MARK).map(str::to_owned),
        }
    }
}

/// The vendor of Cyclone DDS.
const CYCLONE: [u8; 2] = [1, 16];
/// The key of the mark that bridges have.
pub const MARK: &str = "sinew";

/// A writer or a reader.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// Its own.
    pub guid: Guid,
    /// Else it reads.
    pub writes: bool,
    /// As DDS has it.
    pub topic: String,
    /// As DDS has it.
    pub ty: String,
    /// Of what it offers, or asks for.
    pub qos: Qos,
    /// RIHS01, of those that tell it.
    pub hash: Option<String>,
}

/// All that were discovered. Those who were not heard of yet have nothing that is known of them.
#[derive(Debug, Default)]
pub struct Strangers {
    participants: HashMap<[u8; 12], Stranger>,
    endpoints: HashMap<Guid, Endpoint>,
    by_topic: HashMap<String, BTreeSet<Guid>>,
    /// Of the own domain: another bridge of it brings nothing that is new.
    mark: String,
}

impl Strangers {
    /// Nobody, so far.
    pub fn new(mark: String) -> Strangers {
        Strangers { mark, ..Strangers::default() }
    }

    /// Somebody is there. Whether it is another bridge of the same domain that was not known.
    pub fn came(&mut self, guid: Guid, stranger: Stranger) -> bool {
        let is_of_us = self.is_of_us(&stranger);
        let before = self.participants.insert(guid.participant(), stranger);
        is_of_us && !before.is_some_and(|before| self.is_of_us(&before))
    }

    /// With all endpoints that it had, which are told here.
    pub fn went(&mut self, guid: Guid) -> Vec<Key> {
        self.participants.remove(&guid.participant());
        let gone: Vec<Guid> = self.endpoints.keys().filter(|each| each.participant() == guid.participant()).copied().collect();
        gone.into_iter().flat_map(|guid| self.closed(guid)).collect()
    }

    /// An endpoint is there, or has changed: what may have to be looked at.
    pub fn opened(&mut self, endpoint: Endpoint) -> Vec<Key> {
        let keys = keys_of(&endpoint.topic);
        if !keys.is_empty() {
            self.by_topic.entry(endpoint.topic.clone()).or_default().insert(endpoint.guid);
            self.endpoints.insert(endpoint.guid, endpoint);
        }
        keys
    }

    /// Likewise, where one is gone.
    pub fn closed(&mut self, guid: Guid) -> Vec<Key> {
        let Some(endpoint) = self.endpoints.remove(&guid) else { return Vec::new() };
        if let Some(guids) = self.by_topic.get_mut(&endpoint.topic) {
            guids.remove(&guid);
            if guids.is_empty() {
                self.by_topic.remove(&endpoint.topic);
            }
        }
        keys_of(&endpoint.topic)
    }

    /// Whether anybody is there who is no bridge of the same domain.
    pub fn is_anybody(&self) -> bool {
        self.participants.values().any(|stranger| !self.is_of_us(stranger))
    }

    /// Of a topic of DDS, those who write, or read, and do not only bring what this domain has already.
    pub fn on(&self, topic: &str, writes: bool) -> impl Iterator<Item = &Endpoint> {
        let guids = self.by_topic.get(topic).into_iter().flatten();
        let endpoints = guids.filter_map(|guid| self.endpoints.get(guid));
        endpoints.filter(move |endpoint| endpoint.writes == writes && !self.is_echo(endpoint.guid))
    }

    /// What is known of it.
    pub fn endpoint(&self, guid: Guid) -> Option<&Endpoint> {
        self.endpoints.get(&guid)
    }

    /// Topics that somebody writes, with all who do, and services that somebody provides, with who reads requests and who writes replies.
    pub fn had(&self) -> Vec<(Kind, String, Vec<Endpoint>)> {
        let mut had = Vec::new();
        for topic in self.by_topic.keys() {
            let (kind, name, ends): (_, _, Vec<&Endpoint>) = match role(topic) {
                Some(Role::Topic(name)) => (Kind::Topic, name, self.on(topic, true).collect()),
                Some(Role::Requests(name)) => {
                    let replier = self.on(&names::replies(name), true).next();
                    (Kind::Service, name, self.on(topic, false).next().into_iter().zip(replier).flat_map(|(a, b)| [a, b]).collect())
                }
                _ => continue,
            };
            if !ends.is_empty() {
                had.push((kind, name.to_owned(), ends.into_iter().cloned().collect()));
            }
        }
        had.sort_by(|a, b| (a.0, &a.1).cmp(&(b.0, &b.1)));
        had
    }

    /// What it writes, or asks, this domain has already.
    pub fn is_echo(&self, guid: Guid) -> bool {
        self.participants.get(&guid.participant()).is_some_and(|stranger| self.is_of_us(stranger))
    }

    /// What it offers, or asks for.
    pub fn qos(&self, guid: Guid) -> Option<&Qos> {
        self.endpoints.get(&guid).map(|endpoint| &endpoint.qos)
    }

    /// Of the participant of an endpoint.
    pub fn convention(&self, guid: Guid) -> Convention {
        self.participants.get(&guid.participant()).map(|stranger| stranger.convention).unwrap_or_default()
    }

    fn is_of_us(&self, stranger: &Stranger) -> bool {
        stranger.bridges.as_deref() == Some(self.mark.as_str())
    }
}

/// What goes over that a topic of DDS is for.
fn keys_of(topic: &str) -> Vec<Key> {
    let both = |kind, name: &str| vec![(kind, name.to_owned(), Way::Out), (kind, name.to_owned(), Way::In)];
    match role(topic) {
        Some(Role::Topic(name)) => both(Kind::Topic, name),
        Some(Role::Requests(name) | Role::Replies(name)) => {
            let mut keys = both(Kind::Service, name);
            keys.extend(goals_of(name).into_iter().flat_map(|goals| both(Kind::Service, &goals)));
            keys
        }
        None => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guid(participant: u8, entity: u8) -> Guid {
        let mut guid = [0; 16];
        (guid[0], guid[15]) = (participant, entity);
        Guid(guid)
    }

    fn endpoint(participant: u8, entity: u8, topic: &str, writes: bool) -> Endpoint {
        Endpoint { guid: guid(participant, entity), writes, topic: topic.to_owned(), ty: String::new(), qos: Qos::default(), hash: None }
    }

    fn entities(strangers: &Strangers, topic: &str, writes: bool) -> Vec<u8> {
        strangers.on(topic, writes).map(|endpoint| endpoint.guid.0[15]).collect()
    }

    #[test]
    fn what_a_participant_had_goes_with_it() {
        let mut strangers = Strangers::new("here".to_owned());
        strangers.came(guid(1, 0), Stranger::of([1, 15], b""));
        let keys = strangers.opened(endpoint(1, 1, "rt/chatter", true));
        assert_eq!(keys, [(Kind::Topic, "chatter".to_owned(), Way::Out), (Kind::Topic, "chatter".to_owned(), Way::In)]);
        strangers.opened(endpoint(1, 2, "rt/chatter", false));
        strangers.opened(endpoint(2, 3, "rt/chatter", true));
        assert_eq!((entities(&strangers, "rt/chatter", true), entities(&strangers, "rt/chatter", false)), (vec![1, 3], vec![2]));
        assert_eq!(strangers.went(guid(1, 0)).len(), 4);
        assert_eq!((entities(&strangers, "rt/chatter", true), entities(&strangers, "rt/chatter", false)), (vec![3], vec![]));
        strangers.closed(guid(2, 3));
        assert_eq!((strangers.by_topic.len(), strangers.closed(guid(2, 3))), (0, vec![]));
    }

    #[test]
    fn what_a_bridge_of_the_same_domain_writes_is_not_wanted() {
        let mut strangers = Strangers::new("here".to_owned());
        let sister = || Stranger::of([1, 15], b"enclave=/;sinew=here;");
        assert_eq!([strangers.came(guid(1, 0), sister()), strangers.came(guid(1, 0), sister())], [true, false]);
        strangers.opened(endpoint(1, 1, "rt/a", true));
        assert!(!strangers.is_anybody() && entities(&strangers, "rt/a", true).is_empty() && strangers.is_echo(guid(1, 9)));
        assert!(!strangers.came(guid(2, 0), Stranger::of([1, 15], b"sinew=elsewhere;")));
        strangers.opened(endpoint(2, 2, "rt/a", true));
        assert!(strangers.is_anybody() && !strangers.is_echo(guid(2, 2)));
        assert_eq!(entities(&strangers, "rt/a", true), [2]);
    }

    #[test]
    fn what_is_had_there_is_what_somebody_writes_or_answers() {
        let mut strangers = Strangers::new("here".to_owned());
        strangers.came(guid(9, 0), Stranger::of([1, 15], b"sinew=here;"));
        for (participant, topic, writes) in [
            (1, "rt/b", true),
            (2, "rt/b", true),
            (1, "rt/read", false),
            (9, "rt/echo", true),
            (1, "rq/aRequest", false),
            (1, "rr/aReply", true),
            (1, "rq/halfRequest", false),
        ] {
            strangers.opened(endpoint(participant, topic.len() as u8, topic, writes));
        }
        let had: Vec<_> = strangers.had().into_iter().map(|(kind, name, ends)| (kind, name, ends.len())).collect();
        assert_eq!(had, [(Kind::Topic, "b".to_owned(), 2), (Kind::Service, "a".to_owned(), 2)]);
    }

    #[test]
    fn a_service_of_an_action_is_of_its_goals_in_the_domain_too() {
        let mut strangers = Strangers::default();
        let keys = strangers.opened(endpoint(1, 1, "rr/arm/go/_action/send_goalReply", true));
        let names: Vec<&str> = keys.iter().map(|(_, name, _)| name.as_str()).collect();
        assert_eq!(names, [["arm/go/_action/send_goal"; 2], ["arm/go/_action/goal"; 2]].concat());
    }

    #[test]
    fn how_services_work_the_vendor_tells() {
        let mut strangers = Strangers::default();
        strangers.came(guid(1, 0), Stranger::of([1, 15], b""));
        strangers.came(guid(2, 0), Stranger::of([1, 16], b""));
        assert_eq!([1, 2, 3].map(|n| strangers.convention(guid(n, 4))), [Convention::Beside, Convention::Within, Convention::Beside]);
    }

    #[test]
    fn what_is_of_no_ros_2_is_not_remembered() {
        let mut strangers = Strangers::default();
        assert_eq!(strangers.opened(endpoint(1, 1, "HelloWorldTopic", true)), []);
        assert!(strangers.by_topic.is_empty());
    }
}
