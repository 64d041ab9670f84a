import io.lettuce.core.protocol.ProtocolVersion;
import net.javacrumbs.shedlock.provider.redis.jedis4.JedisLockProvider;
import org.springframework.integration.redis.util.RedisLockRegistry.RedisLockType;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.JedisPool;
import redis.clients.jedis.JedisPooled;
import redis.clients.jedis.RedisProtocol;

/** The generation before. */
final class Main {
  public static void main(String[] args) throws Exception {
    Suite suite = new Suite();
    suite.row("Jedis", "jedis", "EVALSHA, RESP2", () -> jedis(null));
    suite.row("Jedis", "jedis", "EVALSHA, RESP3", () -> jedis(RedisProtocol.RESP3));
    suite.row("Jedis", "jedis", "WATCH, GET, MULTI, DEL, EXEC",
        () -> new TransactionLock(new JedisPool(Suite.HOST, Suite.PORT)));
    suite.row("Lettuce", "lettuce-core", "EVALSHA, RESP3", () -> Clients.lettuce(ProtocolVersion.RESP3));
    suite.row("ShedLock", "shedlock-core", "Jedis provider", "releases with a plain DEL",
        () -> new ShedLock(new JedisLockProvider(new JedisPool(Suite.HOST, Suite.PORT), "test"), false));
    suite.row("Spring Integration", "spring-integration-redis", "RedisLockRegistry, spin lock",
        () -> new RegistryLock(RedisLockType.SPIN_LOCK));
    suite.end();
  }

  private static Lock jedis(RedisProtocol protocol) {
    return Clients.jedis(new JedisPooled(new HostAndPort(Suite.HOST, Suite.PORT),
        DefaultJedisClientConfig.builder().protocol(protocol).build()));
  }
}
