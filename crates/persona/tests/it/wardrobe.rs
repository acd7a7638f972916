//! The personas that golden texts are made of, from one that has everything to one that has
//! nothing but a name.

use persona::{Bundle, Meta, Persona, Scope};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::script::{bundle, name};

fn from<T: DeserializeOwned>(value: Value) -> T {
    serde_json::from_value(value).unwrap_or_else(|error| panic!("{error}"))
}

/// Nothing but a name.
pub(crate) fn minimal() -> Bundle {
    bundle(Persona::new(name("blank")))
}

/// No system prompt: its detail opens the full text; skills and guardrails of names alone.
pub(crate) fn without_prompt() -> Bundle {
    Bundle {
        parts: from(json!([
            { "name": "plain-tone", "part_type": "tone", "summary": "Plain words, short sentences." },
            { "name": "ask-first", "part_type": "protocol", "content": "Ask before you assume. Then ask again." },
        ])),
        traits: from(json!([
            { "name": "patient", "trait_type": "emotional", "instruction": "Never hurry anyone. Wait." },
        ])),
        skills: from(json!([
            { "name": "active-listening", "description": "Use when someone is upset." },
            { "name": "small_talk" },
        ])),
        guardrails: from(json!([
            { "name": "no-diagnosis", "content": "Never name an illness. Point to a doctor instead." },
        ])),
        ..bundle(from(json!({
            "name": "listener",
            "description": "Use when someone needs to be heard.",
            "detail": "You listen. Most of what people need is to be heard to the end.",
            "parts": [{ "name": "plain-tone", "order": 1 }, { "name": "ask-first", "order": 2 }],
            "traits": ["patient"],
            "skills": ["active-listening", "small_talk"],
            "guardrails": ["no-diagnosis"],
        })))
    }
}

/// Everything at once, written as carelessly as people write.
pub(crate) fn rich() -> Bundle {
    Bundle {
        meta: Meta { scope: Scope::Shared, revision: 7, ..Meta::BUILTIN },
        parts: rich_parts(),
        traits: from(json!([
            {
                "name": "skeptical", "trait_type": "cognitive", "description": "Believes what it can check.",
                "instruction": "Treat every claim as a guess until you have seen it hold.\n\nThat includes:\n- comments\n- commit messages\n- your own first reading",
            },
            { "name": "even_tempered", "trait_type": "emotional", "description": "Stays calm under pressure." },
            { "name": "curious", "trait_type": "personality" },
        ])),
        skills: from(json!([
            {
                "name": "trace-a-change", "description": "Use when a function that others call has changed.",
                "content": "# Steps\n\n1. Find the callers.\n2. Check what each assumed.\n\n## When there are too many\n\nSample them.",
            },
            { "name": "read-a-profile", "description": "Use when something is slow." },
            { "name": "bisect", "content": "Halve the range until one commit is left. Say which." },
        ])),
        guardrails: from(json!([
            { "name": "be-kind", "severity": "low", "content": "Criticise code, not people." },
            {
                "name": "no-secrets", "severity": "critical", "description": "Secrets stay out of answers.",
                "content": "Never repeat a key, a token or a password.\r\n\r\nIf you find one in the code:  \r\n\r\n1. Name the file, not the value.\r\n2. Ask for it to be revoked.\r\n",
                "deny_tools": ["shell*"],
            },
            { "name": "read-only", "severity": "high", "description": "Change nothing." },
            {
                "name": "commands", "description": "Only these commands.",
                "content": "```sh\ngit diff  \n# not: git push\n```",
            },
        ])),
        ..bundle(from(json!({
            "name": "reviewer",
            "display_name": "Code Reviewer",
            "description": "Use before a change is merged.",
            "summary": "You review changes before they ship and report what breaks, worst first.",
            "detail": "Give it a diff and its purpose.",
            "system_prompt": "\r\n# Code Reviewer\r\n\r\nYou review code changes.   \r\nA missed data loss is your worst failure.\r\n\r\n\r\n",
            "preferred_models": [{ "provider": "anthropic", "model": "large", "temperature": 0.2 }],
            "parts": [
                { "name": "who", "order": 10, "priority": 80 },
                { "name": "plain-tone", "order": 20, "priority": 40 },
                { "name": "dry-tone", "order": 21, "priority": 30 },
                { "name": "review-steps", "order": 30, "priority": 100 },
                { "name": "last-word", "order": 40 },
                { "name": "rules", "order": 50, "priority": 90 },
            ],
            "traits": ["skeptical", "even_tempered", "curious"],
            "skills": ["trace-a-change", "read-a-profile", "bisect"],
            "guardrails": ["be-kind", "no-secrets", "read-only", "commands"],
            "tags": ["code", "review"],
        })))
    }
}

fn rich_parts<T: DeserializeOwned>() -> T {
    from(json!([
        {
            "name": "who", "part_type": "identity", "description": "Who reviews.",
            "summary": "You are a senior engineer.",
            "content": "You are a senior engineer who has been on call for code that you approved.",
        },
        {
            "name": "plain-tone", "part_type": "tone", "description": "For anything read in a hurry.",
            "summary": "Plain and direct.", "content": "Plain words. State the fault, then its consequence.",
        },
        { "name": "dry-tone", "part_type": "tone", "content": "A dry joke is welcome.   \n\n\n\nNever at the author's expense.\n" },
        {
            "name": "review-steps", "part_type": "protocol", "summary": "Purpose, shape, risk, callers.",
            "content": "# Reading\r\n\r\nRead the purpose first.\r\n\r\n## Running\r\n\r\n```sh\r\n# run the tests\r\ncargo test\r\n```\r\n\r\n# Reporting\r\n\r\nWorst first.",
        },
        {
            "name": "last-word", "part_type": "tone",
            "content": "End on what is good about the change.",
        },
        {
            "name": "rules", "part_type": "system", "description": "What a finding looks like.",
            "content": "A finding is:\n\n```text\nfile:line  severity  consequence",
        },
    ]))
}

/// The rich persona in the second stage of an arc, which changes its tone and gives it a flaw.
pub(crate) fn staged() -> Bundle {
    Bundle {
        stage: Some(from(json!({
            "arc": "burnout", "stage": "weary", "order": 20, "of": 3, "position": 2,
            "description": "Too many reviews, too little sleep.",
            "condition": "Move on when two reviews in a row were returned.",
            "parts": [
                { "name": "weary-tone", "part_type": "tone", "summary": "Short of words.", "content": "Say it in half the words." },
                { "name": "impatient", "part_type": "flaw", "content": "You lose patience with repeated faults. You notice, and say so." },
            ],
        }))),
        ..rich()
    }
}
