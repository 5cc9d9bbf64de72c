//! What goes onward, and that nothing goes round in circles (G38).
//!
//! What bridges and gateways bring into a domain they publish as carriers, of which two never meet. A gateway whose rules say "onward" reads it all the same, as an ordinary subscriber. It does so as a second node, whose name says
//! what it is for, and so do gateways publish what others have sent onward to them. A message has the name of its publisher's node, and no two nodes of a domain have the same one. So each gateway knows of every message
//! whether it is one that it has brought itself, or one that was sent onward before, and sends neither: whatever gateways and rules there are, each message goes onward once at most.

use sinew::GatewayStatus;

/// What the name of a gateway's second node ends with.
const SUFFIX: &str = "_onward";
/// What the names of gateways' nodes begin with.
const PREFIX: &str = "gateway_";

/// The second node of the gateway that is this node.
pub fn second(own: &str) -> String {
    if own.starts_with(PREFIX) { format!("{own}{SUFFIX}") } else { format!("{PREFIX}{own}{SUFFIX}") }
}

/// Whether it is the second node of a gateway.
pub fn is_onward(node: &str) -> bool {
    node.starts_with(PREFIX) && node.ends_with(SUFFIX)
}

/// Whether the gateway that is the node `own` sends on what this node publishes.
pub fn passes_on(own: &str, node: &str) -> bool {
    node != own && !is_onward(node)
}

/// Whether this topic may go onward at all. What gateways tell of themselves does not: this one's own would be taken for what it has brought.
pub fn may_go_onward(topic: &str) -> bool {
    topic != GatewayStatus::TOPIC
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neither_what_a_gateway_has_brought_itself_nor_what_was_sent_onward_before_goes_on() {
        for own in ["gateway_0a1b2c3d", "robot"] {
            assert!(!passes_on(own, own), "{own}");
            assert!(!passes_on(own, &second(own)), "{own}");
            assert!(!passes_on(own, &second("gateway_ffffffff")), "{own}");
            for other in ["gateway_ffffffff", "camera", "camera_onward"] {
                assert!(passes_on(own, other), "{own}, {other}");
            }
        }
    }
}
