//! Real lock libraries of Rust against the server at $REDLOCKD_HOST:$REDLOCKD_PORT. One line of JSON for each on
//! stdout.

mod asynchronous;
mod classic;
mod report;

use std::env;
use std::process::ExitCode;

fn main() -> ExitCode {
    match (env::var("REDLOCKD_HOST"), env::var("REDLOCKD_PORT")) {
        (Ok(host), Ok(port)) => {
            let url = format!("redis://{host}:{port}/");
            // RESP3 sends HELLO 3, RESP2 none.
            classic::run(&url, "Script", redis::ProtocolVersion::RESP2);
            classic::run(&url, "Script, RESP3", redis::ProtocolVersion::RESP3);
            asynchronous::run(&url);
            ExitCode::SUCCESS
        }
        _ => {
            eprintln!("REDLOCKD_HOST and REDLOCKD_PORT say where the server is");
            ExitCode::FAILURE
        }
    }
}
