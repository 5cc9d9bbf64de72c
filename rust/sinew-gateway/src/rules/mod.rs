//! What may go between this domain and a peer's, which way, and how: rulesets, as in section 5.3.2 of the thesis. Pure.

mod because;
mod symbol;

use crate::protocol::{Kind, Packing};

pub use because::{Because, Deciding, Place};
pub use symbol::Symbol;

/// All rulesets of a gateway, in the order of its configuration. The default has none, and lets nothing through.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rules {
    /// Where the list of them stands, or would.
    pub at: Place,
    /// The first that has the tag of a peer holds for it; without one, the first that has no tag.
    pub rulesets: Vec<Ruleset>,
}

/// What holds for the peers of one tag.
#[derive(Clone, Debug, PartialEq)]
pub struct Ruleset {
    /// Where it stands.
    pub at: Place,
    /// None: for all peers whose tag no other ruleset has.
    pub tag: Option<String>,
    /// None: no topic goes either way.
    pub topics: Option<RuleList>,
    /// None: no service goes either way.
    pub services: Option<RuleList>,
}

/// The rules for topics, or for services.
#[derive(Clone, Debug, PartialEq)]
pub struct RuleList {
    /// For names that no exception fits.
    pub base: Rule,
    /// The first that fits decides.
    pub exceptions: Vec<Exception>,
}

/// A rule for some names.
#[derive(Clone, Debug, PartialEq)]
pub struct Exception {
    /// Which.
    pub names: Names,
    /// What holds for them.
    pub rule: Rule,
}

/// Names of topics or services, compared letter by letter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Names {
    /// This one.
    Is(String),
    /// Those that begin with it.
    StartsWith(String),
    /// Those that have it anywhere.
    Contains(String),
}

/// One decision.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    /// Where it stands.
    pub at: Place,
    /// Which ways are open.
    pub symbol: Symbol,
    /// How it goes there.
    pub traffic: Traffic,
}

/// How messages of a channel go over the network.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Traffic {
    /// What is greater goes first.
    pub priority: i32,
    /// Messages a second at most; others are left out. More than 0.
    pub max_rate: Option<f64>,
    /// Bits a second at most. More than 0.
    pub max_bandwidth: Option<u64>,
    /// Nothing is given up for something newer.
    pub reliable: bool,
    /// How messages are packed.
    pub compression: Packing,
    /// Also what bridges, and other gateways, have brought into this domain (G38). Of topics that the rule lets out.
    pub onward: bool,
}

/// What a gateway's own rules say of a channel; the peer's may restrict it ([`Symbol::combined`]).
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    /// Which ways are open.
    pub symbol: Symbol,
    /// How it goes there.
    pub traffic: Traffic,
    /// Which rule has decided.
    pub because: Because,
}

impl Rules {
    /// Of the topic or service `name`, and a peer that says that it has `peer_tag` ("": none).
    pub fn decide(&self, kind: Kind, name: &str, peer_tag: &str) -> Decision {
        let tagged = self.rulesets.iter().position(|ruleset| ruleset.tag.as_deref() == Some(peer_tag));
        let Some(number) = tagged.or_else(|| self.rulesets.iter().position(|ruleset| ruleset.tag.is_none())) else {
            return Decision::nothing(Because { at: self.at.clone(), ruleset: None, deciding: Deciding::NoRuleset });
        };
        let ruleset = &self.rulesets[number];
        let because = |at: &Place, deciding| Because { at: at.clone(), ruleset: Some((number + 1, ruleset.tag.clone())), deciding };
        let list = match kind {
            Kind::Topic => &ruleset.topics,
            Kind::Service => &ruleset.services,
        };
        let Some(list) = list else { return Decision::nothing(because(&ruleset.at, Deciding::NoRules(kind))) };
        let (rule, deciding) = match list.exceptions.iter().position(|exception| exception.names.fit(name)) {
            Some(at) => (&list.exceptions[at].rule, Deciding::Exception(at + 1, list.exceptions[at].names.clone())),
            None => (&list.base, Deciding::BaseRule),
        };
        Decision { symbol: rule.symbol, traffic: rule.traffic.clone(), because: because(&rule.at, deciding) }
    }
}

impl Decision {
    fn nothing(because: Because) -> Decision {
        Decision { symbol: Symbol::None, traffic: Traffic::default(), because }
    }
}

