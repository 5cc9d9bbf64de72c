//! Types of the domain, as ROS 2 knows them.

use sinew::msg::encapsulation::ENCAPSULATION;
use sinew::msg::ros2::{Interface, Library, dds_name};
use sinew::msg::{Type, schema};

use crate::peers::printable;

/// Those that were looked up, by definitions that are there. Without one, a type is what its signature says of it.
#[derive(Clone, Debug, Default)]
pub struct Types {
    library: Library,
}

/// A service.
#[derive(Clone, Debug)]
pub struct RosService {
    /// Of it.
    pub request: RosType,
    /// Likewise.
    pub response: RosType,
    /// As DDS has the name of its type.
    pub dds: String,
    /// RIHS01.
    pub hash: String,
}

/// A type.
#[derive(Clone, Debug)]
pub struct RosType {
    /// As it is in messages there.
    pub ty: Type,
    /// As DDS has it.
    pub dds: String,
    /// RIHS01.
    pub hash: String,
    interface: Interface,
    /// There is a definition of it, so that its hash is the one that ROS 2 has.
    is_defined: bool,
    /// Another one of the same name.
    other: Option<Interface>,
}

impl Types {
    /// With these definitions.
    pub fn new(library: Library) -> Types {
        Types { library }
    }

    /// Fails with half a sentence.
    pub fn of(&self, signature: &str) -> Result<RosType, String> {
        let ty: Type = signature.parse().map_err(|why| format!("its type cannot be read: {why}"))?;
        self.known(ty)
    }

    /// Likewise.
    pub fn known(&self, ty: Type) -> Result<RosType, String> {
        let said = Interface::of(&ty).ok_or_else(|| format!("ROS 2 can have no type like {}, which has variants", ty.name()))?;
        let defined = self.find(said.name());
        let (interface, is_defined, other) = match defined {
            Some(defined) if said.difference(&defined).is_none() => (defined, true, None),
            other => (said, false, other),
        };
        Ok(RosType { dds: dds_name(interface.name()), hash: interface.hash(), ty, interface, is_defined, other })
    }

    /// By its definition. None: there is none.
    pub fn find(&self, name: &str) -> Option<Interface> {
        self.library.find(name).unwrap_or_else(|why| {
            log::warn!("a definition is passed over: {why}");
            None
        })
    }

    /// The service with these requests and responses. Fails with half a sentence.
    pub fn service(&self, request: &str, response: &str) -> Result<RosService, String> {
        let (request, response) = (self.of(request)?, self.of(response)?);
        let (asked, answered) = (request.interface.name(), response.interface.name());
        let why =
            format!("a service of ROS 2 has requests NAME_Request and responses NAME_Response, and this one has {asked} and {answered}");
        RosService::of(request, response).ok_or(why)
    }
}

impl RosService {
    /// None: they are no pair.
    fn of(request: RosType, response: RosType) -> Option<RosService> {
        let (asked, answered) = (request.interface.name(), response.interface.name());
        let is_pair = asked.strip_suffix("_Request").is_some_and(|name| answered.strip_suffix("_Response") == Some(name));
        let service = Interface::service(&request.interface, &response.interface).filter(|_| is_pair)?;
        Some(RosService { dds: dds_name(service.name()), hash: service.hash(), request, response })
    }

    /// What ROS 2 makes of other types, as [`RosType::made`].
    pub fn made(pair: Option<[Interface; 2]>, is_defined: bool) -> Option<RosService> {
        let [request, response] = pair?;
        RosService::of(RosType::made(Some(request), is_defined)?, RosType::made(Some(response), is_defined)?)
    }

    /// Of requests and responses.
    pub fn pair(&self) -> [&RosType; 2] {
        [&self.request, &self.response]
    }

    /// Whether what somebody serves who tells this type is the service; else why not, as a sentence.
    pub fn fits(&self, name: &str, ty: &str, hash: &str) -> Result<(), String> {
        if ty != self.dds {
            return Err(another(name, ty, &self.dds));
        }
        if hash == self.hash || !(self.request.is_defined && self.response.is_defined) {
            return Ok(());
        }
        Err(another_hash(name, &self.dds, hash, &self.hash))
    }
}

fn another(name: &str, there: &str, here: &str) -> String {
    format!("'{name}' has {} in the ROS 2 network, and {here} in this domain", printable(there))
}

fn another_hash(name: &str, ty: &str, there: &str, here: &str) -> String {
    format!("'{name}' has another {ty} in the ROS 2 network ({}) than in this domain ({here})", printable(there))
}

impl RosType {
    /// What ROS 2 makes of other types, which are defined, or are not. None: it makes none.
    pub fn made(interface: Option<Interface>, is_defined: bool) -> Option<RosType> {
        let interface = interface?;
        let ty = interface.ty().ok()?;
        Some(RosType { dds: dds_name(interface.name()), hash: interface.hash(), ty, interface, is_defined, other: None })
    }

    /// All that is known of it.
    pub fn interface(&self) -> &Interface {
        &self.interface
    }

    /// Its hash is the one that ROS 2 has.
    pub fn is_defined(&self) -> bool {
        self.is_defined
    }

