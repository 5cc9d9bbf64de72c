//! What programs of ROS 2 have, as those are told who look for it in the domain.

use sinew::GatewayEntry;
use sinew::msg::ros2::ros_name;

use super::qos::Qos;
use super::types::Types;
use crate::peers::printable;
use crate::protocol::Kind;

/// Whether it is told. Parts of actions are no topics and services to those who look for some.
pub fn is_listed(name: &str) -> bool {
    !name.contains("/_action/")
}

/// A topic of this type, as DDS has its name, whose publishers offer this.
pub fn topic<'a>(types: &Types, name: &str, ty: &str, offers: impl Iterator<Item = &'a Qos> + Clone) -> GatewayEntry {
    GatewayEntry {
        name: name.to_owned(),
        kind: Kind::Topic.name().to_owned(),
        signature: signature(types, ty),
        response: String::new(),
        // Who keeps all has none, as in a domain.
        depth: offers.clone().map(|offered| offered.depth).max().unwrap_or(1),
        reliable: offers.clone().all(|offered| offered.reliable),
        transient_local: offers.clone().all(|offered| offered.transient_local),
    }
}

/// A service whose requests and responses are of these types.
pub fn service(types: &Types, name: &str, [request, response]: [&str; 2]) -> GatewayEntry {
    GatewayEntry {
        name: name.to_owned(),
        kind: Kind::Service.name().to_owned(),
        signature: signature(types, request),
        response: signature(types, response),
        ..GatewayEntry::default()
    }
}

/// Of a type without a definition nothing is known but its name.
fn signature(types: &Types, dds: &str) -> String {
    let name = ros_name(dds).unwrap_or_else(|| printable(dds));
    let ty = types.find(&name).and_then(|interface| interface.ty().ok());
    ty.map_or(name, |ty| ty.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_all_publishers_offer_is_told() {
        let offer = |reliable, transient_local, depth| Qos { reliable, transient_local, depth, ..Qos::default() };
        let told = |offers: &[Qos]| {
            let entry = topic(&Types::default(), "a", "their_msgs::msg::dds_::Thing_", offers.iter());
            assert_eq!((entry.kind.as_str(), entry.signature.as_str(), entry.response.as_str()), ("topic", "their_msgs/msg/Thing", ""));
            (entry.reliable, entry.transient_local, entry.depth)
        };
        assert_eq!(told(&[offer(true, true, 3), offer(true, true, 0)]), (true, true, 3));
        assert_eq!(told(&[offer(true, true, 3), offer(true, false, 5)]), (true, false, 5));
        assert_eq!(told(&[offer(false, true, 0)]), (false, true, 0));
    }

    #[test]
    fn a_type_that_is_none_of_ros_2_is_told_as_it_is_said() {
        let entry = service(&Types::default(), "a", ["std_srvs::srv::dds_::Empty_Request_", "what?"]);
        assert_eq!((entry.signature.as_str(), entry.response.as_str()), ("std_srvs/srv/Empty_Request", "what?"));
        assert!(is_listed("arm/move") && !is_listed("arm/go/_action/send_goal"));
    }
}
