import io.lettuce.core.protocol.ProtocolVersion;
import net.javacrumbs.shedlock.provider.redis.spring.RedisLockProvider;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;
import org.springframework.integration.redis.util.RedisLockRegistry.RedisLockType;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.RedisProtocol;

/** The newest of each library. */
final class Main {
  public static void main(String[] args) throws Exception {
    Suite suite = new Suite();
    suite.row("Jedis", "jedis", "EVALSHA, RESP2", () -> jedis(RedisProtocol.RESP2));
    suite.row("Jedis", "jedis", "EVALSHA, RESP3", () -> jedis(RedisProtocol.RESP3));
    suite.row("Lettuce", "lettuce-core", "EVALSHA, RESP2", () -> Clients.lettuce(ProtocolVersion.RESP2));
    suite.row("Lettuce", "lettuce-core", "EVALSHA, RESP3", () -> Clients.lettuce(ProtocolVersion.RESP3));
    suite.row("ShedLock", "shedlock-core", "Spring provider", "releases with a plain DEL", () -> shedLock(false));
    suite.row("ShedLock", "shedlock-core", "Spring provider, safeUpdate", () -> shedLock(true));
    suite.row("Spring Integration", "spring-integration-redis", "RedisLockRegistry, spin lock",
        () -> new RegistryLock(RedisLockType.SPIN_LOCK));
    suite.row("Spring Integration", "spring-integration-redis", "RedisLockRegistry, PUB_SUB_LOCK",
        () -> new RegistryLock(RedisLockType.PUB_SUB_LOCK));
    suite.refused("Redisson", "redisson", "RLock", "hashes", () -> redisson().getLock("java-redisson").tryLock());
    suite.end();
  }

  private static Lock jedis(RedisProtocol protocol) {
    return Clients.jedis(RedisClient.builder()
        .hostAndPort(new HostAndPort(Suite.HOST, Suite.PORT))
        .clientConfig(DefaultJedisClientConfig.builder().protocol(protocol).build())
        .build());
  }

  private static Lock shedLock(boolean safe) {
    return new ShedLock(new RedisLockProvider.Builder(RegistryLock.connections())
        .environment("test").safeUpdate(safe).build(), safe);
  }

  private static RedissonClient redisson() {
    Config config = new Config();
    config.useSingleServer().setAddress("redis://" + Suite.HOST + ":" + Suite.PORT)
        .setConnectionMinimumIdleSize(1).setSubscriptionConnectionMinimumIdleSize(0).setRetryAttempts(0);
    return Redisson.create(config);
  }
}
