//! The client's menu of personas, and what it completes.

use serde_json::{Value, json};

use crate::wire::{Fixture, Wire};

#[tokio::test]
async fn personas_are_prompts() {
    let fixture = Fixture::new().await;
    let mut wire = fixture.legacy().await;
    wire.call(
        "create_agent_persona",
        json!({ "name": "tailor", "display_name": "The Tailor", "system_prompt": "You are a tailor." }),
    )
    .await;
    wire.call("get_agent_persona", json!({ "name": "tailor" })).await;
    let list = wire.request("prompts/list", json!({})).await.expect("prompts");
    let prompts = list["prompts"].as_array().expect("prompts");
    assert_eq!(prompts[0]["name"], "wear");
    assert_eq!(
        prompts[0]["arguments"][0],
        json!({ "name": "name", "description": "The persona to take on", "required": true })
    );
    assert_eq!((&prompts[1]["name"], &prompts[1]["title"]), (&json!("tailor"), &json!("The Tailor")));
    assert!(prompts.iter().all(|prompt| prompt["description"].as_str().is_some_and(|text| !text.is_empty())));
    assert!(prompts.len() <= 101);
    let prompt = wire.request("prompts/get", json!({ "name": "tailor" })).await.expect("a prompt");
    assert_eq!(prompt["messages"][0]["role"], "user");
    let text = prompt["messages"][0]["content"]["text"].as_str().expect("text");
    assert!(text.contains("take on the persona tailor") && text.contains("You are a tailor."), "{text}");
}

#[tokio::test]
async fn wear_takes_any_name_and_overrides() {
    let fixture = Fixture::new().await;
    let mut wire = fixture.modern().await;
    wire.call(
        "create_agent_part",
        json!({ "name": "dry-tone-x", "part_type": "tone", "content": "Be very dry." }),
    )
    .await;
    let arguments = json!({ "name": "mentor", "overrides": "tone=dry-tone-x" });
    let prompt = wire
        .request("prompts/get", json!({ "name": "wear", "arguments": arguments }))
        .await
        .expect("a prompt");
    let text = prompt["messages"][0]["content"]["text"].as_str().expect("text");
    assert!(text.contains("Be very dry."), "{text}");
    // The resource, both tools and the prompt mean the same by "compiled".
    let prompt =
        wire.request("prompts/get", json!({ "name": "wear", "arguments": { "name": "mentor" } })).await;
    let prompt = prompt.expect("a prompt");
    let worn = prompt["messages"][0]["content"]["text"].as_str().expect("text");
    let read = wire.request("resources/read", json!({ "uri": "persona://mentor/compiled" })).await;
    let read = read.expect("a resource")["contents"][0]["text"].clone();
    assert!(worn.ends_with(read.as_str().expect("text")), "{worn}");
    let compiled = wire.call("compile_persona", json!({ "name": "mentor" })).await;
    assert_eq!((&compiled["compiled_detail"], compiled.get("compiled_summary")), (&read, None));
    let got = wire.call("get_agent_persona", json!({ "name": "mentor", "compiled": true })).await;
    assert_eq!(got["compiled_detail"], read);
    let both = wire.call("compile_persona", json!({ "name": "mentor", "both": true })).await;
    assert_eq!(both["compiled_detail"], read);
    let short = wire.call("compile_persona", json!({ "name": "mentor", "detail": false })).await;
    assert_eq!((&short["compiled_summary"], short.get("compiled_detail")), (&both["compiled_summary"], None));
    let overridden = json!({ "name": "mentor", "overrides": { "tone": "dry-tone-x" } });
    let dry = wire.call("compile_persona", overridden).await;
    assert!(dry["compiled_detail"].as_str().is_some_and(|text| text.contains("Be very dry.")), "{dry}");
    assert_eq!(dry.get("compiled_at"), None, "nothing is kept: {dry}");
    let arguments = json!({ "name": "mentor", "max_tokens": "1" });
    let prompt = wire.request("prompts/get", json!({ "name": "wear", "arguments": arguments })).await;
    let prompt = prompt.expect("a prompt");
    let description = prompt["description"].as_str().expect("text");
    assert!(description.starts_with("The persona mentor, over budget; left out: "), "{description}");
    for (arguments, said) in [
        (json!({}), "name is missing"),
        (json!({ "name": "mentro" }), "mentor"),
        (json!({ "name": "mentor", "overrides": "tone=no-such-part" }), "no-such-part"),
        (
            json!({ "name": "mentor", "overrides": "tone=dry-tone-x, tone=plain-tone" }),
            "overrides names tone twice",
        ),
    ] {
        let error = wire
            .request("prompts/get", json!({ "name": "wear", "arguments": arguments }))
            .await
            .expect_err("wrong");
        assert_eq!(error["code"], -32602);
        assert!(error["message"].as_str().expect("text").contains(said), "{error}");
    }
    let error = wire.request("prompts/get", json!({ "name": "nobody" })).await.expect_err("unknown");
    assert_eq!(error["code"], -32602);
}

async fn complete(wire: &mut Wire, reference: Value, name: &str, value: &str) -> Vec<String> {
    let params = json!({ "ref": reference, "argument": { "name": name, "value": value } });
    let result = wire.request("completion/complete", params).await.expect("values");
    let values = result["completion"]["values"].as_array().expect("values");
    values.iter().filter_map(|value| value.as_str().map(str::to_owned)).collect()
}

#[tokio::test]
async fn names_and_overrides_are_completed() {
    let fixture = Fixture::new().await;
    let mut wire = fixture.modern().await;
    wire.call("create_agent_part", json!({ "name": "zz-dry", "part_type": "tone", "content": "x" })).await;
    wire.call("create_agent_part", json!({ "name": "zz-ship", "part_type": "goal", "content": "x" })).await;
    let wear = json!({ "type": "ref/prompt", "name": "wear" });
    assert_eq!(complete(&mut wire, wear.clone(), "name", "ment").await, ["mentor"]);
    assert_eq!(complete(&mut wire, wear.clone(), "overrides", "to").await, ["tone="]);
    assert_eq!(complete(&mut wire, wear.clone(), "overrides", "tone=zz").await, ["tone=zz-dry"]);
    assert_eq!(
        complete(&mut wire, wear.clone(), "overrides", "tone=zz-dry,goal=z").await,
        ["tone=zz-dry,goal=zz-ship"]
    );
    assert_eq!(complete(&mut wire, wear.clone(), "overrides", "").await.len(), 16);
    assert_eq!(complete(&mut wire, wear, "detail", "t").await, ["true"]);
    let template = json!({ "type": "ref/resource", "uri": "part://{name}" });
    assert_eq!(complete(&mut wire, template, "name", "zz-").await, ["zz-dry", "zz-ship"]);
    let template = json!({ "type": "ref/resource", "uri": "persona://{name}/compiled" });
    assert_eq!(complete(&mut wire, template, "name", "mentor").await, ["mentor"]);
    let unknown = json!({ "ref": { "type": "ref/resource", "uri": "x://{y}" }, "argument": { "name": "y", "value": "" } });
    assert_eq!(wire.request("completion/complete", unknown).await.expect_err("unknown")["code"], -32602);
}
