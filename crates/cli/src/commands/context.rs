//! `kcp context`: control planes elsewhere, by name.

use std::{path::Path, process::ExitCode};

use anyhow::Context as _;
use clap::{Args, Subcommand};
use serde_json::{Value, json};
use url::Url;

use crate::{
    hint,
    output::{self, Format, Head, Layout},
    remote::{
        self,
        config::{self, CLIENT, Config, SCOPES},
        tokens,
    },
};

const HEAD: [Head; 5] = [
    Head::Fixed("NAME"),
    Head::Fixed("USED"),
    Head::Fixed("LOGIN"),
    Head::Fixed("SERVER"),
    Head::Wide("ISSUER"),
];

/// List, add, choose and remove contexts: remote control planes.
#[derive(Args)]
#[command(visible_alias = "contexts")]
pub(crate) struct Contexts {
    #[command(subcommand)]
    command: Option<Command>,
    /// table, wide, json, yaml, name, or custom=HEADER:PATH[,…].
    #[arg(short, long, value_name = "FORMAT", default_value = "table", value_parser = crate::output::format, global = true)]
    output: Format,
}

#[derive(Subcommand)]
enum Command {
    /// List contexts and mark the one in use.
    List,
    /// Add or change a context.
    Add(Box<New>),
    /// Choose the default context; a control plane in ./.kcp takes precedence.
    Use {
        /// The context.
        name: String,
    },
    /// Remove a context and its login.
    Remove {
        /// The context.
        name: String,
    },
}

#[derive(Args)]
struct New {
    /// The name of the context.
    name: String,
    /// The issuer's URL, exactly as in the `iss` claim of its tokens.
    #[arg(long, value_name = "URL")]
    issuer: String,
    /// The provisioner's URL.
    #[arg(long, value_name = "URL")]
    provisioner: Option<Url>,
    /// The URL of the Reconciler's operator API, ending in /v1.
    #[arg(long, value_name = "URL")]
    mothership: Option<Url>,
    /// The URL that serves the kubeconfigs of runtimes, if it is not the broker.
    #[arg(long, value_name = "URL")]
    kubeconfigs: Option<Url>,
    /// The client id at the issuer.
    #[arg(long, value_name = "ID", default_value = CLIENT)]
    client_id: String,
    /// The client secret, if there is one.
    #[arg(long, value_name = "SECRET")]
    client_secret: Option<String>,
    /// The scopes to request at login. With scopes of the API the access token is sent, otherwise the ID token.
    #[arg(long, value_name = "SCOPES", default_value = SCOPES)]
    scopes: String,
}

impl Contexts {
    pub(crate) fn run(self, data: Option<&Path>) -> anyhow::Result<ExitCode> {
        let mut config = Config::read()?;
        match self.command.unwrap_or(Command::List) {
            Command::List => list(&config, data, self.output)?,
            Command::Add(new) => {
                let name = new.name.clone();
                let context = new.context()?;
                context.check()?;
                config.contexts.retain(|it| it.name != name);
                config.contexts.push(context);
                config.current.get_or_insert_with(|| name.clone());
                let path = config.write()?;
                output::print(&format!("context {name} is kept in {}\n", path.display()))?;
                eprintln!("\nNext:\n  kcp --context {} login", hint::quoted(&name));
            }
            Command::Use { name } => {
                config.named(&name)?;
                config.current = Some(name.clone());
                config.write()?;
                output::print(&format!("commands go to {name} now\n"))?;
            }
            Command::Remove { name } => {
                let context = config.named(&name)?;
                tokens::remove(&context)?;
                config.contexts.retain(|it| it.name != name);
                config.current = config.current.filter(|current| *current != name);
                config.write()?;
                output::print(&format!("context {name} is removed\n"))?;
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

impl New {
    fn context(self) -> anyhow::Result<config::Context> {
        let server = remote::chosen_server().context("server missing: give --server URL")?;
        Ok(config::Context {
            name: self.name,
            server,
            provisioner: self.provisioner,
            mothership: self.mothership,
            kubeconfigs: self.kubeconfigs,
            issuer: self.issuer,
            client_id: self.client_id,
            client_secret: self.client_secret,
            scopes: self.scopes,
            orders: None,
        })
    }
}

fn list(config: &Config, data: Option<&Path>, format: Format) -> anyhow::Result<()> {
    let used = remote::target(data)?.map(|target| target.name);
    let mut all: Vec<Value> = Vec::new();
    for context in &config.contexts {
        let login = tokens::read(context)?.is_some();
        all.push(json!({
            "name": context.name, "server": context.server, "issuer": context.issuer,
            "used": used.as_deref() == Some(&context.name), "login": login,
        }));
    }
    let empty = match &used {
        Some(_) => "there are no contexts: the settings of the known client are used",
        None => "there are no contexts: kcp context add NAME --server URL --issuer URL",
    };
    let layout = Layout { head: &HEAD, name: "/name", empty };
    let word = |yes: &Value| if *yes == true { "yes" } else { "no" }.to_owned();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    format.list(&json!({ "contexts": all }), &all, &layout, |it| {
        vec![
            text(&it["name"]),
            word(&it["used"]),
            word(&it["login"]),
            text(&it["server"]),
            text(&it["issuer"]),
        ]
    })
}