impl Names {
    /// Whether this is one of them.
    pub fn fit(&self, name: &str) -> bool {
        match self {
            Names::Is(text) => name == text,
            Names::StartsWith(text) => name.starts_with(text.as_str()),
            Names::Contains(text) => name.contains(text.as_str()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn at(line: usize) -> Place {
        Place { file: Path::new("robot.json").into(), line, column: 3 }
    }

    fn rule(symbol: Symbol, line: usize) -> Rule {
        Rule { at: at(line), symbol, traffic: Traffic { priority: line as i32, ..Traffic::default() } }
    }

    fn list(base: Rule, exceptions: impl IntoIterator<Item = (Names, Rule)>) -> Option<RuleList> {
        Some(RuleList { base, exceptions: exceptions.into_iter().map(|(names, rule)| Exception { names, rule }).collect() })
    }

    fn ruleset(tag: Option<&str>, line: usize, topics: Option<RuleList>, services: Option<RuleList>) -> Ruleset {
        Ruleset { at: at(line), tag: tag.map(str::to_owned), topics, services }
    }

    fn rules(rulesets: impl IntoIterator<Item = Ruleset>) -> Rules {
        Rules { at: at(1), rulesets: rulesets.into_iter().collect() }
    }

    #[test]
    fn for_all_symbols_of_both_sides_and_both_kinds_what_one_lets_out_the_other_lets_in() {
        for (ours, theirs) in Symbol::ALL.into_iter().flat_map(|ours| Symbol::ALL.map(|theirs| (ours, theirs))) {
            // Services have the peer's symbol, so that it is seen which list decides.
            let here = rules([ruleset(None, 2, list(rule(ours, 3), []), list(rule(theirs, 4), []))]);
            let there = rules([ruleset(None, 2, list(rule(theirs, 3), []), list(rule(ours, 4), []))]);
            for (kind, line) in [(Kind::Topic, 3), (Kind::Service, 4)] {
                let (local, peer) = (here.decide(kind, "any", ""), there.decide(kind, "any", ""));
                assert_eq!((local.because.at.line, local.traffic.priority), (line, line as i32));
                let combined = local.symbol.combined(peer.symbol);
                assert_eq!(combined.lets_out(), local.symbol.lets_out() && peer.symbol.lets_in(), "{kind:?}: {ours} with {theirs}");
                assert_eq!(combined.lets_in(), local.symbol.lets_in() && peer.symbol.lets_out(), "{kind:?}: {ours} with {theirs}");
            }
        }
    }

    #[test]
    fn the_first_exception_that_fits_decides_and_the_base_rule_where_none_does() {
        let exceptions = [
            (Names::Is("arm/raw".into()), rule(Symbol::In, 11)),
            (Names::StartsWith("arm/".into()), rule(Symbol::Out, 12)),
            (Names::Contains("raw".into()), rule(Symbol::None, 13)),
            (Names::Is("arm/late".into()), rule(Symbol::Both, 14)),
        ];
        let rules = rules([ruleset(None, 2, list(rule(Symbol::Both, 10), exceptions.clone()), list(rule(Symbol::None, 20), exceptions))]);
        for (name, symbol, line) in [
            ("arm/raw", Symbol::In, 11),
            ("arm/raw/2", Symbol::Out, 12),
            ("arm/late", Symbol::Out, 12),
            ("arm/", Symbol::Out, 12),
            ("camera/raw", Symbol::None, 13),
            ("raw", Symbol::None, 13),
        ] {
            for kind in [Kind::Topic, Kind::Service] {
                let decision = rules.decide(kind, name, "");
                assert_eq!(
                    (decision.symbol, decision.because.at.line, decision.traffic.priority),
                    (symbol, line, line as i32),
                    "{kind:?} {name}"
                );
            }
        }
        for name in ["arm", "Arm/x", "camera", "", "RAW", "/arm/ra"] {
            assert_eq!(rules.decide(Kind::Topic, name, "").because.deciding, Deciding::BaseRule, "{name}");
            assert_eq!(rules.decide(Kind::Topic, name, "").symbol, Symbol::Both, "{name}");
            assert_eq!(rules.decide(Kind::Service, name, "").because.at.line, 20, "{name}");
        }
    }

    #[test]
    fn the_first_ruleset_of_the_tag_holds_then_the_first_without_a_tag_then_nothing_goes() {
        let only = |symbol, line| list(rule(symbol, line), []);
        let mut rules = rules([
            ruleset(Some("a"), 2, only(Symbol::Out, 3), None),
            ruleset(None, 4, only(Symbol::In, 5), None),
            ruleset(Some("a"), 6, only(Symbol::Both, 7), only(Symbol::Both, 8)),
            ruleset(Some("b"), 9, only(Symbol::Both, 10), None),
            ruleset(None, 11, only(Symbol::Both, 12), only(Symbol::Both, 13)),
        ]);
        let decided = |rules: &Rules, kind, tag| {
            let decision = rules.decide(kind, "any", tag);
            (decision.symbol, decision.because.at.line)
        };
        assert_eq!(decided(&rules, Kind::Topic, "a"), (Symbol::Out, 3));
        assert_eq!(decided(&rules, Kind::Topic, "b"), (Symbol::Both, 10));
        assert_eq!(decided(&rules, Kind::Topic, "c"), (Symbol::In, 5));
        assert_eq!(decided(&rules, Kind::Topic, ""), (Symbol::In, 5));
        assert_eq!(decided(&rules, Kind::Topic, "A"), (Symbol::In, 5));
        // A ruleset that says nothing of services has nobody behind it who might.
        assert_eq!(decided(&rules, Kind::Service, "a"), (Symbol::None, 2));
        assert_eq!(decided(&rules, Kind::Service, "c"), (Symbol::None, 4));
        rules.rulesets.retain(|ruleset| ruleset.tag.is_some());
        assert_eq!(decided(&rules, Kind::Topic, "c"), (Symbol::None, 1));
        assert_eq!(Rules::default().decide(Kind::Topic, "any", "").symbol, Symbol::None);
    }

    #[test]
    fn the_reason_names_the_rule_its_ruleset_and_its_place() {
        let exceptions = [(Names::StartsWith("cam".into()), rule(Symbol::Out, 7))];
        let rules = rules([ruleset(Some("a"), 2, list(rule(Symbol::None, 3), exceptions), None)]);
        let because = |kind, name, tag| rules.decide(kind, name, tag).because;
        let camera = because(Kind::Topic, "camera", "a");
        assert_eq!(camera.to_string(), "exception 1 (starts_with 'cam') in ruleset 1, which is for the tag 'a'");
        assert_eq!(camera.at.to_string(), "robot.json:7:3");
        assert_eq!(
            because(Kind::Topic, "x", "a").to_string(),
            "the base rule, as no exception fits, in ruleset 1, which is for the tag 'a'"
        );
        assert!(because(Kind::Service, "x", "a").to_string().starts_with("no 'services'"));
        assert!(because(Kind::Topic, "x", "b").to_string().starts_with("no ruleset for the peer's tag"));
    }
}
