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
