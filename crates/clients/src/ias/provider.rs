//! The kinds of service providers that a runtime has.

use url::Url;

/// The kind of a service provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProviderKind {
    /// The dashboards, by OIDC.
    Grafana,
    /// The login of the runtime itself, by SAML. Only the oldest runtimes have it.
    Dex,
}

impl ProviderKind {
    /// The name by which the provider of an instance is found again.
    pub fn display_name(self, instance_id: &str) -> String {
        let tool = match self {
            Self::Grafana => "Grafana",
            Self::Dex => "Dex",
        };
        format!("SKR {tool} (instanceID: {instance_id})")
    }

    /// The groups that are let in.
    pub fn groups(self) -> &'static [&'static str] {
        match self {
            Self::Grafana => &["skr-monitoring-admin", "skr-monitoring-viewer"],
            Self::Dex => &["runtimeOperator", "runtimeAdmin"],
        }
    }

    /// Whether it logs people in by OIDC, and so has a secret.
    pub fn speaks_oidc(self) -> bool {
        self == Self::Grafana
    }

    /// The tool's host beside the dashboard, and the address people are sent back to. `None` when the
    /// dashboard has no host.
    pub fn addresses(self, dashboard: &Url) -> Option<(String, String)> {
        let (beside, path) = match self {
            Self::Grafana => ("grafana.", "/login/generic_oauth"),
            Self::Dex => ("dex.", "/callback"),
        };
        let host = dashboard.host_str()?.replacen("console.", beside, 1);
        let address = format!("https://{host}{path}");
        Some((host, address))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tool_stands_beside_the_dashboard() {
        let dashboard = Url::parse("https://console.c-1.kyma.example.com/x").unwrap();

        let (host, address) = ProviderKind::Grafana.addresses(&dashboard).unwrap();

        assert_eq!(host, "grafana.c-1.kyma.example.com");
        assert_eq!(address, "https://grafana.c-1.kyma.example.com/login/generic_oauth");
        assert_eq!(ProviderKind::Dex.addresses(&Url::parse("data:x").unwrap()), None);
    }
}
