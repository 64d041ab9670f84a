//! rslock: tokens of 20 random bytes, one multiplexed connection, an extend by script that sets the key anew. Workers are
//! tasks with a manager each.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rslock::{Lock, LockError, LockManager};
use tokio::time::sleep;

use crate::report::*;

pub fn run(url: &str) {
    let mut row = Row::new("rslock", "rslock", "tokio");
    let runtime = match tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build() {
        Ok(runtime) => runtime,
        Err(e) => return eprintln!("tokio: {e}"),
    };
    runtime.block_on(async {
        row.add("take", take(url).await);
        row.add("contend", contend(url).await);
        row.add("release", release(url).await);
        row.add("release by another", release_by_another(url).await);
        row.add("extend", extend(url).await);
        row.add("expiry", expiry(url).await);
        row.add("counter", counter(url).await);
    });
    row.print();
}

/// A manager that tries once.
fn manager(url: &str) -> LockManager {
    let mut manager = LockManager::new(vec![url]);
    manager.set_retry(1, PAUSE);
    manager
}

/// None: another holds it.
async fn taken(manager: &LockManager, key: &str, ttl: Duration) -> Result<Option<Lock>, String> {
    match manager.lock(key, ttl).await {
        Ok(lock) => Ok(Some(lock)),
        Err(LockError::Unavailable) => Ok(None),
        Err(e) => Err(e.to_string()),
    }
}

async fn hold(manager: &LockManager, key: &str, ttl: Duration) -> Result<Lock, String> {
    taken(manager, key, ttl).await?.ok_or("the lock was refused".to_string())
}

async fn remaining(url: &str, key: &str) -> Result<i64, String> {
    let client = text(redis::Client::open(url))?;
    let mut connection = text(client.get_multiplexed_async_connection().await)?;
    text(redis::cmd("PTTL").arg(key).query_async(&mut connection).await)
}

async fn take(url: &str) -> Outcome {
    let (manager, key) = (manager(url), key("take"));
    let lock = hold(&manager, &key, LONG).await?;
    let value = text(manager.query_redis_for_key_value(key.as_bytes()).await)?;
    must(value.as_ref() == Some(&lock.val), "GET does not answer the token")?;
    must(lock.validity_time > 0 && lock.validity_time < LONG.as_millis() as usize, "no validity")
}

async fn contend(url: &str) -> Outcome {
    let key = key("contend");
    hold(&manager(url), &key, LONG).await?;
    must(taken(&manager(url), &key, LONG).await?.is_none(), "the lock was granted twice")
}

async fn release(url: &str) -> Outcome {
    let (manager, key) = (manager(url), key("release"));
    let lock = hold(&manager, &key, LONG).await?;
    must(!text(manager.is_freed(&lock).await)?, "the library thinks that it does not hold it")?;
    manager.unlock(&lock).await;
    let freed = manager.is_freed(&lock).await;
    must(matches!(freed, Err(LockError::RedisKeyNotFound)), "the lock is there after its release")?;
    hold(&manager, &key, LONG).await.map(|_| ())
}

async fn release_by_another(url: &str) -> Outcome {
    let (manager, key) = (manager(url), key("another"));
    let lock = hold(&manager, &key, LONG).await?;
    let theirs = Lock {
        resource: lock.resource.clone(),
        val: text(manager.get_unique_lock_id())?,
        validity_time: lock.validity_time,
        lock_manager: manager.clone(),
    };
    theirs.release().await;
    must(!text(manager.is_freed(&lock).await)?, "the release by another freed the lock")
}

async fn extend(url: &str) -> Outcome {
    let (manager, key) = (manager(url), key("extend"));
    let lock = hold(&manager, &key, LONG).await?;
    let longer = text(manager.extend(&lock, LONGER).await)?;
    must(longer.validity_time > LONG.as_millis() as usize, "the validity is not longer")?;
    must(remaining(url, &key).await? > LONG.as_millis() as i64, "the lock does not live longer")?;
    manager.unlock(&longer).await;
    must(manager.extend(&lock, LONGER).await.is_err(), "what was released could be extended")
}

async fn expiry(url: &str) -> Outcome {
    let (manager, key) = (manager(url), key("expiry"));
    let sent = Instant::now();
    hold(&manager, &key, SHORT).await?;
    while sent.elapsed() < GONE {
        let free = taken(&manager, &key, LONG).await?.is_some();
        not_before(sent, free)?;
        if free {
            return Ok(());
        }
        sleep(PAUSE).await;
    }
    Err("it did not expire".to_string())
}

/// Read, wait, write: an increment is lost whenever two workers are inside at once.
async fn counter(url: &str) -> Outcome {
    let key = key("counter");
    let count = Arc::new(AtomicU64::new(0));
    let workers: Vec<_> = (0..WORKERS)
        .map(|_| {
            let (manager, key, count) = (manager(url), key.clone(), count.clone());
            tokio::spawn(async move {
                for _ in 0..INCREMENTS {
                    let guard = manager.acquire(key.as_str(), LONG).await?;
                    let seen = count.load(Relaxed);
                    sleep(Duration::from_millis(2)).await;
                    count.store(seen + 1, Relaxed);
                    guard.release().await;
                }
                Ok::<(), LockError>(())
            })
        })
        .collect();
    let all = async {
        for worker in workers {
            text(text(worker.await)?)?;
        }
        Ok::<(), String>(())
    };
    tokio::time::timeout(COUNTED, all).await.unwrap_or(Err("the counter took too long".to_string()))?;
    let counted = count.load(Relaxed);
    must(counted == WORKERS * INCREMENTS, &format!("{counted} of {} increments", WORKERS * INCREMENTS))
}
