//! Serves one cluster called `demo` until Ctrl-C: `serve DIR PORT`. `DIR/kubeconfig` opens it.

use base::Clock;
use cluster::{Catalog, Server, Settings};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().unwrap_or_else(|| ".kcp-cluster".to_owned());
    let port: u16 = arguments.next().map_or(Ok(0), |port| port.parse())?;
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", port)).await?;
    let (settings, clock) = (Settings::new(&folder), Clock::running());
    let server =
        Server::start(settings, clock, Catalog::default(), listener, |router| router).await?;
    server.create_cluster("demo")?;
    std::fs::write(format!("{folder}/kubeconfig"), server.kubeconfig("demo", "me")?)?;
    println!("kubectl --kubeconfig {folder}/kubeconfig get namespaces");
    tokio::signal::ctrl_c().await?;
    server.stop().await;
    Ok(())
}
