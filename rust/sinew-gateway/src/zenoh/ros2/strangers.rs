//! Who else there is in the ROS domain, as tokens tell. Pure.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::attachment::Gid;
use super::token::{self, End, Kind, Told};
use crate::bridge::{Key, Way};
use crate::protocol;
use crate::ros2::action::goals_of;

/// Tokens that are remembered. A robot has some thousands.
const MOST: usize = 1 << 16;
/// Bytes of one of them. Names and types have some hundreds.
const LONGEST: usize = 2048;

/// All that were heard of. Those of this bridge, and of others of its domain, which bring nothing that is new, are not among them.
#[derive(Debug, Default)]
pub struct Strangers {
    /// Of the own session.
    zid: String,
    /// Of the own domain.
    enclave: String,
    ends: HashMap<String, End>,
    by_name: HashMap<(Kind, String), BTreeSet<String>>,
    /// Bridges of this domain, by their sessions, with their tokens.
    echoes: HashMap<String, BTreeSet<String>>,
    /// Of these tokens.
    gids: HashSet<Gid>,
}

impl Strangers {
    /// Nobody, so far.
    pub fn new(zid: String, enclave: String) -> Strangers {
        Strangers { zid, enclave, ..Strangers::default() }
    }

    /// A token is there: what may have to be looked at.
    pub fn came(&mut self, token: &str) -> Vec<Key> {
        if token.len() > LONGEST || self.count() >= MOST {
            return Vec::new();
        }
        let Some(Told { zid, enclave, end }) = token::parse(token) else { return Vec::new() };
        if zid == self.zid {
            return Vec::new();
        }
        if enclave == self.enclave {
            if !self.is_echo(&zid) {
                log::info!("another bridge of this domain is there: what that brings does not go back");
            }
            self.echoes.entry(zid).or_default().insert(token.to_owned());
            self.gids.insert(Gid::of(token));
            return Vec::new();
        }
        let Some(end) = end else { return Vec::new() };
        let keys = keys_of(&end);
        self.by_name.entry((end.kind, end.name.clone())).or_default().insert(token.to_owned());
        self.ends.insert(token.to_owned(), end);
        keys
    }

    fn count(&self) -> usize {
        self.ends.len() + self.echoes.values().map(BTreeSet::len).sum::<usize>()
    }

    /// Likewise, where it is gone.
    pub fn went(&mut self, token: &str) -> Vec<Key> {
        let Some(end) = self.ends.remove(token) else {
            self.gids.remove(&Gid::of(token));
            self.echoes.retain(|_, tokens| {
                tokens.remove(token);
                !tokens.is_empty()
            });
            return Vec::new();
        };
        let named = (end.kind, end.name.clone());
        if let Some(tokens) = self.by_name.get_mut(&named) {
            tokens.remove(token);
            if tokens.is_empty() {
                self.by_name.remove(&named);
            }
        }
        keys_of(&end)
    }

    /// Those of a topic or service, with their tokens.
    pub fn on(&self, kind: Kind, name: &str) -> impl Iterator<Item = (&str, &End)> {
        let tokens = self.by_name.get(&(kind, name.to_owned())).into_iter().flatten();
        tokens.filter_map(|token| Some((token.as_str(), self.ends.get(token)?)))
    }

    /// Topics that somebody publishes, and services that somebody serves, with all who do.
    pub fn had(&self) -> Vec<(protocol::Kind, String, Vec<End>)> {
        let mut had: Vec<(protocol::Kind, String, Vec<End>)> = Vec::new();
        for (kind, name) in self.by_name.keys() {
            let of = match kind {
                Kind::Publisher => protocol::Kind::Topic,
                Kind::Server => protocol::Kind::Service,
                Kind::Subscription | Kind::Client => continue,
            };
            had.push((of, name.clone(), self.on(*kind, name).map(|(_, end)| end.clone()).collect()));
        }
        had.sort_by(|a, b| (a.0, &a.1).cmp(&(b.0, &b.1)));
        had
    }

    /// What this session writes this domain has already. The own one is none of these: it puts its name to what came without a time, or with one that is yet to come.
    pub fn is_echo(&self, zid: &str) -> bool {
        self.echoes.contains_key(zid)
    }

    /// Likewise, of who has this gid.
    pub fn is_echo_of(&self, gid: Gid) -> bool {
        self.gids.contains(&gid)
    }
}

