//! The token endpoint: every fault, and what comes after it.

use clients::{Grant, Kind};
use secrecy::ExposeSecret;
use simulators::testing::{MACHINE, PEOPLE, PERSON};

use crate::{
    faults::{Expected, Fault, Row, Speaks, for_each_fault},
    world::World,
};

/// Two requests, because an issuer that refuses one way of saying who we are is asked in the other.
const TOKEN: Row = Row {
    system: "issuer",
    method: "POST",
    path: "/oauth2/token$",
    body: "",
    times: 2,
    speaks: Speaks::Html,
    changes: true,
};

#[tokio::test]
async fn a_token_is_had_after_every_fault() {
    let world = World::new().await;
    let sources = Fault::ALL.map(|_| world.tokens());

    for_each_fault(
        world.side(),
        TOKEN,
        |_| None,
        async |number| sources[number].token().await,
        |_, token| {
            let issuer = world.running.landscape.issuer();
            assert_eq!(issuer.verify(token.expose_secret()).unwrap().subject, MACHINE.0);
        },
    )
    .await;
}

#[tokio::test]
async fn a_refusal_of_one_style_alone_is_answered_with_the_other() {
    let world = World::new().await;

    for_each_fault(
        world.side(),
        Row { times: 1, ..TOKEN },
        |fault| match fault {
            Fault::Status(400..=409 | 422 | 425) => Some(Expected::Works),
            _ => None,
        },
        async |_| world.tokens().token().await,
        |_, _| (),
    )
    .await;
}

#[tokio::test]
async fn wrong_credentials_are_named_and_end_with_the_issuers_own_code() {
    let world = World::new().await;
    let secret = |text: &str| text.to_owned().into();
    let machine = |id: &str, of: &str, scope: &str| Grant::ClientCredentials {
        id: id.into(),
        secret: secret(of),
        scope: scope.into(),
    };
    let person = |name: &str, password: &str| Grant::Password {
        client: PEOPLE.into(),
        user: name.into(),
        password: secret(password),
    };
    let table = [
        (machine(MACHINE.0, "wrong secret", ""), "invalid_client"),
        (machine("no;body", "s", ""), "invalid_client"),
        (machine(MACHINE.0, MACHINE.1, "all:powers"), "invalid_scope"),
        (person(PERSON.0, "wr\"ong&=%\n"), "invalid_grant"),
    ];

    for (grant, code) in table {
        let error = world.tokens_for(grant).token().await.unwrap_err();

        assert_eq!((error.kind, error.reason.as_deref()), (Kind::Unauthorized, Some(code)));
        assert!(error.kind.is_retryable());
        assert!(error.to_string().contains("credentials not accepted"), "{error}");
    }
    assert!(world.tokens_for(person(PERSON.0, PERSON.1)).token().await.is_ok());
}
