import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.integration.redis.util.RedisLockRegistry;
import org.springframework.integration.redis.util.RedisLockRegistry.RedisLockType;

/** RedisLockRegistry of Spring Integration. Its locks belong to threads, and all of one registry have one ttl. */
final class RegistryLock implements Lock {
  private static final String PREFIX = "registry";

  private record Handle(RedisLockRegistry registry, String name) {}

  private final RedisConnectionFactory factory;
  private final RedisLockType type;
  private final Map<Long, RedisLockRegistry> registries = new ConcurrentHashMap<>();

  RegistryLock(RedisLockType type) {
    this.type = type;
    factory = connections();
  }

  static RedisConnectionFactory connections() {
    LettuceConnectionFactory factory = new LettuceConnectionFactory(Suite.HOST, Suite.PORT);
    factory.afterPropertiesSet();
    factory.start();
    return factory;
  }

  private RedisLockRegistry registry(long ttl) {
    return registries.computeIfAbsent(ttl, ms -> {
      RedisLockRegistry registry = new RedisLockRegistry(factory, PREFIX, ms);
      registry.setRedisLockType(type);
      registry.setIdleBetweenTries(Duration.ofMillis(10)); // of 100
      return registry;
    });
  }

  @Override
  public Object take(String name, long ttl) throws InterruptedException {
    RedisLockRegistry registry = registry(ttl);
    return registry.obtain(name).tryLock(0, TimeUnit.SECONDS) ? new Handle(registry, name) : null;
  }

  @Override
  public boolean release(Object handle) {
    Handle h = (Handle) handle;
    h.registry.obtain(h.name).unlock();
    return true;
  }

  @Override
  public boolean extend(Object handle, long ttl) {
    Handle h = (Handle) handle;
    h.registry.renewLock(h.name);
    return true;
  }

  @Override
  public String key(String name) {
    return PREFIX + ":" + name;
  }
}
