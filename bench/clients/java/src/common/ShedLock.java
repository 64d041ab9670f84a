import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;

/** A lock of one of ShedLock's providers. */
final class ShedLock implements Lock {
  private static final class Handle {
    SimpleLock lock; // another one after an extend
  }

  private final LockProvider provider;
  private final boolean safe;

  ShedLock(LockProvider provider, boolean safe) {
    this.provider = provider;
    this.safe = safe;
  }

  @Override
  public Object take(String name, long ttl) {
    Optional<SimpleLock> lock = provider.lock(
        new LockConfiguration(Instant.now(), name, Duration.ofMillis(ttl), Duration.ZERO));
    if (lock.isEmpty()) {
      return null;
    }
    Handle handle = new Handle();
    handle.lock = lock.get();
    return handle;
  }

  @Override
  public boolean release(Object handle) {
    ((Handle) handle).lock.unlock();
    return true;
  }

  @Override
  public boolean extend(Object handle, long ttl) {
    Handle h = (Handle) handle;
    Optional<SimpleLock> extended = h.lock.extend(Duration.ofMillis(ttl), Duration.ZERO);
    extended.ifPresent(lock -> h.lock = lock);
    return extended.isPresent();
  }

  /** Unless it is told to be safe, it releases with a plain DEL. */
  @Override
  public boolean comparesTokens() {
    return safe;
  }

  @Override
  public String key(String name) {
    return "job-lock:test:" + name;
  }
}
