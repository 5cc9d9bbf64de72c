//! What variables of the environment say.

use sinew::msg::nearest;

use crate::doctor::host::Host;
use crate::doctor::{Finding, Patient};

const KNOWN: [&str; 4] = ["SINEW_DOMAIN", "SINEW_NODE", "SINEW_CONFIG", "SINEW_LOG"];
const LEVELS: [&str; 5] = ["off", "error", "warn", "info", "debug"];

/// Looks at those that are sinew's; SINEW_CONFIG and SINEW_DOMAIN have checks of their own.
pub fn look(patient: &Patient) -> Option<Finding> {
    Some(judge(&patient.host))
}

fn judge(host: &Host) -> Finding {
    if let Some(level) = host.variable("SINEW_LOG").filter(|asked| !LEVELS.iter().any(|level| level.eq_ignore_ascii_case(asked))) {
        return Finding::problem(
            format!("SINEW_LOG is '{}', which is no level, so it is warn", level),
            "export SINEW_LOG=warn, or error, info, debug, off",
        );
    }
    let fits_a_name = |c: char| c.is_ascii_alphanumeric() || "_./-".contains(c);
    if let Some(name) = host.variable("SINEW_NODE").filter(|name| name.len() > 255 || !name.chars().all(fits_a_name)) {
        return Finding::problem(
            format!("SINEW_NODE is '{}', which is no name: none of the nodes that are started here can join", name),
            "unset SINEW_NODE, or use letters, digits and _ . / - alone",
        );
    }
    let unknown: Vec<&str> = host.variables("SINEW_").filter(|name| !KNOWN.contains(name)).collect();
    if let [first, ..] = unknown[..] {
        let near = nearest(first, KNOWN.into_iter()).map_or_else(String::new, |near| format!("; perhaps it was to be {near}"));
        let names = &unknown.join(", ");
        return Finding::warning(format!("sinew knows no {names}{near}"), format!("unset {}", &unknown.join(" ")));
    }
    if let Some(name) = host.variable("SINEW_NODE") {
        return Finding::ok(format!("SINEW_NODE calls every node that is started here '{}': two at once cannot be there", name));
    }
    let set: Vec<String> = KNOWN.iter().filter_map(|name| host.variable(name).map(|value| format!("{name}={value}"))).collect();
    Finding::ok(if set.is_empty() { "no variable of sinew is set".to_owned() } else { set.join(", ") })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Level;
    use crate::doctor::host::tests::host;

    fn of(variables: &[(&str, &str)]) -> Finding {
        judge(&host(&[], variables, &[]).1)
    }

    #[test]
    fn what_is_no_level_or_no_name_is_told_of() {
        assert_eq!(of(&[("SINEW_LOG", "warn")]), Finding::ok("SINEW_LOG=warn"));
        assert_eq!(of(&[("SINEW_LOG", "INFO")]).level(), Level::Ok);
        assert_eq!(of(&[("SINEW_LOG", "")]).level(), Level::Ok);
        let wrong = of(&[("SINEW_LOG", "verbose")]);
        assert!(wrong.level() == Level::Problem && wrong.found().contains("verbose"), "{wrong:?}");
        assert_eq!(of(&[("SINEW_NODE", "my camera")]).level(), Level::Problem);
        assert_eq!(of(&[("SINEW_NODE", "left/camera")]).level(), Level::Ok);
    }

    #[test]
    fn what_is_mistyped_is_told_of() {
        let wrong = of(&[("SINEW_DOMIAN", "left")]);
        assert!(wrong.level() == Level::Warning && wrong.found().contains("SINEW_DOMAIN"), "{wrong:?}");
    }
}
