//! `sinew service list`, `info`.

use std::io::Write;

use serde::Serialize;

use crate::actions::is_of_action;
use crate::beyond::{Beyond, Far};
use crate::cli::Cli;
use crate::doctor::neighbours::tell_if_empty;
use crate::domain::{Service, View, body_of, canonical, join, not_there};
use crate::failure::Done;
use crate::output::{Cell, NAME, TITLE, Table, json, out, shown};

#[derive(Serialize)]
struct Listed<'a> {
    name: &'a str,
    request: Option<String>,
    response: Option<String>,
    providers: Vec<String>,
    clients: Vec<String>,
    /// Peers of gateways that provide it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    at: Vec<String>,
}

impl<'a> Listed<'a> {
    fn of(view: &View, service: &Service<'a>) -> Listed<'a> {
        Listed {
            name: service.name,
            request: service.requests.and_then(body_of).map(|ty| ty.name()),
            response: service.responses.and_then(body_of).map(|ty| ty.name()),
            providers: view.publishing(service.responses),
            clients: view.publishing(service.requests),
            at: Vec::new(),
        }
    }

    /// One that only peers of gateways provide.
    fn of_far(name: &'a str, far: &Far) -> Listed<'a> {
        Listed {
            name,
            request: Some(far.type_name()),
            response: Some(far.response_name()),
            providers: Vec::new(),
            clients: Vec::new(),
            at: far.at.clone(),
        }
    }
}

/// Lists services.
pub fn list(cli: &Cli, verbose: bool, parts: bool) -> Done {
    let node = join(cli, "service-list")?;
    let view = View::of(&node)?;
    tell_if_empty(cli, &view);
    let services = view.services();
    let beyond = Beyond::of(&node, &view);
    let mut services: Vec<Listed> = services.iter().map(|service| Listed::of(&view, service)).collect();
    for service in &mut services {
        service.at = beyond.services.get(service.name).map(|far| far.at.clone()).unwrap_or_default();
    }
    let is_here = |name: &String| services.iter().any(|service| service.name == name);
    let far: Vec<Listed> = beyond.services.iter().filter(|(name, _)| !is_here(name)).map(|(name, far)| Listed::of_far(name, far)).collect();
    services.extend(far);
    services.retain(|service| parts || !is_of_action(service.name));
    services.sort_by(|a, b| a.name.cmp(b.name));
    if cli.json {
        return json(&services);
    }
    if !verbose {
        let mut out = out();
        for service in services {
            writeln!(out, "{}", shown(service.name))?;
        }
        return Ok(());
    }
    let titles = ["service", "request", "response", "providers", "clients", "peers"];
    let titles = if services.iter().all(|service| service.at.is_empty()) { &titles[..5] } else { &titles };
    let mut table = Table::new(titles);
    for service in services {
        let name_of = |name: Option<String>| Cell::new(name.unwrap_or_default());
        let cells = [
            Cell::new(service.name).styled(NAME),
            name_of(service.request),
            name_of(service.response),
            Cell::number(service.providers.len()),
            Cell::number(service.clients.len()),
            Cell::new(service.at.join(", ")),
        ];
        table.row(cells.into_iter().take(titles.len()));
    }
    table.print()
}

/// Shows one service.
pub fn info(cli: &Cli, name: &str) -> Done {
    let node = join(cli, "service-info")?;
    let view = View::of(&node)?;
    let services = view.services();
    let name = canonical(name);
    let beyond = Beyond::of(&node, &view);
    let far = beyond.services.get(name);
    let told = match (services.iter().find(|service| service.name == name), far) {
        (Some(service), far) => Listed { at: far.map(|far| far.at.clone()).unwrap_or_default(), ..Listed::of(&view, service) },
        (None, Some(far)) => Listed::of_far(name, far),
        (None, None) => return Err(not_there("service", name, services.iter().map(|service| service.name))),
    };
    if cli.json {
        return json(&told);
    }
    let mut out = out();
    writeln!(out, "{TITLE}service{TITLE:#}    {NAME}{}{NAME:#}", shown(told.name))?;
    writeln!(out, "{TITLE}request{TITLE:#}    {}", shown(told.request.as_deref().unwrap_or("unknown: nobody is there")))?;
    writeln!(out, "{TITLE}response{TITLE:#}   {}", shown(told.response.as_deref().unwrap_or("unknown: nobody is there")))?;
    writeln!(out, "{TITLE}providers{TITLE:#}  {}", shown(&told.providers.join(", ")))?;
    writeln!(out, "{TITLE}clients{TITLE:#}    {}", shown(&told.clients.join(", ")))?;
    if !told.at.is_empty() {
        writeln!(out, "{TITLE}at{TITLE:#}         {}", shown(&told.at.join(", ")))?;
    }
    Ok(())
}
