//! The network between a replica and its database: it swallows answers and breaks connections.
//!
//! A cut is what a broken network is at its worst: the database did what it was asked to do, and
//! nobody hears of it.

use std::{
    net::Ipv4Addr,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
};

use store::testing::PostgresServer;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream, tcp},
};

/// A line to one database server. Clones share it.
#[derive(Debug, Clone)]
pub(crate) struct Link {
    port: u16,
    cuts: Arc<AtomicU32>,
}

impl Link {
    /// Opens a line to the server.
    pub(crate) async fn to(server: &PostgresServer) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let link = Self { port: listener.local_addr().unwrap().port(), cuts: Arc::default() };
        let (there, cuts) = (server.port(), link.cuts.clone());
        tokio::spawn(async move {
            loop {
                let (client, _) = listener.accept().await.unwrap();
                let cuts = cuts.clone();
                tokio::spawn(async move {
                    if let Ok(server) = TcpStream::connect((Ipv4Addr::LOCALHOST, there)).await {
                        carry(client, server, &cuts).await;
                    }
                });
            }
        });
        link
    }

    /// The address of the server's database through this line.
    pub(crate) fn url(&self, server: &PostgresServer) -> String {
        server.url("postgres").replace(&format!(":{}/", server.port()), &format!(":{}/", self.port))
    }

    /// Swallows the next answers, each with its connection.
    pub(crate) fn cut(&self, answers: u32) {
        self.cuts.store(answers, Ordering::Relaxed);
    }
}

async fn carry(client: TcpStream, server: TcpStream, cuts: &AtomicU32) {
    let _ = (client.set_nodelay(true), server.set_nodelay(true));
    let (from_client, to_client) = client.into_split();
    let (from_server, to_server) = server.into_split();
    // Whichever direction ends first takes the other one with it.
    tokio::select! {
        () = pass(from_client, to_server, None) => {}
        () = pass(from_server, to_client, Some(cuts)) => {}
    }
}

async fn pass(mut from: tcp::OwnedReadHalf, mut to: tcp::OwnedWriteHalf, cuts: Option<&AtomicU32>) {
    let mut bytes = vec![0; 16 * 1024];
    while let Ok(count @ 1..) = from.read(&mut bytes).await {
        let cut = cuts.is_some_and(|cuts| {
            cuts.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1))
                .is_ok()
        });
        if cut || to.write_all(&bytes[..count]).await.is_err() {
            return;
        }
    }
}
