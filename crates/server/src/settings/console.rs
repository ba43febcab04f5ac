//! The console of `kcp broker`, and how people sign in to it.

use confique::Config;
use secrecy::SecretString;

/// The console, and how people sign in to it. `kcp up` serves its own to this machine, without a sign-in.
#[derive(Debug, Config)]
#[config(layer_attr(serde(deny_unknown_fields)))]
pub struct ConsoleSettings {
    /// The address under which browsers reach the broker, as in `https://kcp.example.com`. Without it there is no console.
    #[config(env = "KCP_BROKER_CONSOLE_URL")]
    pub url: Option<String>,
    /// The client under which people sign in; the issuer must allow it to send them back to `/console/signed-in` below `url`.
    #[config(env = "KCP_BROKER_CONSOLE_CLIENT_ID")]
    pub client_id: Option<String>,
    /// The client's secret, if it has one.
    #[config(env = "KCP_BROKER_CONSOLE_CLIENT_SECRET")]
    pub client_secret: Option<SecretString>,
    /// At which of `access.issuers` people sign in. Default: at the first one.
    #[config(env = "KCP_BROKER_CONSOLE_ISSUER")]
    pub issuer: Option<String>,
    /// The scopes that are asked for, with a space between two.
    #[config(env = "KCP_BROKER_CONSOLE_SCOPES", default = "openid email groups")]
    pub scopes: String,
}
