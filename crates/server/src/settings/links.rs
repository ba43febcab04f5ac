//! Connections to the API, and TLS on every link: the same for the broker and the provisioner.

use std::{net::SocketAddr, num::NonZeroU32, path::PathBuf, time::Duration};

use anyhow::ensure;
use base::PlaintextHosts;
use confique::Config;

use super::values::friendly;
use crate::{
    access::Doors,
    serving::{Acceptance, ConnectionLimits, tls},
};

macro_rules! links {
    (
        $connections:ident: $total:tt $per_peer:tt $header_time:tt $idle_time:tt,
        $transport:ident: $certificate:tt $key:tt $authorities:tt $listener:tt $hosts:tt
    ) => {
        /// Connections to the API. At a limit, the connection that has been idle longest is closed for the new one; when none
        /// is idle, further ones are answered with 503, apart from `/healthz` and `/readyz`.
        #[derive(Debug, Config)]
        #[config(layer_attr(serde(deny_unknown_fields)))]
        pub struct $connections {
            /// How many connections at most; never more than a quarter of the files that the process may open.
            #[config(env = $total, default = 1024)]
            pub total: NonZeroU32,
            /// How many connections from one address at most. Behind a proxy all connections come from one address.
            #[config(env = $per_peer, default = 512)]
            pub per_peer: NonZeroU32,
            /// How long the head of a request may take to arrive.
            #[config(env = $header_time, default = "10s", deserialize_with = friendly)]
            pub header_time: Duration,
            /// How long a connection may be idle between two requests, or not take an answer; longer than what a proxy keeps idle
            /// connections for.
            #[config(env = $idle_time, default = "120s", deserialize_with = friendly)]
            pub idle_time: Duration,
        }

        /// TLS.
        #[derive(Debug, Config)]
        #[config(layer_attr(serde(deny_unknown_fields)))]
        pub struct $transport {
            /// The certificate of the API, followed by those of its issuers: a PEM file. With it the API speaks TLS.
            #[config(env = $certificate)]
            pub certificate: Option<PathBuf>,
            /// The certificate's private key: a PEM file.
            #[config(env = $key)]
            pub key: Option<PathBuf>,
            /// The certificates of the authorities that sign client certificates: a PEM file. With it clients may show a certificate, by
            /// which `access.peers` may know them.
            #[config(env = $authorities)]
            pub client_authorities: Option<PathBuf>,
            /// Whether the API may listen without TLS on an address that other machines reach: only behind a proxy that speaks TLS.
            #[config(env = $listener, default = false)]
            pub plaintext_listener: bool,
            /// Hosts other than this machine that may be called with `http://`: issuers, outside systems and where their
            /// tokens come from.
            #[config(env = $hosts, default = [], parse_env = confique::env::parse::list_by_comma)]
            pub plaintext_hosts: Vec<String>,
        }

        impl $connections {
            pub(crate) fn limits(&self) -> ConnectionLimits {
                let Self { total, per_peer, header_time, idle_time } = self;
                ConnectionLimits {
                    total: total.get() as usize,
                    per_peer: per_peer.get() as usize,
                    header_time: *header_time,
                    idle_time: *idle_time,
                }
            }
        }

        impl $transport {
            /// How the listener at `listen` accepts connections; refused when it would hand out secrets in clear.
            pub(crate) fn acceptance(
                &self,
                listen: SocketAddr,
                limits: ConnectionLimits,
            ) -> anyhow::Result<Acceptance> {
                let authorities = self.client_authorities.as_deref();
                let tls = match (&self.certificate, &self.key) {
                    (Some(certificate), Some(key)) => {
                        Some(tls::acceptor(certificate, key, authorities)?)
                    }
                    (None, None) => {
                        ensure!(
                            authorities.is_none(),
                            "transport.client_authorities needs transport.certificate and transport.key"
                        );
                        None
                    }
                    _ => anyhow::bail!("transport.certificate and transport.key belong together"),
                };
                ensure!(
                    tls.is_some() || listen.ip().is_loopback() || self.plaintext_listener,
                    "{listen} can be reached by other machines, and tokens would pass in clear: name \
                     transport.certificate and transport.key ({}, {}), or set transport.plaintext_listener \
                     ({}) if a proxy in front of it speaks TLS",
                    $certificate, $key, $listener
                );
                Ok(Acceptance { tls, ..Acceptance::plain(limits) })
            }

            /// Which hosts may be called without TLS.
            pub(crate) fn hosts(&self) -> PlaintextHosts {
                PlaintextHosts::new(self.plaintext_hosts.iter().cloned())
            }

            /// What is less strict than usual because the settings say so, in plain words; refused where these doors
            /// could not be kept with this transport.
            pub(crate) fn exceptions(
                &self,
                listen: SocketAddr,
                doors: &Doors,
            ) -> anyhow::Result<Vec<String>> {
                doors.check(&self.hosts())?;
                doors.check_certificates(self.client_authorities.as_deref())?;
                let Self { certificate, plaintext_listener, plaintext_hosts, .. } = self;
                let open = certificate.is_none() && !listen.ip().is_loopback() && *plaintext_listener;
                let listener = open.then(|| format!("the API listens on {listen} without TLS"));
                let hosts = plaintext_hosts.iter().map(|host| format!("{host} may be called without TLS"));
                Ok(listener.into_iter().chain(hosts).chain(doors.exceptions()).collect())
            }
        }
    };
}

links! {
    ConnectionSettings: "KCP_BROKER_CONNECTIONS" "KCP_BROKER_CONNECTIONS_PER_PEER"
        "KCP_BROKER_HEADER_TIME" "KCP_BROKER_IDLE_TIME",
    TransportSettings: "KCP_BROKER_CERTIFICATE" "KCP_BROKER_CERTIFICATE_KEY" "KCP_BROKER_CLIENT_AUTHORITIES"
        "KCP_BROKER_PLAINTEXT_LISTENER" "KCP_BROKER_PLAINTEXT_HOSTS"
}

/// The provisioner's.
pub mod provisioner {
    use super::{
        Acceptance, Config, ConnectionLimits, Doors, Duration, NonZeroU32, PathBuf, PlaintextHosts,
        SocketAddr, ensure, friendly, tls,
    };

    links! {
        ConnectionSettings: "KCP_PROVISIONER_CONNECTIONS" "KCP_PROVISIONER_CONNECTIONS_PER_PEER"
            "KCP_PROVISIONER_HEADER_TIME" "KCP_PROVISIONER_IDLE_TIME",
        TransportSettings: "KCP_PROVISIONER_CERTIFICATE" "KCP_PROVISIONER_CERTIFICATE_KEY" "KCP_PROVISIONER_CLIENT_AUTHORITIES"
            "KCP_PROVISIONER_PLAINTEXT_LISTENER" "KCP_PROVISIONER_PLAINTEXT_HOSTS"
    }
}