    /// What others find behind a message of it (see [`schema::padding`]).
    pub fn padding(&self) -> &'static [u8] {
        schema::padding(&self.ty)
    }

    /// Of a message of it of which so many bytes came, those that are it here, with its encapsulation: without what others have in one that has nothing, and what they add behind that.
    pub fn size_here(&self, came: usize) -> usize {
        if self.padding().is_empty() { came } else { came.min(ENCAPSULATION) }
    }

    /// As endpoints tell it.
    pub fn user_data(&self) -> String {
        format!("typehash={};", self.hash)
    }

    /// Whether what somebody writes, or reads, who tells this type is of it; else why not, as a sentence. Not everybody tells a hash.
    pub fn fits(&self, topic: &str, ty: &str, hash: Option<&str>) -> Result<(), String> {
        if ty != self.dds {
            return Err(another(topic, ty, &self.dds));
        }
        let Some(there) = hash.filter(|there| *there != self.hash) else { return Ok(()) };
        let name = self.interface.name();
        if let Some(other) = self.other.as_ref().filter(|other| other.hash() == there)
            && let Some(difference) = self.interface.difference(other)
        {
            return Err(format!("'{topic}' has another {name} in the ROS 2 network than in this domain: {difference}"));
        }
        // Without a definition nobody knows what of it has a bound, and so another hash and the same messages.
        if !self.is_defined {
            return Ok(());
        }
        Err(another_hash(topic, name, there, &self.hash))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn types(definition: &str) -> (tempfile::TempDir, Types) {
        let folder = tempfile::tempdir().expect("there is room");
        std::fs::create_dir_all(folder.path().join("robot/msg")).expect("there is room");
        std::fs::write(folder.path().join("robot/msg/Pose.msg"), definition).expect("there is room");
        let types = Types::new(Library::new(vec![folder.path().to_owned()]));
        (folder, types)
    }

    fn hash_of(definition: &str) -> Option<String> {
        Some(Interface::read("robot/msg/Pose", definition).expect("it is one").hash())
    }

    const HERE: &str = "robot/Pose{x:float64;label:string;}";
    const NAME: &str = "robot::msg::dds_::Pose_";

    #[test]
    fn a_type_with_a_definition_has_the_hash_of_that_and_fits_no_other() {
        let (_folder, types) = types("float64 x\nstring<=9 label\n");
        let ours = types.of(HERE).expect("it is one");
        assert_eq!((ours.dds.as_str(), Some(&ours.hash)), (NAME, hash_of("float64 x\nstring<=9 label\n").as_ref()));
        assert_eq!(ours.fits("a", NAME, None), Ok(()));
        assert_eq!(ours.fits("a", NAME, Some(&ours.hash)), Ok(()));
        let why = ours.fits("a", NAME, hash_of("float32 x\n").as_deref()).expect_err("it is another");
        assert!(why.starts_with("'a' has another robot/msg/Pose in the ROS 2 network (RIHS01_"), "{why}");
        let why = ours.fits("a", "robot::msg::dds_::Twist_", None).expect_err("it is another");
        assert_eq!(why, "'a' has robot::msg::dds_::Twist_ in the ROS 2 network, and robot::msg::dds_::Pose_ in this domain");
    }

    #[test]
    fn a_type_that_differs_from_its_definition_names_the_field_where_that_is_what_is_there() {
        let (_folder, types) = types("float32 x\nstring label\n");
        let ours = types.of(HERE).expect("it is one");
        let why = ours.fits("a", NAME, hash_of("float32 x\nstring label\n").as_deref()).expect_err("it is another");
        assert_eq!(
            why,
            "'a' has another robot/msg/Pose in the ROS 2 network than in this domain: field 'x' is float64 here and float32 there"
        );
    }

    #[test]
    fn without_a_definition_another_hash_may_be_of_the_same_messages() {
        let ours = Types::default().of(HERE).expect("it is one");
        assert_eq!(ours.fits("a", NAME, hash_of("float64 x\nstring<=9 label\n").as_deref()), Ok(()));
        assert_eq!(ours.hash, hash_of("float64 x\nstring label\n").expect("it is one"));
    }

    #[test]
    fn a_service_has_the_name_and_the_hash_that_rosidl_gives_it() {
        let add = |end: &str, fields: &str| format!("example_interfaces/srv/AddTwoInts_{end}{{{fields}}}");
        let (request, response) = (add("Request", "a:int64;b:int64;"), add("Response", "sum:int64;"));
        let service = Types::default().service(&request, &response).expect("it is one");
        assert_eq!(service.dds, "example_interfaces::srv::dds_::AddTwoInts_");
        assert_eq!(service.hash, "RIHS01_e118de6bf5eeb66a2491b5bda11202e7b68f198d6f67922cf30364858239c81a");
        assert_eq!(service.fits("add", &service.dds, "RIHS01_0"), Ok(()), "nobody knows of bounds");
        assert!(service.fits("add", "example_interfaces::srv::dds_::Trigger_", &service.hash).is_err());
        let why = Types::default().service(&response, &request).expect_err("it is none");
        assert!(
            why.ends_with("and this one has example_interfaces/srv/AddTwoInts_Response and example_interfaces/srv/AddTwoInts_Request"),
            "{why}"
        );
    }

    #[test]
    fn a_type_with_variants_is_none_of_ros_2() {
        let why = Types::default().of("robot/State{it:(uint8|string);}").expect_err("it is none");
        assert_eq!(why, "ROS 2 can have no type like robot/State, which has variants");
    }
}
