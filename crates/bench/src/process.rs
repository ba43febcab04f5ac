//! Resource usage of processes, from `/proc`. Linux counts in hundredths of a second there, on every machine.

use std::fs;

use anyhow::Context as _;

/// Ticks per second in `/proc`.
const TICKS: f64 = 100.0;

/// The CPU time of the machine and of this process so far, in seconds of one core.
#[derive(Debug, Clone, Copy)]
pub(super) struct Snapshot {
    busy: f64,
    all: f64,
    ours: f64,
}

/// The machine, this process with its ended children, and the server.
pub(super) fn snapshot(server: u32) -> anyhow::Result<Snapshot> {
    let stat = fs::read_to_string("/proc/stat")?;
    let fields: Vec<f64> = stat
        .lines()
        .next()
        .unwrap_or_default()
        .split_whitespace()
        .skip(1)
        .take(8)
        .filter_map(|field| field.parse().ok())
        .collect();
    let all: f64 = fields.iter().sum();
    let idle: f64 = fields.iter().skip(3).take(2).sum();
    let own = stat_of(std::process::id())?;
    let ours = own.own + own.ended_children + server_cpu(server)?;
    Ok(Snapshot { busy: (all - idle) / TICKS, all: all / TICKS, ours })
}

/// The part of the machine that was used by neither us nor the server.
pub(super) fn others(before: &Snapshot, after: &Snapshot) -> f64 {
    let busy = (after.busy - before.busy) - (after.ours - before.ours);
    (busy / (after.all - before.all)).max(0.0)
}

struct Stat {
    parent: u32,
    own: f64,
    ended_children: f64,
}

fn stat_of(process: u32) -> anyhow::Result<Stat> {
    let text = fs::read_to_string(format!("/proc/{process}/stat"))?;
    // The name stands in brackets and may hold anything.
    let rest = text.rsplit_once(')').context("/proc/…/stat is unreadable")?.1;
    let fields: Vec<&str> = rest.split_whitespace().collect();
    let number = |at: usize| fields.get(at).and_then(|field| field.parse::<f64>().ok());
    let sum = |a, b| Some((number(a)? + number(b)?) / TICKS);
    Ok(Stat {
        parent: fields.get(1).and_then(|field| field.parse().ok()).unwrap_or(0),
        own: sum(11, 12).context("/proc/…/stat is too short")?,
        ended_children: sum(13, 14).context("/proc/…/stat is too short")?,
    })
}

/// Seconds of CPU that one process has used.
pub(super) fn cpu(process: u32) -> anyhow::Result<f64> {
    Ok(stat_of(process)?.own)
}

/// Seconds of CPU that a server and all its processes have used.
pub(super) fn server_cpu(server: u32) -> anyhow::Result<f64> {
    loop {
        let before = stat_of(server)?.ended_children;
        let sum = server_cpu_once(server)?;
        // What a process has used goes to its parent when it ends: one that ends meanwhile counts twice, or not at all.
        if stat_of(server)?.ended_children <= before {
            return Ok(sum);
        }
    }
}

fn server_cpu_once(server: u32) -> anyhow::Result<f64> {
    let main = stat_of(server)?;
    let mut sum = main.own + main.ended_children;
    for entry in fs::read_dir("/proc")? {
        let Some(process) = entry?.file_name().to_str().and_then(|name| name.parse().ok()) else {
            continue;
        };
        // A process may end while we look.
        if let Ok(stat) = stat_of(process)
            && stat.parent == server
        {
            sum += stat.own;
        }
    }
    Ok(sum)
}

/// Resident memory of a process in MiB: now, and the most it ever had.
pub(super) fn memory(process: u32) -> anyhow::Result<(f64, f64)> {
    let status = fs::read_to_string(format!("/proc/{process}/status"))?;
    let read = |name: &str| {
        status
            .lines()
            .find_map(|line| {
                line.strip_prefix(name)?.split_whitespace().next()?.parse::<f64>().ok()
            })
            .map(|kilobytes| kilobytes / 1024.0)
            .with_context(|| format!("there is no {name} in /proc/{process}/status"))
    };
    Ok((read("VmRSS:")?, read("VmHWM:")?))
}

/// Counts anew how much memory a process has at most.
pub(super) fn forget_peak(process: u32) -> anyhow::Result<()> {
    fs::write(format!("/proc/{process}/clear_refs"), "5")
        .with_context(|| format!("the peak of process {process} cannot be forgotten"))
}

/// The machine's memory in GiB.
pub(super) fn machine_memory() -> f64 {
    let text = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok());
    kilobytes.unwrap_or(f64::NAN) / 1024.0 / 1024.0
}
