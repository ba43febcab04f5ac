//! The program as a process that a test owns.

use std::{
    env,
    fs::File,
    io::{BufRead as _, BufReader},
    net::TcpListener,
    path::Path,
    process::{Child, Command, Stdio},
};

pub(crate) const KCP: &str = env!("CARGO_BIN_EXE_kcp");

/// A range of four ports that nobody uses right now.
pub(crate) fn free_ports() -> u16 {
    loop {
        let port = 20_000 + 4 * fastrand::u16(0..3_000);
        let name = format!("kcp-test-ports-{port}");
        // Another user's file is one that cannot be opened.
        let Ok(file) = File::create(env::temp_dir().join(name)) else { continue };
        let is_free = |port| TcpListener::bind(("127.0.0.1", port)).is_ok();
        if file.try_lock().is_ok() && (port..port + 4).all(is_free) {
            // No other test gets them until this process ends.
            Box::leak(Box::new(file));
            return port;
        }
    }
}

/// A process that ends with this value.
pub(crate) struct Running(pub(crate) Child);

impl Running {
    /// Kills it, and waits until it is gone.
    pub(crate) fn stop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Starts the program and returns as soon as it says that it runs.
pub(crate) fn start(words: &[&str], data: &Path, port: u16) -> Running {
    start_with_log(words, data, port, Stdio::null())
}

/// The same, with its log lines in a place of the test's choice.
pub(crate) fn start_with_log(words: &[&str], data: &Path, port: u16, log: Stdio) -> Running {
    let mut child = Command::new(KCP)
        .args(words)
        .args(["--port", &port.to_string(), "--data"])
        .arg(data)
        .stdout(Stdio::piped())
        .stderr(log)
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let running = Running(child);
    let greets = lines.any(|line| line.unwrap().contains(" runs"));
    assert!(greets && data.join("connection.json").exists(), "it does not serve");
    // Whatever else it says must not fill the pipe.
    std::thread::spawn(move || lines.for_each(drop));
    running
}
