import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisNoScriptException;
import io.lettuce.core.RedisURI;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.SetArgs;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.codec.Base16;
import io.lettuce.core.protocol.ProtocolVersion;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.exceptions.JedisNoScriptException;
import redis.clients.jedis.params.SetParams;

/** Jedis and Lettuce as clients of the classic lock. */
final class Clients {
  /** EVALSHA first, EVAL when the server does not know the script. */
  static Lock jedis(UnifiedJedis jedis) {
    return new ClassicLock(new ClassicLock.Client() {
      @Override
      public String set(String key, String token, long ttl) {
        return jedis.set(key, token, SetParams.setParams().nx().px(ttl));
      }

      @Override
      public Object eval(String script, List<String> keys, List<String> args) {
        try {
          return jedis.evalsha(sha1(script), keys, args);
        } catch (JedisNoScriptException e) {
          return jedis.eval(script, keys, args);
        }
      }
    });
  }

  /** EVALSHA first, SCRIPT LOAD when the server does not know the script. */
  static Lock lettuce(ProtocolVersion version) {
    RedisCommands<String, String> redis = connect(version);
    return new ClassicLock(new ClassicLock.Client() {
      @Override
      public String set(String key, String token, long ttl) {
        return redis.set(key, token, SetArgs.Builder.nx().px(ttl));
      }

      @Override
      public Object eval(String script, List<String> keys, List<String> args) {
        String[] k = keys.toArray(new String[0]);
        String[] a = args.toArray(new String[0]);
        try {
          return redis.evalsha(redis.digest(script), ScriptOutputType.INTEGER, k, a);
        } catch (RedisNoScriptException e) {
          return redis.evalsha(redis.scriptLoad(script), ScriptOutputType.INTEGER, k, a);
        }
      }
    });
  }

  private static final List<RedisClient> OPEN = new CopyOnWriteArrayList<>(); // one that is garbage closes its connections

  static RedisCommands<String, String> connect(ProtocolVersion version) {
    RedisClient client = RedisClient.create(RedisURI.create(Suite.HOST, Suite.PORT));
    client.setOptions(ClientOptions.builder().protocolVersion(version).build());
    OPEN.add(client);
    return client.connect().sync();
  }

  private static String sha1(String text) {
    return Base16.digest(text.getBytes());
  }

  private Clients() {}
}
