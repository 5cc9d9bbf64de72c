//! The thesis' form (section 5.3).

use super::node::Node;
use super::own::{complete, path};
use super::source::Outcome;
use super::{Security, Settings, rulesets};

const KEYS: [&str; 2] = ["sng_config", "sm2_config"];
const GENERAL_KEYS: [&str; 6] = ["provide_auth", "require_auth", "key_file", "cert_file", "ca_cert_file", "tag"];

pub fn read(root: &Node<'_>) -> Outcome<Settings> {
    let table = root.table(&KEYS)?;
    let general = table.need("sng_config", "which says who may be a peer: in the form with 'sm2_config' it has to be there")?;
    let general = general.table(&GENERAL_KEYS)?;
    let said = |key| general.need(key, "which is true or false: whether certificates are shown, and asked for, has to be said")?.boolean();
    let mut settings = Settings::unsaid();
    let security = Security {
        provide_auth: said("provide_auth")?,
        require_auth: said("require_auth")?,
        key_file: general.read("key_file", path)?,
        cert_file: general.read("cert_file", path)?,
        ca_cert_file: general.read("ca_cert_file", path)?,
    };
    settings.security = complete(security).map_err(|missing| general.error(missing))?;
    // "" is none, as it is where the key is left out.
    let tag = |node: &Node<'_>| if node.text("a text")?.is_empty() { Ok(String::new()) } else { node.name() };
    settings.tag = general.read("tag", tag)?.unwrap_or_default();
    settings.rules.at = table.at();
    if let Some(rules) = table.read("sm2_config", |node| rulesets::read(node, &settings.transport))? {
        settings.rules = rules;
    }
    Ok(settings)
}
