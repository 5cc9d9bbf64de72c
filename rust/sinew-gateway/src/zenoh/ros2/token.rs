//! Liveliness tokens, by which nodes of rmw_zenoh know of each other. Pure.
//!
//! `@ros2_lv/DOMAIN/ZID/NODE/ID/KIND/ENCLAVE/NAMESPACE/NAME`, and for all that are no nodes `/TOPIC/TYPE/HASH/QOS` behind that. Bridges of sinew tell the mark of their domain as the enclave of their nodes, so that another one of the same domain knows them. What is parsed comes from strangers.

use std::time::Duration;

use super::attachment::Gid;
use super::names::{demangled, mangled};
use crate::ros2::qos::Qos;

/// What a token is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// Of a topic.
    Publisher,
    /// Likewise.
    Subscription,
    /// Of a service.
    Server,
    /// Likewise.
    Client,
}

const KINDS: [(&str, Kind); 4] = [("MP", Kind::Publisher), ("MS", Kind::Subscription), ("SS", Kind::Server), ("SC", Kind::Client)];
const NODE: &str = "NN";

/// A publisher, a subscription, a server or a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct End {
    /// Which.
    pub kind: Kind,
    /// Of the topic or service, as a domain has it.
    pub name: String,
    /// As DDS has its name; of a service, that of the service.
    pub ty: String,
    /// RIHS01.
    pub hash: String,
    /// Of what it offers, or asks for.
    pub qos: Qos,
}

/// What a token tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// Of its session.
    pub zid: String,
    /// As it stands there.
    pub enclave: String,
    /// None: it is of a node, or of something that no domain can have.
    pub end: Option<End>,
}

/// Whose tokens are to be made.
pub struct Author {
    /// ROS_DOMAIN_ID.
    pub domain_id: u32,
    /// Of the session.
    pub zid: String,
    /// See [`enclave`].
    pub enclave: String,
}

impl Author {
    /// That of a node of the domain, "front/camera", by its number; or of something of it, which has a number, too.
    pub fn token(&self, node: (&str, u64), end: Option<(u64, &End)>) -> String {
        let Author { domain_id, zid, enclave } = self;
        let (name, number) = node;
        let (namespace, name) = name.rsplit_once('/').unwrap_or(("", name));
        let (id, kind) = end.map_or((number, NODE), |(id, end)| (id, end.kind.name()));
        let mut token = format!("@ros2_lv/{domain_id}/{zid}/{number}/{id}/{kind}/{enclave}/{}/{name}", mangled(namespace));
        if let Some((_, End { name, ty, hash, qos, .. })) = end {
            token += &format!("/{}/{ty}/{hash}/{}", mangled(name), qos_text(qos));
        }
        token
    }
}

/// Of bridges of a domain with this mark.
pub fn enclave(mark: &str) -> String {
    let digits: String = Gid::of(mark).0[..8].iter().map(|byte| format!("{byte:02x}")).collect();
    mangled(&format!("sinew/{digits}"))
}

/// None: it is no token.
pub fn parse(token: &str) -> Option<Told> {
    let chunks: Vec<&str> = token.split('/').collect();
    let [_space, _domain, zid, _node, _id, kind, enclave, _namespace, _name, rest @ ..] = chunks.as_slice() else { return None };
    Some(Told { zid: (*zid).to_owned(), enclave: (*enclave).to_owned(), end: end_of(kind, rest) })
}

/// Later versions may say more behind what is known.
fn end_of(kind: &str, rest: &[&str]) -> Option<End> {
    let kind = KINDS.iter().find(|(name, _)| *name == kind).map(|(_, kind)| *kind)?;
    let [name, ty, hash, qos, ..] = rest else { return None };
    // It becomes part of a key, which is to have no wildcards.
    if !hash.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
        return None;
    }
    Some(End { kind, name: demangled(name)?, ty: (*ty).to_owned(), hash: (*hash).to_owned(), qos: qos_of(qos)? })
}

impl Kind {
    fn name(self) -> &'static str {
        KINDS.iter().find(|(_, kind)| *kind == self).map_or("", |(name, _)| *name)
    }
}

// --- quality of service ---------------------------------------------------------------------------------------------------------------

/// Of those that say none.
const DEPTH: u32 = 42;
/// Seconds and nanoseconds of what is for ever.
const FOR_EVER: (u64, u64) = (9_223_372_036, 854_775_807);

