//! Types of the domain, as ROS 1 knows them.

use std::sync::Arc;

use sinew::msg::Type;
use sinew::msg::ros1::{Definition, Library, Plan};

use super::header::Header;
use crate::peers::printable;

/// Those that were looked up, by definitions that are there. Without one, a type is what its signature says of it, which has no constants.
#[derive(Clone, Debug, Default)]
pub struct Types {
    library: Library,
}

/// A type.
#[derive(Clone, Debug)]
pub struct RosType {
    /// `sensor_msgs/Image`
    pub name: String,
    /// What is said of it to those who want it; else why nobody can have it, as half a sentence.
    pub said: Result<Said, String>,
    ty: Type,
}

/// Of a type with a definition that fits.
#[derive(Clone, Debug)]
pub struct Said {
    /// How its messages become those of ROS 1, and the other way round.
    pub plan: Arc<Plan>,
    name: String,
    sum: String,
    text: String,
}

impl Types {
    /// With these definitions.
    pub fn new(library: Library) -> Types {
        Types { library }
    }

    /// Fails with half a sentence.
    pub fn of(&self, signature: &str) -> Result<RosType, String> {
        let ty: Type = signature.parse().map_err(|why| format!("its type cannot be read: {why}"))?;
        let made = Definition::of(&ty).ok_or_else(|| format!("ROS 1 can have no type like {}, which has variants", ty.name()))?;
        let name = made.name().to_owned();
        let definition = self.find(&name).unwrap_or(made);
        let said = match Plan::new(&ty, &definition) {
            Ok(plan) => Ok(Said { plan: Arc::new(plan), name: name.clone(), sum: definition.md5sum(), text: definition.text() }),
            Err(why) => Err(format!("ROS 1 has another {name} than this domain: {why}")),
        };
        Ok(RosType { name, said, ty })
    }

    /// What the domain has for a type of this name. None: there is no definition of it.
    pub fn signature(&self, name: &str) -> Option<String> {
        Some(self.find(name)?.ty().ok()?.to_string())
    }

    fn find(&self, name: &str) -> Option<Definition> {
        self.library.find(name).unwrap_or_else(|why| {
            log::warn!("a definition is passed over: {why}");
            None
        })
    }

    /// How messages become those of this type that come from a publisher who says this; else why they are none, as a sentence.
    pub fn plan(&self, topic: &str, ty: &RosType, publisher: &Header) -> Result<Arc<Plan>, String> {
        let (name, sum) = (publisher.get("type"), publisher.get("md5sum"));
        if let Ok(said) = &ty.said
            && said.sum == sum
        {
            return Ok(Arc::clone(&said.plan));
        }
        let is_it = |definition: &Definition| definition.md5sum() == sum;
        let told = || Definition::read(name, publisher.get("message_definition")).ok().filter(is_it);
        let shown = printable(name);
        let definition = self.find(name).filter(is_it).or_else(told).ok_or_else(|| {
            let sum = printable(sum);
            format!("'{topic}' has {shown} with the MD5 sum {sum} in ROS 1, whose definition is not known: a folder that has it may be named in \"definitions\"")
        })?;
        let differs = |why| format!("'{topic}' has {shown} in ROS 1, and {} in this domain: {why}", ty.name);
        Plan::new(&ty.ty, &definition).map(Arc::new).map_err(differs)
    }
}

