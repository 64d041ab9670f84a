//! redis-rs and the scripts that everybody writes with it: EVALSHA, and after NOSCRIPT the script is loaded. Workers
//! are threads with a connection each.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use redis::{Client, Connection, IntoConnectionInfo, ProtocolVersion, Script};

use crate::report::*;

const RELEASE: &str = r#"
if redis.call("get", KEYS[1]) == ARGV[1] then
    return redis.call("del", KEYS[1])
else
    return 0
end"#;

const EXTEND: &str = r#"
if redis.call("get", KEYS[1]) == ARGV[1] then
    return redis.call("pexpire", KEYS[1], ARGV[2])
else
    return 0
end"#;

pub fn run(url: &str, how: &str, protocol: ProtocolVersion) {
    let open = || -> Result<Locks, String> {
        let info = text(url.into_connection_info())?;
        let settings = info.redis_settings().clone().set_protocol(protocol);
        let client = text(Client::open(info.set_redis_settings(settings)))?;
        let connection = text(client.get_connection_with_timeout(Duration::from_secs(10)))?;
        text(connection.set_read_timeout(Some(Duration::from_secs(10))))?;
        Ok(Locks(connection))
    };
    let check = |f: &dyn Fn(&mut Locks) -> Outcome| open().and_then(|mut locks| f(&mut locks));
    let mut row = Row::new("redis", "redis-rs", how);
    row.add("take", check(&take));
    row.add("contend", check(&contend));
    row.add("release", check(&release));
    row.add("release by another", check(&release_by_another));
    row.add("extend", check(&extend));
    row.add("expiry", check(&expiry));
    row.add("counter", counter(&open));
    row.print();
}

struct Locks(Connection);

impl Locks {
    fn take(&mut self, key: &str, token: &str, ttl: Duration) -> Result<bool, String> {
        let reply: Option<String> =
            text(redis::cmd("SET").arg(key).arg(token).arg("NX").arg("PX").arg(ttl.as_millis() as u64).query(&mut self.0))?;
        Ok(reply.as_deref() == Some("OK"))
    }

    fn release(&mut self, key: &str, token: &str) -> Result<i64, String> {
        text(Script::new(RELEASE).key(key).arg(token).invoke(&mut self.0))
    }

    fn extend(&mut self, key: &str, token: &str, ttl: Duration) -> Result<i64, String> {
        text(Script::new(EXTEND).key(key).arg(token).arg(ttl.as_millis() as u64).invoke(&mut self.0))
    }

    fn value(&mut self, key: &str) -> Result<Option<String>, String> {
        text(redis::cmd("GET").arg(key).query(&mut self.0))
    }

    fn remaining(&mut self, key: &str) -> Result<i64, String> {
        text(redis::cmd("PTTL").arg(key).query(&mut self.0))
    }
}

fn take(locks: &mut Locks) -> Outcome {
    let key = key("take");
    must(locks.take(&key, "mine", LONG)?, "the lock was refused")?;
    must(locks.value(&key)?.as_deref() == Some("mine"), "GET does not answer the token")?;
    let remaining = locks.remaining(&key)?;
    must(remaining > 0 && remaining <= LONG.as_millis() as i64, &format!("PTTL answers {remaining}"))
}

fn contend(locks: &mut Locks) -> Outcome {
    let key = key("contend");
    must(locks.take(&key, "mine", LONG)?, "the lock was refused")?;
    must(!locks.take(&key, "theirs", LONG)?, "the lock was granted twice")?;
    must(!locks.take(&key, "mine", LONG)?, "the lock was granted twice to one token")
}

fn release(locks: &mut Locks) -> Outcome {
    let key = key("release");
    must(locks.take(&key, "mine", LONG)?, "the lock was refused")?;
    must(locks.release(&key, "mine")? == 1, "the release did not answer 1")?;
    must(locks.release(&key, "mine")? == 0, "a second release did not answer 0")?;
    must(locks.take(&key, "theirs", LONG)?, "the lock was refused after its release")
}

fn release_by_another(locks: &mut Locks) -> Outcome {
    let key = key("another");
    must(locks.take(&key, "mine", LONG)?, "the lock was refused")?;
    must(locks.release(&key, "theirs")? == 0, "the release by another did not answer 0")?;
    must(!locks.take(&key, "theirs", LONG)?, "the release by another freed the lock")
}

fn extend(locks: &mut Locks) -> Outcome {
    let key = key("extend");
    must(locks.take(&key, "mine", LONG)?, "the lock was refused")?;
    must(locks.extend(&key, "theirs", LONGER)? == 0, "the extend by another did not answer 0")?;
    must(locks.remaining(&key)? <= LONG.as_millis() as i64, "the extend by another did something")?;
    must(locks.extend(&key, "mine", LONGER)? == 1, "the extend did not answer 1")?;
    must(locks.remaining(&key)? > LONG.as_millis() as i64, "the lock does not live longer")
}

fn expiry(locks: &mut Locks) -> Outcome {
    let key = key("expiry");
    let sent = Instant::now();
    must(locks.take(&key, "mine", SHORT)?, "the lock was refused")?;
    while sent.elapsed() < GONE {
        let free = locks.take(&key, "theirs", LONG)?;
        not_before(sent, free)?;
        if free {
            return must(locks.release(&key, "mine")? == 0, "its former holder could release it");
        }
        thread::sleep(PAUSE);
    }
    Err("it did not expire".to_string())
}

/// Read, wait, write: an increment is lost whenever two workers are inside at once.
fn counter(open: &(dyn Fn() -> Result<Locks, String> + Sync)) -> Outcome {
    let key = key("counter");
    let count = AtomicU64::new(0);
    let end = Instant::now() + COUNTED;
    thread::scope(|scope| {
        let workers: Vec<_> = (0..WORKERS)
            .map(|i| {
                let (key, count) = (&key, &count);
                scope.spawn(move || -> Outcome {
                    let mut locks = open()?;
                    let token = format!("worker {i}");
                    for _ in 0..INCREMENTS {
                        while !locks.take(key, &token, LONG)? {
                            must(Instant::now() < end, "the counter took too long")?;
                            thread::sleep(PAUSE);
                        }
                        let seen = count.load(Relaxed);
                        thread::sleep(Duration::from_millis(2));
                        count.store(seen + 1, Relaxed);
                        must(locks.release(key, &token)? == 1, "the release did not answer 1")?;
                    }
                    Ok(())
                })
            })
            .collect();
        workers.into_iter().try_for_each(|w| w.join().unwrap_or(Err("a worker panicked".to_string())))
    })?;
    let counted = count.load(Relaxed);
    must(counted == WORKERS * INCREMENTS, &format!("{counted} of {} increments", WORKERS * INCREMENTS))
}
