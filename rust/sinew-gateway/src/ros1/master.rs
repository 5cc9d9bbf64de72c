//! The master of ROS 1, who knows which node publishes what, and who subscribes to it.

use super::calls::{Unanswered, ask};
use super::uri::Uri;
use super::xml::Value;

/// As a node asks it.
pub struct Master {
    uri: Uri,
    /// Of the node.
    name: String,
    /// Where the node can be asked.
    at: String,
}

/// Which end of a topic the node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// It publishes.
    Publisher,
    /// It subscribes.
    Subscriber,
}

impl Role {
    fn word(self) -> &'static str {
        match self {
            Role::Publisher => "Publisher",
            Role::Subscriber => "Subscriber",
        }
    }
}

impl Master {
    /// Who is asked there, by the node of this name, which can be asked at `own`.
    pub fn new(uri: Uri, name: &str, own: &Uri) -> Master {
        Master { uri, name: name.to_owned(), at: own.to_string() }
    }

    /// Whether it knows the node, as it does from its first registration on. A master that was started anew does not.
    pub async fn knows_us(&self) -> Result<bool, Unanswered> {
        match self.ask("lookupNode", vec![self.name.as_str().into()]).await {
            Ok(at) => Ok(at.text() == Some(&self.at)),
            Err(Unanswered::Refused(_)) => Ok(false),
            Err(why) => Err(why),
        }
    }

    /// The node is an end of this topic from now on; the others are answered who are publishers of what it subscribes to, and subscribers of what it publishes.
    pub async fn register(&self, role: Role, topic: &str, ty: &str) -> Result<Vec<Uri>, Unanswered> {
        let method = format!("register{}", role.word());
        let answer = self.ask(&method, vec![topic.into(), ty.into(), self.at.as_str().into()]).await?;
        Ok(uris(&answer))
    }

    /// It is none any more.
    pub async fn unregister(&self, role: Role, topic: &str) -> Result<(), Unanswered> {
        let method = format!("unregister{}", role.word());
        self.ask(&method, vec![topic.into(), self.at.as_str().into()]).await.map(drop)
    }

    /// Which nodes publish and subscribe to what, as it says.
    pub async fn nodes(&self) -> Result<Value, Unanswered> {
        self.ask("getSystemState", Vec::new()).await
    }

    /// The same, and of which types that is, as it says both.
    pub async fn state(&self) -> Result<[Value; 2], Unanswered> {
        Ok([self.nodes().await?, self.ask("getTopicTypes", Vec::new()).await?])
    }

    async fn ask(&self, method: &str, arguments: Vec<Value>) -> Result<Value, Unanswered> {
        let whole = std::iter::once(self.name.as_str().into()).chain(arguments).collect();
        ask(&self.uri, method, whole).await
    }
}

/// Those in a list that are some.
pub fn uris(list: &Value) -> Vec<Uri> {
    list.list().unwrap_or_default().iter().filter_map(|uri| uri.text()?.parse().ok()).collect()
}