impl RosType {
    /// What is answered to a subscriber who asks so: name, sum and definition of the type; else why it cannot read what is published, as half a sentence.
    pub fn agree<'a>(&'a self, asked: &'a Header) -> Result<[&'a str; 3], String> {
        let said = self.said.as_ref().map_err(Clone::clone)?;
        let sum = asked.get("md5sum");
        if sum == "*" || sum == said.sum {
            return Ok([&said.name, &said.sum, &said.text]);
        }
        let theirs = [asked.get("type"), sum, asked.get("message_definition")];
        let definition = Definition::read(theirs[0], theirs[2]).ok().filter(|definition| definition.md5sum() == sum);
        match definition.map(|definition| Plan::new(&self.ty, &definition)) {
            // They differ in constants alone, and those are not in messages.
            Some(Ok(plan)) if plan == *said.plan => Ok(theirs),
            Some(Err(why)) => Err(why),
            _ => Err(format!(
                "its type is {} with the MD5 sum {}, and that of this domain {} with {}",
                printable(theirs[0]),
                printable(sum),
                said.name,
                said.sum
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: &str = "robot/Pose{x:float64;label:string;}";

    fn types(definition: &str) -> (tempfile::TempDir, Types) {
        let folder = tempfile::tempdir().expect("there is room");
        std::fs::create_dir_all(folder.path().join("robot/msg")).expect("there is room");
        std::fs::write(folder.path().join("robot/msg/Pose.msg"), definition).expect("there is room");
        let types = Types::new(Library::new(vec![folder.path().to_owned()]));
        (folder, types)
    }

    fn sum(definition: &str) -> String {
        Definition::read("robot/Pose", definition).expect("it is one").md5sum()
    }

    fn header(definition: &str) -> Header {
        Header::of([("type", "robot/Pose"), ("md5sum", &sum(definition)), ("message_definition", definition)])
    }

    #[test]
    fn a_type_with_a_definition_has_the_sum_of_that_with_its_constants() {
        let text = "uint8 KIND=1\nfloat64 x\nstring label\n";
        let (_folder, types) = types(text);
        let ours = types.of(HERE).expect("it is one");
        let any = Header::of([("md5sum", "*")]);
        assert_eq!(ours.agree(&any), Ok(["robot/Pose", sum(text).as_str(), text]));
        assert_eq!(ours.agree(&header(text)), ours.agree(&any));
    }

    #[test]
    fn a_type_with_a_definition_has_a_signature_that_fits_it() {
        let (_folder, types) = types("uint8 KIND=1\nfloat64 x\nstring label\n");
        let signature = types.signature("robot/Pose").expect("there is a definition");
        assert_eq!(signature, "robot/msg/Pose{x:float64;label:string;}");
        assert!(types.of(&signature).expect("it is one").said.is_ok());
        assert_eq!(types.signature("robot/Twist"), None);
    }

    #[test]
    fn who_knows_constants_that_are_not_known_here_is_answered_as_it_asks() {
        let types = Types::default();
        let ours = types.of(HERE).expect("it is one");
        let text = "uint8 KIND=1\nfloat64 x\nstring label\n";
        assert_eq!(ours.agree(&header(text)), Ok(["robot/Pose", sum(text).as_str(), text]));
        assert!(types.plan("a", &ours, &header(text)).is_ok());
        let untold = Header::of([("type", "robot/Pose"), ("md5sum", "0123")]);
        let why = ours.agree(&untold).expect_err("nobody knows");
        assert!(why.starts_with("its type is robot/Pose with the MD5 sum 0123, and that of this domain robot/Pose with "), "{why}");
        let why = types.plan("a", &ours, &untold).expect_err("nobody knows");
        assert!(why.starts_with("'a' has robot/Pose with the MD5 sum 0123 in ROS 1, whose definition is not known"), "{why}");
    }

    #[test]
    fn what_differs_is_told_with_the_field() {
        let types = Types::default();
        let ours = types.of(HERE).expect("it is one");
        let other = header("float32 x\nstring label\n");
        assert_eq!(ours.agree(&other), Err("field 'x' is float64 here and float32 there".to_owned()));
        let why = "'a' has robot/Pose in ROS 1, and robot/Pose in this domain: field 'x' is float64 here and float32 there";
        assert_eq!(types.plan("a", &ours, &other).expect_err("it is another"), why);
    }

    #[test]
    fn a_type_that_is_not_as_its_definition_cannot_be_had() {
        let (_folder, types) = types("float32 x\nstring label\n");
        let ours = types.of(HERE).expect("it is one");
        let why = "ROS 1 has another robot/Pose than this domain: field 'x' is float64 here and float32 there";
        assert_eq!(ours.said.as_ref().expect_err("it is another"), why);
        // But somebody there may have the same.
        assert!(types.plan("a", &ours, &header("float64 x\nstring label\n")).is_ok());
    }

    #[test]
    fn what_a_publisher_says_of_its_definition_is_not_believed_where_the_sum_says_otherwise() {
        let types = Types::default();
        let ours = types.of(HERE).expect("it is one");
        let wrong = Header::of([("type", "robot/Pose"), ("md5sum", "0123"), ("message_definition", "float64 x\nstring label\n")]);
        assert!(types.plan("a", &ours, &wrong).is_err());
    }

    #[test]
    fn a_type_with_variants_is_none_of_ros_1() {
        let why = Types::default().of("robot/State{it:(uint8|string);}").expect_err("it is none");
        assert_eq!(why, "ROS 1 can have no type like robot/State, which has variants");
    }
}