/// What goes over that it is for.
fn keys_of(end: &End) -> Vec<Key> {
    let both = |kind, name: &str| vec![(kind, name.to_owned(), Way::Out), (kind, name.to_owned(), Way::In)];
    match end.kind {
        Kind::Publisher | Kind::Subscription => both(protocol::Kind::Topic, &end.name),
        Kind::Server | Kind::Client => {
            let mut keys = both(protocol::Kind::Service, &end.name);
            keys.extend(goals_of(&end.name).into_iter().flat_map(|goals| both(protocol::Kind::Service, &goals)));
            keys
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ros2::qos::Qos;
    use crate::zenoh::ros2::token::{Author, enclave};

    fn token(zid: &str, enclave: &str, kind: Kind, name: &str) -> String {
        let author = Author { domain_id: 0, zid: zid.to_owned(), enclave: enclave.to_owned() };
        let end = End { kind, name: name.to_owned(), ty: "T".to_owned(), hash: "H".to_owned(), qos: Qos::default() };
        author.token(("node", 0), Some((1, &end)))
    }

    fn count(strangers: &Strangers, kind: Kind) -> usize {
        strangers.on(kind, "chatter").count()
    }

    #[test]
    fn who_has_a_topic_is_known_until_its_token_goes() {
        let mut strangers = Strangers::new("1".to_owned(), enclave("here"));
        let (said, heard) = (token("2", "%", Kind::Publisher, "chatter"), token("3", "%", Kind::Subscription, "chatter"));
        let keys = strangers.came(&said);
        assert_eq!(keys, [(protocol::Kind::Topic, "chatter".to_owned(), Way::Out), (protocol::Kind::Topic, "chatter".to_owned(), Way::In)]);
        // History tells some a second time.
        strangers.came(&said);
        strangers.came(&heard);
        assert_eq!((count(&strangers, Kind::Publisher), count(&strangers, Kind::Subscription)), (1, 1));
        assert_eq!(strangers.went(&said).len(), 2);
        assert_eq!((count(&strangers, Kind::Publisher), count(&strangers, Kind::Subscription)), (0, 1));
        strangers.went(&heard);
        assert!(strangers.went(&heard).is_empty() && strangers.by_name.is_empty() && strangers.ends.is_empty());
    }

    #[test]
    fn what_this_bridge_has_and_another_one_of_the_same_domain_is_not_wanted() {
        let mut strangers = Strangers::new("1".to_owned(), enclave("here"));
        let (own, sister) =
            (token("1", &enclave("here"), Kind::Publisher, "chatter"), token("2", &enclave("here"), Kind::Publisher, "chatter"));
        assert!(strangers.came(&own).is_empty() && strangers.came(&sister).is_empty());
        assert_eq!(count(&strangers, Kind::Publisher), 0);
        assert!(strangers.is_echo("2") && !strangers.is_echo("1") && !strangers.is_echo("3"));
        assert!(strangers.is_echo_of(Gid::of(&sister)) && !strangers.is_echo_of(Gid::of(&own)));
        strangers.came(&token("3", &enclave("elsewhere"), Kind::Publisher, "chatter"));
        assert_eq!((count(&strangers, Kind::Publisher), strangers.is_echo("3")), (1, false));
        strangers.went(&sister);
        assert!(!strangers.is_echo("2") && !strangers.is_echo_of(Gid::of(&sister)));
    }

    #[test]
    fn a_server_of_a_service_of_an_action_is_one_of_its_goals() {
        let mut strangers = Strangers::new("1".to_owned(), enclave("here"));
        let keys = strangers.came(&token("2", "%", Kind::Server, "arm/go/_action/get_result"));
        let names: Vec<&str> = keys.iter().map(|(_, name, _)| name.as_str()).collect();
        assert_eq!(names, [["arm/go/_action/get_result"; 2], ["arm/go/_action/goal"; 2]].concat());
    }

    #[test]
    fn what_is_had_there_is_what_somebody_publishes_or_serves() {
        let mut strangers = Strangers::new("1".to_owned(), enclave("here"));
        for (zid, name, kind) in [
            ("2", "b", Kind::Publisher),
            ("3", "b", Kind::Publisher),
            ("2", "read", Kind::Subscription),
            ("1", "own", Kind::Publisher),
            ("3", "a", Kind::Server),
            ("2", "called", Kind::Client),
        ] {
            strangers.came(&token(zid, "%", kind, name));
        }
        strangers.came(&token("4", &enclave("here"), Kind::Publisher, "echo"));
        let had: Vec<_> = strangers.had().into_iter().map(|(kind, name, ends)| (kind, name, ends.len())).collect();
        assert_eq!(had, [(protocol::Kind::Topic, "b".to_owned(), 2), (protocol::Kind::Service, "a".to_owned(), 1)]);
    }

    #[test]
    fn what_is_no_token_of_a_domain_is_not_remembered() {
        let mut strangers = Strangers::default();
        for token in ["", "@ros2_lv/0/2/0/0/NN/%/%/talker", "@ros2_lv/0/2/0/1/MP/%/%/talker/%~private/T/H/::,7:,:,:,,"] {
            assert!(strangers.came(token).is_empty(), "{token}");
        }
        let long = format!("@ros2_lv/0/2/0/1/MP/%/%/talker/%{}/T/H/::,7:,:,:,,", "a".repeat(LONGEST));
        assert!(strangers.came(&long).is_empty());
        assert!(strangers.ends.is_empty());
    }
}
