//! What became of each check, and what they have in common.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// A ttl that no pause of the machine outlives within a check.
pub const LONG: Duration = Duration::from_secs(30);
/// What a lock of LONG is extended to.
pub const LONGER: Duration = Duration::from_secs(90);
/// The ttl of a lock that is left to expire.
pub const SHORT: Duration = Duration::from_millis(1500);
/// Until then a lock of SHORT is surely gone, on the slowest machine.
pub const GONE: Duration = Duration::from_secs(20);
/// Between two tries of one taker.
pub const PAUSE: Duration = Duration::from_millis(10);
/// All of the counter's increments together.
pub const COUNTED: Duration = Duration::from_secs(60);

pub const WORKERS: u64 = 20;
pub const INCREMENTS: u64 = 3;

/// Nothing, or what went wrong.
pub type Outcome = Result<(), String>;

/// `Err` with the text unless it is so.
pub fn must(so: bool, text: &str) -> Outcome {
    if so {
        Ok(())
    } else {
        Err(text.to_string())
    }
}

/// Any error as a text.
pub fn text<T, E: std::fmt::Display>(result: Result<T, E>) -> Result<T, String> {
    result.map_err(|e| e.to_string())
}

/// A lock that was taken with SHORT by a command sent at `sent` was refused to another taker, or was free, just now.
/// Refused too late proves nothing, free too early is a failure.
pub fn not_before(sent: Instant, free: bool) -> Outcome {
    must(!free || sent.elapsed() >= SHORT, "it was free before its ttl was over")
}

/// A key that nobody else has.
pub fn key(check: &str) -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    format!("rust:{}:{}:{check}", std::process::id(), now.as_nanos())
}

/// One library's line.
pub struct Row {
    library: &'static str,
    version: String,
    how: String,
    checks: Vec<(&'static str, Outcome)>,
}

impl Row {
    /// `package` is the library's name in Cargo.lock, which knows the version.
    pub fn new(package: &str, library: &'static str, how: &str) -> Row {
        let entry = format!("name = \"{package}\"\nversion = \"");
        let version = include_str!("../Cargo.lock").split_once(&entry).and_then(|(_, rest)| rest.split('"').next());
        Row { library, version: version.unwrap_or_default().to_string(), how: how.to_string(), checks: Vec::new() }
    }

    pub fn add(&mut self, name: &'static str, outcome: Outcome) {
        self.checks.push((name, outcome));
    }

    pub fn print(&self) {
        let checks: Vec<String> = self
            .checks
            .iter()
            .map(|(name, outcome)| {
                let value = match outcome {
                    Ok(()) => "ok",
                    Err(why) => why,
                };
                format!("{}:{}", quoted(name), quoted(value))
            })
            .collect();
        println!(
            "{{\"language\":\"Rust\",\"library\":{},\"version\":{},\"how\":{},\"checks\":{{{}}},\"note\":\"\"}}",
            quoted(self.library),
            quoted(&self.version),
            quoted(&self.how),
            checks.join(",")
        );
    }
}

fn quoted(s: &str) -> String {
    let mut out = String::from("\"");
    for c in s.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c < ' ' => out.push(' '),
            c => out.push(c),
        }
    }
    out + "\""
}
