//! `sinew service call`: a request from YAML or JSON, and its response as text.

use std::io::Write;
use std::time::{Duration, Instant};

use sinew::msg::{Type, print};
use sinew::raw::{Client, ClientOptions, Frame};

use crate::beyond::Beyond;
use crate::cli::{Cli, duration};
use crate::completion::Names;
use crate::documents;
use crate::domain::{View, body_of, canonical, join, not_there, wait_for};
use crate::failure::{Done, Failure};
use crate::output::{out, shown};
use crate::pending::{FOR_A_PROVIDER, Pending};
use crate::typed;

/// What `--help` shows.
pub const EXAMPLES: &str = "\
Examples:
  sinew service call add '{a: 1, b: 2}'
  sinew service call add example_interfaces/srv/AddTwoInts '{a: 1, b: 2}'
  sinew service call --json --timeout 2s map/save 'path: /tmp/map' | jq .size

Fields that are left out are zero, empty or none. What the provider fails with ends this with exit status 1, no provider with 3.";

/// What to call.
#[derive(clap::Args, Debug)]
pub struct Call {
    /// The service
    #[arg(add = Names::Services.completer())]
    pub service: String,
    /// Its type, which may be left out
    #[arg(value_name = "TYPE", add = Names::TypesOfServices.completer())]
    first: Option<String>,
    /// The request as YAML or JSON
    #[arg(value_name = "REQUEST")]
    second: Option<String>,
    /// How long to wait at most, as 500ms or 2s [default: 5s for a provider, and then for its response without end]
    #[arg(long, value_parser = duration)]
    pub timeout: Option<Duration>,
}

/// Calls it, and prints the response.
pub fn call(cli: &Cli, asked: &Call) -> Done {
    let begin = Instant::now();
    let node = join(cli, "service-call")?;
    let service = canonical(&asked.service);
    let view = View::of(&node)?;
    let far = if find(&view, service).is_err() { Beyond::of(&node, &view).services.remove(service) } else { None };
    let (request, response) = match far {
        Some(far) => (far.ty().map_err(Failure::Failed)?, far.response_ty().map_err(Failure::Failed)?),
        None => wait_for(&node, asked.timeout.unwrap_or(FOR_A_PROVIDER), |view| find(view, service))?,
    };
    let (type_name, text) = typed::split(asked.first.as_deref(), asked.second.as_deref());
    typed::check(&format!("requests of service '{}' are", shown(service)), &request, "Request", type_name)?;
    let stream = documents::parse(text.unwrap_or_default())
        .and_then(|value| value.to_stream(&request).map_err(|why| why.to_string()))
        .map_err(|why| Failure::Failed(format!("the request is no {}: {why}", shown(&request.name()))))?;
    let client = Client::new(&node, service, &request.to_string(), &response.to_string(), &ClientOptions::default())?;
    let left = asked.timeout.map(|timeout| timeout.saturating_sub(begin.elapsed()));
    let answer = Pending::new(service, client.start(stream, left)?, || client.statistics().providers).wait()?;
    print(cli, &response, &answer).map_err(|failure| match failure {
        Failure::Failed(why) => Failure::Failed(format!("the response of '{}' is no {}: {why}", shown(service), shown(&response.name()))),
        other => other,
    })
}

fn print(cli: &Cli, ty: &Type, answer: &Frame) -> Done {
    let mut text = Vec::new();
    let printed = answer.reader().map_err(Into::into).and_then(|mut reader| {
        if cli.json { print::json(&mut reader, ty, &mut text) } else { print::yaml(&mut reader, ty, None, &mut text) }
    });
    printed.map_err(Failure::of)?;
    if cli.json {
        text.push(b'\n');
    }
    Ok(out().write_all(&text)?)
}

/// The types of its requests and responses, where somebody provides it.
fn find(view: &View, name: &str) -> Done<(Type, Type)> {
    let services = view.services();
    let found = services.iter().find(|service| service.name == name);
    let found = found.ok_or_else(|| not_there("service", name, services.iter().map(|service| service.name)))?;
    let (Some(requests), Some(responses), false) = (found.requests, found.responses, view.publishing(found.responses).is_empty()) else {
        return Err(Failure::Negative(format!("nobody provides service '{}'", shown(name))));
    };
    let types = body_of(requests).zip(body_of(responses));
    types.ok_or_else(|| Failure::Failed(format!("service '{}' carries what no service carries", shown(name))))
}