/// Numbers of rmw, between colons; what is as it is for most is left out.
fn qos_text(qos: &Qos) -> String {
    let unless = |number: u64, usual: u64| if number == usual { String::new() } else { number.to_string() };
    let time = |time: Option<Duration>| {
        let (seconds, rest) = time.map_or(FOR_EVER, |time| (time.as_secs(), time.subsec_nanos().into()));
        format!("{},{}", unless(seconds, FOR_EVER.0), unless(rest, FOR_EVER.1))
    };
    let (reliability, durability) = (if qos.reliable { "" } else { "2" }, if qos.transient_local { "1" } else { "" });
    // Who keeps all has no depth.
    let history = if qos.depth == 0 { "2,".to_owned() } else { format!(",{}", unless(qos.depth.into(), DEPTH.into())) };
    format!("{reliability}:{durability}:{history}:{}:{}:,{}", time(qos.deadline), time(qos.lifespan), time(qos.lease))
}

/// None: it is none.
fn qos_of(text: &str) -> Option<Qos> {
    let number = |text: &str, usual: u64| if text.is_empty() { Some(usual) } else { text.parse::<u64>().ok() };
    let time = |seconds: &str, rest: &str| {
        let whole = |(seconds, rest)| Duration::from_secs(seconds).saturating_add(Duration::from_nanos(rest));
        let told = whole((number(seconds, FOR_EVER.0)?, number(rest, FOR_EVER.1)?));
        // 0 is what was not said.
        Some((told != whole(FOR_EVER) && !told.is_zero()).then_some(told))
    };
    let mut parts = text.split(':').map(|part| part.split(',').collect::<Vec<_>>());
    let (reliability, durability, history) = (parts.next()?, parts.next()?, parts.next()?);
    let (deadline, lifespan, liveliness) = (parts.next()?, parts.next()?, parts.next()?);
    let ([reliability], [durability], [history, depth]) = (&reliability[..], &durability[..], &history[..]) else { return None };
    let ([deadline_s, deadline_ns], [lifespan_s, lifespan_ns]) = (&deadline[..], &lifespan[..]) else { return None };
    let [_, lease_s, lease_ns] = &liveliness[..] else { return None };
    let depth = u32::try_from(number(depth, DEPTH.into())?).ok()?;
    Some(Qos {
        reliable: number(reliability, 1)? != 2,
        transient_local: number(durability, 2)? == 1,
        depth: if number(history, 1)? == 2 { 0 } else { depth },
        lease: time(lease_s, lease_ns)?,
        deadline: time(deadline_s, deadline_ns)?,
        lifespan: time(lifespan_s, lifespan_ns)?,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use zenoh::key_expr::KeyExpr;

    use super::*;

    const HASH: &str = "RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18";

    fn author(enclave: &str) -> Author {
        Author { domain_id: 2, zid: "8b20917502ee955ac4476e0266340d5c".to_owned(), enclave: enclave.to_owned() }
    }

    fn chatter(kind: Kind, qos: Qos) -> End {
        End { kind, name: "chatter".to_owned(), ty: "std_msgs::msg::dds_::String_".to_owned(), hash: HASH.to_owned(), qos }
    }

    fn reliable(depth: u32) -> Qos {
        Qos { reliable: true, depth, ..Qos::default() }
    }

    #[test]
    fn tokens_are_those_that_the_talker_of_ros_2_has() {
        assert_eq!(author("%").token(("talker", 0), None), "@ros2_lv/2/8b20917502ee955ac4476e0266340d5c/0/0/NN/%/%/talker");
        assert_eq!(
            author("%").token(("talker", 0), Some((10, &chatter(Kind::Publisher, reliable(7))))),
            format!(
                "@ros2_lv/2/8b20917502ee955ac4476e0266340d5c/0/10/MP/%/%/talker/%chatter/std_msgs::msg::dds_::String_/{HASH}/::,7:,:,:,,"
            )
        );
    }

    #[test]
    fn a_node_in_a_namespace_stands_there() {
        let told = parse(&author("%").token(("front/left/camera", 3), None)).expect("it is one");
        assert!(author("%").token(("front/left/camera", 3), None).ends_with("/3/3/NN/%/%front%left/camera"));
        assert_eq!((told.zid.as_str(), told.enclave.as_str(), told.end), ("8b20917502ee955ac4476e0266340d5c", "%", None));
    }

    #[test]
    fn what_a_stranger_offers_is_read_with_what_it_leaves_out() {
        for (text, qos) in [
            ("::,:,:,:,,", reliable(42)),
            ("1:2:1,10:,:,:,,", reliable(10)),
            ("2::,1:,:,:,,", Qos { reliable: false, ..reliable(1) }),
            (":1:2,:,:,:,,", Qos { transient_local: true, ..reliable(0) }),
            ("::,5:,:9223372035,1854775807:,,", reliable(5)),
            ("::,5:1,500:0,0:1,9223372036,854775807", Qos { deadline: Some(Duration::new(1, 500)), ..reliable(5) }),
            ("::,5:,:2,0:,3,0", Qos { lifespan: Some(Duration::from_secs(2)), lease: Some(Duration::from_secs(3)), ..reliable(5) }),
        ] {
            assert_eq!(qos_of(text), Some(qos), "{text}");
        }
    }

    #[test]
    fn what_is_no_token_or_of_no_domain_tells_nothing() {
        for token in ["", "@ros2_lv/2/zid", "@ros2_lv/2/a/0/1/MP/%/%"] {
            assert_eq!(parse(token), None, "{token}");
        }
        for rest in [
            "",
            "/%chatter",
            "/%chatter/T/H",
            "/chatter/T/H/::,7:,:,:,,",
            "/%~chatter/T/H/::,7:,:,:,,",
            "/%chatter/T/H/::,x:,:,:,,",
            "/%chatter/T/*/::,7:,:,:,,",
        ] {
            let told = parse(&format!("@ros2_lv/2/a/0/1/MP/%/%/talker{rest}")).expect("it is of somebody");
            assert_eq!(told.end, None, "{rest}");
        }
        for text in ["", "::", "::,:,:,:", "::,:,:,:,", "::7:,:,:,,", "::,-1:,:,:,,", "::,4294967296:,:,:,,", "x::,:,:,:,,"] {
            assert_eq!(qos_of(text), None, "{text}");
        }
    }

    #[test]
    fn what_later_versions_say_behind_it_does_not_matter() {
        let token = author("%").token(("talker", 0), Some((10, &chatter(Kind::Subscription, reliable(7)))));
        assert_eq!(parse(&(token.clone() + "/more")), parse(&token));
    }

    #[test]
    fn bridges_of_one_domain_have_one_enclave() {
        assert_eq!(enclave("boot/0/default"), enclave("boot/0/default"));
        assert_ne!(enclave("boot/0/default"), enclave("boot/0/other"));
        assert!(demangled(&enclave("boot/0/default")).is_some_and(|enclave| enclave.starts_with("sinew/")));
    }

    fn times() -> impl Strategy<Value = Option<Duration>> {
        prop::option::of((0_u64..1 << 33, 1_u32..1_000_000_000).prop_map(|(seconds, rest)| Duration::new(seconds, rest)))
    }

    fn offers() -> impl Strategy<Value = Qos> {
        let all = (any::<bool>(), any::<bool>(), any::<u32>(), times(), times(), times());
        all.prop_map(|(reliable, transient_local, depth, lease, deadline, lifespan)| Qos {
            reliable,
            transient_local,
            depth,
            lease,
            deadline,
            lifespan,
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2000) })]

        #[test]
        fn what_was_told_is_understood_and_a_key_without_wildcards(qos in offers(), name in "[a-z]{1,5}(/[a-z0-9_]{1,5}){0,2}", node in "[a-z]{1,5}(/[a-z_]{1,5}){0,2}", which in 0..4_usize, id in any::<u64>()) {
            let end = End { name, ..chatter(KINDS[which].1, qos) };
            let token = author(&enclave("here")).token((&node, 7), Some((id, &end)));
            prop_assert!(!KeyExpr::try_from(token.as_str()).expect("it is one").is_wild());
            let told = parse(&token).expect("it is one");
            prop_assert_eq!((told.enclave, told.end), (enclave("here"), Some(end)));
        }

        #[test]
        fn no_text_makes_a_reader_panic(text in r"@ros2_lv/[0-9]{1,3}(/(%[a-z%]{0,5}|MP|NN|[0-9]{0,21}|[:,0-9]{0,20}|[\PC]{0,5})){0,14}", qos in "[:,0-9]{0,60}") {
            let _ = (parse(&text), qos_of(&qos));
        }
    }
}
