//! `sinew foxglove --services`: clients of Foxglove's protocol call services of the domain.

mod common;
#[path = "common/foxglove.rs"]
mod foxglove;

use common::{Domain, eventually};
use foxglove::{Client, NUMBER, Server, Told, number};
use serde_json::json;
use sinew::msg::{Type, schema};
use sinew::raw::Provider;

/// The answer to a call: the encoding and the response, or why there is none.
fn call(client: &mut Client, service: &str, id: u32, request: &[u8]) -> Result<Vec<u8>, String> {
    let service = client.service(service)["id"].as_u64().unwrap() as u32;
    client.send_binary(&[&[2], &service.to_le_bytes(), &id.to_le_bytes(), &3_u32.to_le_bytes(), b"cdr", request]);
    loop {
        match client.next().expect("it goes on") {
            Told::Binary(3, bytes) => {
                let (head, response) = bytes.split_at(4 + 4 + 4 + 3);
                assert_eq!(head, [&service.to_le_bytes()[..], &id.to_le_bytes(), &3_u32.to_le_bytes(), b"cdr"].concat());
                return Ok(response.to_vec());
            }
            Told::Json(told) if told["op"] == "serviceCallFailure" => {
                assert_eq!(told["callId"], id);
                return Err(told["message"].as_str().unwrap().to_owned());
            }
            _ => {}
        }
    }
}

#[test]
fn clients_call_services_where_they_may() {
    let domain = Domain::new();
    let node = domain.node("robot");
    let double = |call: sinew::raw::Call| {
        let asked: u64 = call.reader().unwrap().number().unwrap();
        if asked == 0 { call.fail("nothing cannot be doubled") } else { call.answer(&[&number(2 * asked)]) }.unwrap();
    };
    let provider = Provider::new(&node, "double", NUMBER, NUMBER, &Default::default(), double).unwrap();
    let server = Server::start(&domain, "--services");
    let mut client = Client::connect(&server);
    assert!(client.server["capabilities"].as_array().unwrap().contains(&json!("services")));
    let service = client.service("/double");
    let ty: Type = NUMBER.parse().unwrap();
    for part in ["request", "response"] {
        assert_eq!(service[part]["encoding"], "cdr");
        assert_eq!(service[part]["schemaName"], "test/msg/Number");
        assert_eq!(service[part]["schema"], schema::of(&ty).text);
    }
    assert_eq!(call(&mut client, "/double", 5, &number(21)), Ok(number(42)));
    let failure = call(&mut client, "/double", 6, &number(0)).unwrap_err();
    assert!(failure.contains("nothing cannot be doubled"), "{failure}");
    let failure = call(&mut client, "/double", 7, &number(0)[..7]).unwrap_err();
    assert!(failure.contains("this is no test/Number"), "{failure}");
    drop(provider);
    assert_eq!(client.json("unadvertiseServices")["serviceIds"], json!([service["id"]]));
}

#[test]
fn a_service_that_goes_and_comes_again_at_once_is_called_again() {
    let domain = Domain::new();
    let node = domain.node("robot");
    let provide = |answer: u64| {
        let answers = move |call: sinew::raw::Call| call.answer(&[&number(answer)]).unwrap();
        Provider::new(&node, "answer", NUMBER, NUMBER, &Default::default(), answers).unwrap()
    };
    let mut provider = provide(0);
    let server = Server::start(&domain, "--services");
    let mut client = Client::connect(&server);
    assert_eq!(call(&mut client, "/answer", 0, &number(0)), Ok(number(0)));
    // The server may see it go, or not.
    for round in 1..=10 {
        drop(provider);
        provider = provide(round);
        let mut answer = Err(String::new());
        let is_answered = eventually(|| {
            answer = call(&mut client, "/answer", round as u32, &number(0));
            answer.is_ok()
        });
        assert!(is_answered && answer == Ok(number(round)), "{answer:?}");
    }
}
