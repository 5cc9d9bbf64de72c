//! Names of types, as ROS 2 writes them and as DDS has them.

/// `std_msgs/msg/String` as `std_msgs::msg::dds_::String_`.
pub fn dds_name(name: &str) -> String {
    match name.rsplit_once('/') {
        Some((namespaces, name)) => format!("{}::dds_::{name}_", namespaces.replace('/', "::")),
        None => format!("dds_::{name}_"),
    }
}

/// The other way round. None: ROS 2 has no such type.
pub fn ros_name(dds_name: &str) -> Option<String> {
    let (namespaces, name) = dds_name.split_once("::dds_::")?;
    let name = name.strip_suffix('_')?;
    let parts: Vec<&str> = namespaces.split("::").chain([name]).collect();
    let is_word = |part: &&str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    (parts.len() > 1 && parts.iter().all(is_word)).then(|| parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_have_the_names_that_rosidl_gives_them_in_dds() {
        for (ros, dds) in [
            ("std_msgs/msg/String", "std_msgs::msg::dds_::String_"),
            ("example_interfaces/srv/AddTwoInts_Request", "example_interfaces::srv::dds_::AddTwoInts_Request_"),
            ("tf2_msgs/action/LookupTransform_SendGoal_Response", "tf2_msgs::action::dds_::LookupTransform_SendGoal_Response_"),
        ] {
            assert_eq!((dds_name(ros).as_str(), ros_name(dds).as_deref()), (dds, Some(ros)));
        }
    }

    #[test]
    fn what_is_no_type_of_ros_2_has_no_name_there() {
        for other in [
            "",
            "HelloWorld",
            "a::b::C",
            "dds_::C_",
            "::dds_::C_",
            "a::dds_::C",
            "a::dds_::_",
            "a::::dds_::C_",
            "a b::msg::dds_::C_",
            "a::msg::dds_::C/D_",
        ] {
            assert_eq!(ros_name(other), None, "{other}");
        }
    }
}
