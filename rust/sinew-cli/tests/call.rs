//! `sinew service call`: services of this test, with types that the command knows from the domain alone.

mod common;

use std::io::{BufRead, BufReader};
use std::time::Duration;

use common::{Domain, Running, eventually};
use sinew::Node;
use sinew::msg::value::Value;
use sinew::raw::{Call, Client, Provider};

const REQUEST: &str = "demo/Sum{terms:int64[];note:string;}";
const RESPONSE: &str = "demo/Total{total:int64;note:string;}";

/// Adds, and refuses to add nothing.
fn adder(domain: &Domain) -> (Node, Provider) {
    let node = domain.node("adder");
    let provider = Provider::new(&node, "math/sum", REQUEST, RESPONSE, &Default::default(), add).unwrap();
    (node, provider)
}

fn add(call: Call) {
    let mut reader = call.reader().unwrap();
    let terms = reader.slice::<i64>().unwrap().into_owned();
    let note = String::from_utf8(reader.string().unwrap().into_owned()).unwrap();
    if terms.is_empty() {
        return call.fail("nothing to add\n\u{1b}[2J").unwrap();
    }
    let total = Value::from_json(&serde_json::json!({"total": terms.iter().sum::<i64>(), "note": note}).to_string()).unwrap();
    call.answer(&[&total.to_stream(&RESPONSE.parse().unwrap()).unwrap()]).unwrap();
}

fn call(domain: &Domain, arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = domain.command("service call").args(arguments).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

#[test]
fn a_request_from_text_gets_its_response_as_text() {
    let domain = Domain::new();
    let _adder = adder(&domain);
    let (status, out, said) = call(&domain, &["math/sum", "terms: [1, 2, 39]\nnote: apples"]);
    assert_eq!((status, out.as_str(), said.as_str()), (Some(0), "total: 42\nnote: apples\n", ""));
    let (status, out, _) = call(&domain, &["--json", "/math/sum", r#"{"terms": [-1]}"#]);
    assert_eq!((status, out.as_str()), (Some(0), "{\"total\":-1,\"note\":\"\"}\n"));
}

#[test]
fn the_type_may_stand_before_the_request_and_is_refused_where_it_is_another() {
    let domain = Domain::new();
    let _adder = adder(&domain);
    for name in ["demo/Sum", "demo/srv/Sum", REQUEST] {
        let (status, out, said) = call(&domain, &["math/sum", name, "terms: [1, 2]"]);
        assert_eq!((status, out.as_str(), said.as_str()), (Some(0), "total: 3\nnote: \"\"\n", ""), "{name}");
    }
    let (status, out, said) = call(&domain, &["math/sum", "example_interfaces/srv/AddTwoInts", "{a: 1, b: 2}"]);
    let wanted = "error: requests of service 'math/sum' are demo/Sum, and no example_interfaces/srv/AddTwoInts: the type may be left out\n";
    assert_eq!((status, out.as_str(), said.as_str()), (Some(3), "", wanted));
}

#[test]
fn what_the_provider_fails_with_is_the_error_and_does_not_control_the_terminal() {
    let domain = Domain::new();
    let _adder = adder(&domain);
    let (status, out, said) = call(&domain, &["math/sum"]);
    assert_eq!((status, out.as_str(), said.as_str()), (Some(1), "", "error: nothing to add\n\u{fffd}[2J\n"));
}

#[test]
fn a_request_that_does_not_fit_is_refused_with_the_place() {
    let domain = Domain::new();
    let _adder = adder(&domain);
    let (status, _, said) = call(&domain, &["math/sum", "terms: [1, x]"]);
    assert_eq!(status, Some(1));
    assert!(said.starts_with("error: the request is no demo/Sum: field 'terms[1]': 'x' is given, and int64 ("), "{said}");
}

#[test]
fn without_a_provider_in_time_it_says_so() {
    let domain = Domain::new();
    let (status, _, said) = call(&domain, &["--timeout", "50ms", "math/sum"]);
    let wanted = "there is no service 'math/sum': there is no service at all\n";
    assert_eq!((status, said), (Some(3), format!("waiting: {wanted}error: {wanted}")));
    let node = domain.node("asks");
    let _client = Client::new(&node, "math/sum", REQUEST, RESPONSE, &Default::default()).unwrap();
    let (status, _, said) = call(&domain, &["--timeout", "50ms", "math/sum"]);
    assert_eq!(status, Some(3));
    assert!(said.ends_with("error: nobody provides service 'math/sum'\n"), "{said}");
    let (status, _, said) = call(&domain, &["--timeout", "50ms", "math/sun"]);
    assert_eq!(status, Some(3));
    assert!(said.ends_with("error: there is no service 'math/sun': did you mean 'math/sum'?\n"), "{said}");
}

#[test]
fn it_waits_for_a_provider_and_says_so() {
    let domain = Domain::new();
    let mut caller = Running::new(domain.command("service call --timeout 30s math/sum").arg("terms: [2]"));
    let mut said = BufReader::new(caller.0.stderr.as_mut().unwrap()).lines();
    assert_eq!(said.next().unwrap().unwrap(), "waiting: there is no service 'math/sum': there is no service at all");
    let _adder = adder(&domain);
    assert_eq!(caller.end(), (Some(0), "total: 2\nnote: \"\"\n".to_owned(), String::new()));
}

#[test]
fn a_response_that_does_not_come_in_time_is_a_failure_and_the_provider_is_told() {
    let domain = Domain::new();
    let node = domain.node("thinker");
    let (sender, calls) = std::sync::mpsc::channel();
    let _provider =
        Provider::new(&node, "math/sum", REQUEST, RESPONSE, &Default::default(), move |call| sender.send(call).unwrap()).unwrap();
    // In which the provider has got it, also on a busy machine.
    let (status, _, said) = call(&domain, &["--timeout", "3s", "math/sum", "terms: [1]"]);
    assert_eq!(status, Some(1));
    assert!(said.starts_with("error: service 'math/sum' gave no answer in time: "), "{said}");
    let call = calls.recv_timeout(Duration::from_secs(30)).unwrap();
    assert!(eventually(|| call.is_cancelled()));
}

#[test]
fn a_call_whose_provider_has_gone_does_not_wait_for_ever() {
    let domain = Domain::new();
    let node = domain.node("thinker");
    let (sender, calls) = std::sync::mpsc::channel();
    let provider =
        Provider::new(&node, "math/sum", REQUEST, RESPONSE, &Default::default(), move |call| sender.send(call).unwrap()).unwrap();
    let caller = Running::new(&mut domain.command("service call math/sum"));
    let _call = calls.recv_timeout(Duration::from_secs(30)).unwrap();
    drop(provider);
    let wanted = "error: the provider of 'math/sum' is gone\n".to_owned();
    assert_eq!(caller.end(), (Some(3), String::new(), wanted));
}
